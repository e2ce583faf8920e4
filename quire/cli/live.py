"""Following one document: a live picture, or plain lines in a pipe."""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from quire.cli.exits import say
from quire.cli.jobs import Handle, View, view_of
from quire.cli.silence import NOBODY, Silence
from quire.cli.view import one_line, render

T = TypeVar("T")
LOOK_EVERY_S = 0.4
SPEAK_EVERY_S = 5.0


async def follow(handle: Handle, ending: Awaitable[T]) -> T:
    """Show progress on standard error until `ending` is there: live, or as lines in a pipe."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return await beside(_speak(handle), ending)
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        try:
            return await beside(_draw(live, handle), ending)
        except asyncio.CancelledError:
            # No report follows an interrupt: the last picture is what there is to see.
            live.transient = False
            raise


async def beside(look: Awaitable[None], ending: Awaitable[T]) -> T:
    """Look until the end is there, and no longer. A look that fails is missed by nobody, unless
    it is that nobody reads what it writes: then there is nothing to wait for."""
    end = asyncio.ensure_future(ending)
    looking = asyncio.ensure_future(look)
    try:
        await asyncio.wait((end, looking), return_when=asyncio.FIRST_COMPLETED)
        if looking.done() and isinstance(looking.exception(), BrokenPipeError):
            raise BrokenPipeError
        # Not `await end`: an interrupt would reach it, and the SDK makes errors of its own of that.
        await asyncio.wait((end,))
        return end.result()
    finally:
        # Neither touches the job itself.
        looking.cancel()
        end.cancel()
        await asyncio.gather(looking, end, return_exceptions=True)


async def _draw(live: Live, handle: Handle) -> None:
    silence, last = Silence(), None
    while True:
        view = await view_of(handle)
        if view is not None:
            silence.heard()
        last = view or last
        live.update(picture(last, silence, live.console.width))
        await asyncio.sleep(LOOK_EVERY_S)


def picture(last: View | None, silence: Silence, width: int) -> Group:
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
        view = await view_of(handle)
        if view is None:
            silence.tell()
            continue
        silence.heard()
        line, moved = one_line(view), view.status.progress_detail.phase
        moved += "".join(b.key for b in view.breakers if b.state == "open")
        if line != last and (moved != news or time.monotonic() - spoken >= SPEAK_EVERY_S):
            say(line)
            last, news, spoken = line, moved, time.monotonic()
