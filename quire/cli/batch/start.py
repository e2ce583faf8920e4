"""`batch start`: read many documents as one durable job."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from quire.cli.arguments import check_out, seconds_of
from quire.cli.batch.options import BatchOut, FollowLinks, MaxCost, Sources
from quire.cli.connection import connected, roles_to_leave
from quire.cli.options import AsJson, Engine, Owner, Prompt, TextOnly
from quire.cli.output import Answer, Exit, say
from quire.cli.program import tool_name
from quire.cli.run_command import command_settings, run
from quire.contracts.batch import BatchOptions, BatchRequest
from quire.contracts.names import ROLES, batch_workflow_id
from quire.domain.counts import counted
from quire.domain.errors import UsageError
from quire.jobs.job_id import check_batch_id, new_job_id
from quire.jobs.service import hasten_service
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.jobs.session import Jobs

TELL_EVERY_S = 5.0


@dataclass(frozen=True)
class BatchOutput:
    """How a batch is shown at its end."""

    answer: Answer
    as_json: bool = False
    out: Path | None = None
    strict: bool = False


def start(
    context: typer.Context,
    source: Sources,
    name: Annotated[str, typer.Option(help="A name for lists.")] = "",
    window: Annotated[
        int, typer.Option(min=1, max=200, help="So many documents at once, at most.")
    ] = 10,
    out: BatchOut = None,
    mode: Annotated[
        str, typer.Option(help="hold, adaptive or fail_fast: how pages wait for models.")
    ] = "hold",
    deadline: Annotated[
        str | None, typer.Option(help="Time for each document, from its start: 2h, 30m.")
    ] = None,
    max_cost: MaxCost = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start the batch and return.")] = False,
    engine: Engine = None,
    tier: Annotated[str, typer.Option(help="primary, secondary or fast models.")] = "primary",
    prompt: Prompt = "",
    text_only: TextOnly = False,
    follow_links: FollowLinks = False,
    user: Owner = "",
    batch_id: Annotated[str | None, typer.Option(help="The id of the batch; a new one.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Ignore cached results.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 when any page is degraded.")
    ] = False,
    as_json: AsJson = False,
) -> Exit:
    """Read many documents as one job, which goes on after every interruption.

    Exit codes: 0 when every document has its text, 3 when any has not.
    """
    settings = command_settings()
    check_out(out)
    own_id = batch_id or f"batch-{new_job_id()}"
    check_batch_id(own_id, "--batch-id")
    request = _request(
        batch_id=own_id,
        documents=1,
        name=name,
        user_id=user,
        window=window,
        max_cost_usd=max_cost,
        options={
            "engine": engine,
            "tier": tier,
            "instructions": prompt,
            "text_only": text_only,
            "deadline_s": seconds_of(deadline),
            "mode": mode,
            "force": force,
        },
    )
    output = BatchOutput(context.obj, as_json=as_json, out=out, strict=strict)
    hasten_service(settings)
    return run(_start(settings, request, source, output, detach=detach, links=follow_links))


def _request(**fields: object) -> BatchRequest:
    try:
        options = BatchOptions.model_validate(fields.pop("options"))
        return BatchRequest.model_validate({**fields, "options": options})
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"--{first['loc'][-1]}: {first['msg']}.") from None


async def _start(
    settings: Settings,
    request: BatchRequest,
    sources: list[str],
    output: BatchOutput,
    *,
    detach: bool,
    links: bool,
) -> Exit:
    from quire.cli.batch.follow import follow_batch
    from quire.cli.batch.show import show_batch
    from quire.jobs.batch.prepare import find_sources, prepare_sources
    from quire.jobs.batch.submit import check_engines, submit_batch

    found, notes = await find_sources(settings, sources, follow_links=links)
    check_engines(settings, [request.options.engine, *(one.engine for one in found)])
    for note in notes:
        say(note)
    say(f"{counted(len(found), 'document')} found; they go into the store")
    prepared = await prepare_sources(settings, request.batch_id, found, _said_every_so_often())
    request = request.model_copy(update={"documents": len(prepared.items)})
    roles = roles_to_leave(settings) if detach else ROLES
    async with connected(settings, output.answer, roles) as jobs:
        handle = await submit_batch(jobs, request, prepared.items)
        output.answer.batch_id = request.batch_id
        where = f"; Web UI: {jobs.ui_url}" if jobs.ui_url and not detach else ""
        say(f"batch {request.batch_id} (workflow {batch_workflow_id(request.batch_id)}){where}")
        if detach:
            return _detached(jobs, request, output)
        result = await follow_batch(handle)
        return await show_batch(jobs, result.batch_id, output)


def _detached(jobs: "Jobs", request: BatchRequest, output: BatchOutput) -> Exit:
    tool = tool_name()
    alone = jobs.embedded and not jobs.service
    goes_on = "; it goes on while any command of this state folder runs" if alone else ""
    say(f"follow it with: {tool} batch watch {request.batch_id}{goes_on}")
    if output.as_json:
        ids = {"batch_id": request.batch_id, "workflow_id": batch_workflow_id(request.batch_id)}
        output.answer.print_json({**ids, "status": "pending", "documents": request.documents})
    else:
        print(request.batch_id)  # noqa: T201
    return Exit.DONE


def _said_every_so_often() -> Callable[[int, int], None]:
    """Files take a moment each, and there are thousands."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= TELL_EVERY_S:
            last = time.monotonic()
            say(f"{done:,} of {total:,} are in the store")

    return tell
