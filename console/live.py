"""Following one document: a live picture, or plain lines in a pipe."""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from rich.console import Console
from rich.live import Live

from console.exits import say
from console.jobs import Handle, view_of
from console.view import one_line, render

T = TypeVar("T")
LOOK_EVERY_S = 0.4
SPEAK_EVERY_S = 5.0


async def follow(handle: Handle, ending: Awaitable[T]) -> T:
    """Show progress on standard error until `ending` is there: live, or as lines in a pipe."""
    console = Console(stderr=True)
    look = _draw(console, handle) if console.is_terminal else _speak(handle)
    return await beside(look, ending)


async def beside(look: Awaitable[None], ending: Awaitable[T]) -> T:
    """Look until the end is there, and no longer. A look that fails is missed by nobody, unless
    it is that nobody reads what it writes: then there is nothing to wait for."""
    end = asyncio.ensure_future(ending)
    looking = asyncio.ensure_future(look)
    try:
        await asyncio.wait((end, looking), return_when=asyncio.FIRST_COMPLETED)
        if looking.done() and isinstance(looking.exception(), BrokenPipeError):
            raise BrokenPipeError
        return await end
    finally:
        # Neither touches the job itself.
        looking.cancel()
        end.cancel()
        await asyncio.gather(looking, end, return_exceptions=True)


async def _draw(console: Console, handle: Handle) -> None:
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        while True:
            view = await view_of(handle)
            if view is not None:
                live.update(render(view, console.width))
            await asyncio.sleep(LOOK_EVERY_S)


async def _speak(handle: Handle) -> None:
    """In a pipe: a line when a step began or a breaker moved, else not too often."""
    last, news, spoken = "", "", 0.0
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        view = await view_of(handle)
        if view is None:
            continue
        line, moved = one_line(view), view.status.progress_detail.phase
        moved += "".join(b.key for b in view.breakers if b.state == "open")
        if line != last and (moved != news or time.monotonic() - spoken >= SPEAK_EVERY_S):
            say(line)
            last, news, spoken = line, moved, time.monotonic()
