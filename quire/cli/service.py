"""`service`: the background service of this machine; `ui`: Temporal's Web UI at one address."""

import asyncio
import time
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.connection import connected
from quire.cli.options import AsJson
from quire.cli.output import Exit, say
from quire.cli.run_command import command_settings, run
from quire.domain.counts import counted
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.jobs.service import ServiceStatus

app = typer.Typer(no_args_is_help=True)
Now = Annotated[
    bool, typer.Option("--now", help="Do not wait for calls in flight; they are made again.")
]


@app.callback()
def service() -> None:
    """The background service, which has the server and the workers of this machine."""


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> Exit:
    """Whether it runs, since when, where, with which settings, and what it does."""

    async def work(settings: Settings) -> Exit:
        from quire.jobs.service import service_status

        found = await service_status(settings)
        if as_json:
            services = [asdict(one) for one in found]
            context.obj.print_json({"running": bool(found), "services": services})
        elif not found:
            print("No service runs; the next command that needs one starts it.")  # noqa: T201
        else:
            print("\n\n".join("\n".join(_lines(one)) for one in found))  # noqa: T201
        return Exit.DONE

    return run(work(command_settings()))


@app.command()
def stop(context: typer.Context, now: Now = False, as_json: AsJson = False) -> Exit:
    """End it; documents that run are kept, and go on with the next command."""

    async def work(settings: Settings) -> Exit:
        from quire.jobs.service import stop_services

        outcome = await stop_services(settings, now=now)
        if as_json:
            context.obj.print_json(asdict(outcome))
        elif not outcome.stopped:
            say("No service runs.")
        else:
            kept = counted(len(outcome.kept), "open job")
            say(f"Stopped; {kept}" + (" kept for the next command." if outcome.kept else "."))
        return Exit.DONE

    return run(work(command_settings()))


def ui(context: typer.Context) -> Exit:
    """Keep Temporal's Web UI at one address (UI_PORT_NUMBER), until Ctrl-C."""

    async def work(settings: Settings) -> Exit:
        from quire.jobs.service import serve_ui

        async with (
            connected(settings, context.obj, own_settings=False) as jobs,
            serve_ui(jobs) as url,
        ):
            say(f"Temporal's Web UI: {url} (until Ctrl-C)")
            # An interrupt is how it ends.
            with suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        return Exit.DONE

    return run(work(command_settings()))


def _lines(one: "ServiceStatus") -> list[str]:
    if not one.address:
        return [f"service: {one.state}", f"log: {one.log}"]
    since = datetime.fromtimestamp(one.since, UTC).astimezone()
    minutes = (time.time() - one.since) / 60
    memory = f"{one.memory_bytes / 1e6:,.0f} MB, processes: {one.processes}"
    lines = [
        f"service: pid {one.pid}, {one.state} since {since:%Y-%m-%d %H:%M:%S} ({minutes:.0f} min)",
        f"server: {one.address}, Web UI: {one.ui_url}",
        f"memory: {memory}",
        f"log: {one.log}",
        _open_words(one.open),
        *(f"setting: {name}={text}" for name, text in one.settings.items()),
    ]
    if one.differs:
        lines.append(f"this command's settings differ: {', '.join(one.differs)}")
    return lines


def _open_words(ids: list[str] | None) -> str:
    if ids is None:
        return "open jobs: the server does not say"
    return f"open jobs: {len(ids)}" + (
        f" ({', '.join(ids[:10])}{', …' * (len(ids) > 10)})" if ids else ""
    )
