"""A command that follows a job can be interrupted at any moment."""

import asyncio

import pytest

from quire.cli.follow_job import until_done


async def test_an_interrupt_ends_a_view_that_misses_the_first_cancellation() -> None:
    """As the SDK does when the cancellation meets a call to the server."""
    missed = 0

    async def view() -> None:
        nonlocal missed
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if missed:
                    raise
                missed += 1

    command = asyncio.create_task(until_done(view(), asyncio.sleep(60)))
    await asyncio.sleep(0.05)
    command.cancel()
    done, _ = await asyncio.wait({command}, timeout=5)
    assert done, "the command hangs until its job ends"
    assert missed == 1
    with pytest.raises(asyncio.CancelledError):
        command.result()
