"""Shows the progress of one job until it ends: a live picture, or plain lines in a pipe."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from quire.cli.answer_age import AnswerAge, no_worker
from quire.cli.output import say
from quire.cli.progress_view import one_line, render
from quire.contracts.results import DocumentResult
from quire.jobs.handles import Handle
from quire.jobs.result import wait_for_result
from quire.jobs.status import JobView, job_view

T = TypeVar("T")
CANCEL_EVERY_S = 0.2
QUERY_EVERY_S = 0.4
PRINT_EVERY_S = 5.0


async def follow_job(handle: Handle) -> DocumentResult:
    """The job's result; until it is there, show progress on standard error."""
    console, ending = Console(stderr=True), wait_for_result(handle)
    if not console.is_terminal:
        return await until_done(_print_lines(handle), ending)
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        try:
            return await until_done(_draw(live, handle), ending)
        except asyncio.CancelledError:
            # No report follows an interrupt, so the last picture stays.
            live.transient = False
            raise


async def until_done(meanwhile: Awaitable[None], ending: Awaitable[T]) -> T:
    """The value of `ending`; `meanwhile` runs until then.

    A failure of `meanwhile` is ignored, except for a closed pipe: then no one reads the output, and
    there is nothing to wait for.
    """
    end = asyncio.ensure_future(ending)
    showing = asyncio.ensure_future(meanwhile)
    try:
        await asyncio.wait((end, showing), return_when=asyncio.FIRST_COMPLETED)
        if showing.done() and isinstance(showing.exception(), BrokenPipeError):
            raise BrokenPipeError
        # Not `await end`: an interrupt would reach the SDK, which raises errors of its own for it.
        await asyncio.wait((end,))
        return end.result()
    finally:
        # The job itself is not affected.
        await _stop(showing, end)


async def _stop(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks until they end. Once is not always enough: the SDK turns a cancellation that
    meets a call to the server into an error of its own, which a live view takes for silence."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=CANCEL_EVERY_S)
    await asyncio.gather(*tasks, return_exceptions=True)


async def _draw(live: Live, handle: Handle) -> None:
    age, last = AnswerAge(), None
    while True:
        view = await job_view(handle)
        if view is not None:
            age.answered()
        last = view or last
        live.update(picture(last, age, live.console.width))
        await asyncio.sleep(QUERY_EVERY_S)


def picture(last: JobView | None, age: AnswerAge, width: int) -> Group:
    """The last view of the job, and its age when no worker answers any longer."""
    parts = [] if last is None else [render(last, width)]
    if age.is_long:
        since = "" if last is None else f"as of {age.seconds:.0f} s ago: "
        parts.append(Text(since + no_worker(), style="yellow"))
    return Group(*parts)


async def _print_lines(handle: Handle) -> None:
    """Print a line when a phase starts or a breaker opens, and otherwise at intervals."""
    age = AnswerAge()
    last, news, printed_at = "", "", 0.0
    while True:
        await asyncio.sleep(QUERY_EVERY_S)
        view = await job_view(handle)
        if view is None:
            age.report()
            continue
        age.answered()
        line, moved = one_line(view), view.status.progress_detail.phase
        moved += "".join(b.key for b in view.breakers if b.state == "open")
        if line != last and (moved != news or time.monotonic() - printed_at >= PRINT_EVERY_S):
            say(line)
            last, news, printed_at = line, moved, time.monotonic()
