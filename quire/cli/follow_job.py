"""Following one document: a live picture, or plain lines in a pipe."""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from quire.cli.no_answer import NOBODY, Silence
from quire.cli.output import say
from quire.cli.progress_view import one_line, render
from quire.contracts.results import DocumentResult
from quire.jobs.handles import Handle
from quire.jobs.result import wait_for_result
from quire.jobs.status import JobView, job_view

T = TypeVar("T")
LOOK_EVERY_S = 0.4
SPEAK_EVERY_S = 5.0


async def follow(handle: Handle) -> DocumentResult:
    """The job's result; until then its progress on standard error: live, or lines in a pipe."""
    console, ending = Console(stderr=True), wait_for_result(handle)
    if not console.is_terminal:
        return await until_done(_speak(handle), ending)
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        try:
            return await until_done(_draw(live, handle), ending)
        except asyncio.CancelledError:
            # No report follows an interrupt: the last picture is what there is to see.
            live.transient = False
            raise


async def until_done(meanwhile: Awaitable[None], ending: Awaitable[T]) -> T:
    """What `ending` gives; `meanwhile` runs beside it and no longer. If that fails, nothing is
    lost, unless a closed pipe says that nobody reads: then there is nothing to wait for."""
    end = asyncio.ensure_future(ending)
    showing = asyncio.ensure_future(meanwhile)
    try:
        await asyncio.wait((end, showing), return_when=asyncio.FIRST_COMPLETED)
        if showing.done() and isinstance(showing.exception(), BrokenPipeError):
            raise BrokenPipeError
        # Not `await end`: an interrupt would reach it, and the SDK makes errors of its own of that.
        await asyncio.wait((end,))
        return end.result()
    finally:
        # Neither touches the job itself.
        showing.cancel()
        end.cancel()
        await asyncio.gather(showing, end, return_exceptions=True)


async def _draw(live: Live, handle: Handle) -> None:
    silence, last = Silence(), None
    while True:
        view = await job_view(handle)
        if view is not None:
            silence.answered()
        last = view or last
        live.update(picture(last, silence, live.console.width))
        await asyncio.sleep(LOOK_EVERY_S)


def picture(last: JobView | None, silence: Silence, width: int) -> Group:
    """What was seen last, and how old it is when nobody answers any longer."""
    parts = [] if last is None else [render(last, width)]
    if silence.is_long:
        age = "" if last is None else f"as of {silence.seconds:.0f} s ago: "
        parts.append(Text(age + NOBODY, style="yellow"))
    return Group(*parts)


async def _speak(handle: Handle) -> None:
    """In a pipe: a line when a step began or a breaker moved, else not too often."""
    silence = Silence()
    last, news, spoken = "", "", 0.0
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        view = await job_view(handle)
        if view is None:
            silence.report()
            continue
        silence.answered()
        line, moved = one_line(view), view.status.progress_detail.phase
        moved += "".join(b.key for b in view.breakers if b.state == "open")
        if line != last and (moved != news or time.monotonic() - spoken >= SPEAK_EVERY_S):
            say(line)
            last, news, spoken = line, moved, time.monotonic()
