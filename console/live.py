"""The live view of one document: a bar, pages by source, routes and breakers, time left."""

import asyncio
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import TypeVar

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from console.exits import say
from console.jobs import Handle, View, view_of
from domain.contracts import BreakerStatus

T = TypeVar("T")
LOOK_EVERY_S = 0.4
SPEAK_EVERY_S = 5.0
STYLES = {
    "mupdf": "blue",
    "ai": "green",
    "ocr": "cyan",
    "mupdf_fallback": "yellow",
    "mupdf_timeout_fallback": "red",
}


async def follow(handle: Handle, ending: Awaitable[T]) -> T:
    """Show progress on standard error until `ending` is there: live, or as lines in a pipe."""
    console = Console(stderr=True)
    end = asyncio.ensure_future(ending)
    look = _draw(console, handle) if console.is_terminal else _speak(handle)
    looking = asyncio.create_task(look)
    try:
        return await end
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


async def _draw(console: Console, handle: Handle) -> None:
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        while True:
            view = await view_of(handle)
            if view is not None:
                live.update(render(view))
            await asyncio.sleep(LOOK_EVERY_S)


async def _speak(handle: Handle) -> None:
    """In a pipe: a line when something changed, and not too often."""
    last, spoken = "", 0.0
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        view = await view_of(handle)
        line = one_line(view) if view else last
        if line != last and time.monotonic() - spoken >= SPEAK_EVERY_S:
            say(line)
            last, spoken = line, time.monotonic()


def one_line(view: View) -> str:
    """Progress in one plain line."""
    status = view.status
    done = status.completed_items + status.failed_items
    sources = ", ".join(
        f"{count} {name}" for name, count in status.progress_detail.pages_by_source.items()
    )
    resting = ", ".join(f"{b.key} {b.state}" for b in view.breakers if b.state != "closed")
    parts = [f"{status.progress_detail.phase}: {done}/{status.total_items} pages", sources, resting]
    return "; ".join(part for part in parts if part)


def render(view: View) -> RenderableType:
    """The live picture."""
    status = view.status
    done = status.completed_items + status.failed_items
    head = Table.grid(padding=(0, 1))
    head.add_row(
        Text(status.progress_detail.phase, style="bold"),
        ProgressBar(total=max(1, status.total_items), completed=done, width=30),
        Text(f"{done}/{status.total_items} pages"),
        Text(_clock(view), style="dim"),
    )
    sources = Text("  ").join(
        Text(f"{name} {count}", style=STYLES.get(name, ""))
        for name, count in status.progress_detail.pages_by_source.items()
    )
    lines: list[RenderableType] = [head]
    if sources:
        lines.append(sources)
    lines += [_route(b) for b in view.breakers if b.state != "closed" or b.in_flight]
    return Group(*lines)


def _route(breaker: BreakerStatus) -> Text:
    style = {"closed": "green", "open": "red", "half_open": "yellow"}[breaker.state]
    line = Text.assemble(("● ", style), breaker.key, (f"  {breaker.in_flight} in flight", "dim"))
    if breaker.retry_at:
        wait = (datetime.fromisoformat(breaker.retry_at) - datetime.now(UTC)).total_seconds()
        line.append(f"  rests, next try in {max(0, round(wait))} s", style="red")
    return line


def _clock(view: View) -> str:
    status = view.status
    if not status.started_at or not status.deadline_at:
        return ""
    started = datetime.fromisoformat(status.started_at)
    gone = (datetime.now(UTC) - started).total_seconds()
    allowed = (datetime.fromisoformat(status.deadline_at) - started).total_seconds()
    return f"{gone:.0f} s of {allowed:.0f} s"
