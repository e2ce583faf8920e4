"""Shows the progress of one job until it ends: a live picture, or plain lines in a pipe."""

import asyncio
import time
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from quire.cli.job_watch import JobWatch
from quire.cli.output import say
from quire.cli.progress_view import one_line, render
from quire.contracts.names import job_id_of
from quire.contracts.results import DocumentResult
from quire.domain.errors import SealedError
from quire.jobs.handles import Handle
from quire.jobs.result import wait_for_result
from quire.jobs.session import Jobs
from quire.jobs.status import JobView, job_view

T = TypeVar("T")
CANCEL_EVERY_S = 0.2
QUERY_EVERY_S = 0.4
PRINT_EVERY_S = 5.0


async def follow_job(jobs: Jobs, handle: Handle) -> DocumentResult:
    """The job's result; until it is there, show progress on standard error."""
    console, ending = Console(stderr=True), wait_for_result(handle)
    watch = JobWatch(jobs, job_id_of(handle.id))
    if not console.is_terminal:
        lines = together(_print_lines(watch, handle), watch.run(aloud=True))
        return await until_done(lines, ending)
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        try:
            return await until_done(together(_draw(live, watch, handle), watch.run()), ending)
        except asyncio.CancelledError:
            # No report follows an interrupt, so the last picture stays.
            live.transient = False
            raise


async def together(*views: Coroutine[Any, Any, None]) -> None:
    """Run views beside each other until one fails, or all are cancelled."""
    tasks = [asyncio.ensure_future(view) for view in views]
    try:
        await asyncio.gather(*tasks)
    finally:
        await _stop(*tasks)


async def until_done(meanwhile: Awaitable[None], ending: Awaitable[T]) -> T:
    """The value of `ending`; `meanwhile` runs until then.

    A failure of `meanwhile` is ignored, with two exceptions. Once the pipe is closed, no one reads
    the output. Where the job is encrypted with another key, its result cannot be read either.
    """
    end = asyncio.ensure_future(ending)
    showing = asyncio.ensure_future(meanwhile)
    try:
        await asyncio.wait((end, showing), return_when=asyncio.FIRST_COMPLETED)
        failure = showing.exception() if showing.done() else None
        if isinstance(failure, (BrokenPipeError, SealedError)):
            raise failure
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


async def _draw(live: Live, watch: JobWatch, handle: Handle) -> None:
    last = None
    while True:
        view = await job_view(handle)
        if view is not None:
            watch.answered(view.status)
        last = view or last
        live.update(picture(last, watch, live.console.width))
        await asyncio.sleep(QUERY_EVERY_S)


def picture(last: JobView | None, watch: JobWatch, width: int) -> Group:
    """The last view of the job, its age when that is not new, and what is missing."""
    parts = [] if last is None else [render(last, width)]
    if watch.lines and last is not None and watch.is_old:
        parts.append(Text(f"as of {watch.seconds:.0f} s ago", style="yellow"))
    parts += [Text(line, style="yellow") for line in watch.lines]
    return Group(*parts)


async def _print_lines(watch: JobWatch, handle: Handle) -> None:
    """Print a line when a phase starts or a breaker opens, and otherwise at intervals; and what
    reading takes as soon as that is known."""
    last, news, printed_at, estimate = "", "", 0.0, ""
    while True:
        await asyncio.sleep(QUERY_EVERY_S)
        view = await job_view(handle)
        if view is None:
            continue
        watch.answered(view.status)
        if view.status.estimate and not estimate:
            estimate = view.status.estimate
            say(estimate)
        line = "; ".join([one_line(view), *view.status.waiting_for])
        moved = view.status.progress_detail.phase
        moved += "".join(b.key for b in view.breakers if b.state == "open")
        if line != last and (moved != news or time.monotonic() - printed_at >= PRINT_EVERY_S):
            say(line)
            last, news, printed_at = line, moved, time.monotonic()
