"""Shows the progress of a batch until it ends: a live picture, or plain lines in a pipe."""

import asyncio
import time

from rich.console import Console
from rich.live import Live

from quire.cli.batch.view import one_line, render
from quire.cli.follow_job import PRINT_EVERY_S, until_done
from quire.cli.output import say
from quire.contracts.batch import BatchResult
from quire.jobs.batch.handles import Handle
from quire.jobs.batch.status import peek_status, wait_for_batch

QUERY_EVERY_S = 0.5


async def follow_batch(handle: Handle) -> BatchResult:
    """The batch's result; until it is there, show progress on standard error."""
    console, ending = Console(stderr=True), wait_for_batch(handle)
    if not console.is_terminal:
        return await until_done(_print_lines(handle), ending)
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        try:
            return await until_done(_draw(live, handle), ending)
        except asyncio.CancelledError:
            # No report follows an interrupt, so the last picture stays.
            live.transient = False
            raise


async def _draw(live: Live, handle: Handle) -> None:
    while True:
        if (status := await peek_status(handle)) is not None:
            live.update(render(status, live.console.width))
        await asyncio.sleep(QUERY_EVERY_S)


async def _print_lines(handle: Handle) -> None:
    """A line when the phase changes, and otherwise at intervals, if it is new."""
    last, phase, printed_at = "", "", 0.0
    while True:
        await asyncio.sleep(QUERY_EVERY_S)
        status = await peek_status(handle)
        if status is None:
            continue
        line = one_line(status)
        now_in = f"{status.progress_detail.phase} {status.progress_detail.paused}"
        if line != last and (now_in != phase or time.monotonic() - printed_at >= PRINT_EVERY_S):
            say(line)
            last, phase, printed_at = line, now_in, time.monotonic()
