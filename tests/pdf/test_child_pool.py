"""Which call gets the next child: urgent ones first, and a survey in its turn."""

import asyncio

import pytest

from quire.pdf import child_pool
from quire.pdf.child_pool import ChildPool


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls in the order in which a child ran them; each takes no time."""
    order: list[str] = []

    async def run(child: object, name: str, args: tuple[object, ...], timeout_s: float) -> None:
        order.append(name)
        await asyncio.sleep(0)

    monkeypatch.setattr(child_pool._Child, "run", run)
    return order


async def call_all(*callers: tuple[str, bool]) -> None:
    pool = ChildPool(1, 0)
    await asyncio.gather(
        *(pool.run(name, timeout_s=1, patient=patient) for name, patient in callers)
    )


async def test_drawings_go_before_a_survey(served: list[str]) -> None:
    await call_all(("first", False), ("survey", True), ("draw", False), ("draw", False))
    assert served == ["first", "draw", "draw", "survey"]


async def test_survey_has_its_turn_however_many_pages_are_to_be_drawn(served: list[str]) -> None:
    surveys, drawn = [("survey", True)] * 3, [("draw", False)] * 13
    await call_all(("first", False), *surveys, *drawn)
    assert served == ["first", *(["draw"] * 4 + ["survey"]) * 3, "draw"]


async def test_turns_are_only_counted_while_someone_waits(served: list[str]) -> None:
    """Pages that were drawn while no survey waited do not count for the next survey."""
    pool = ChildPool(1, 0)
    draws = [asyncio.create_task(pool.run("draw", timeout_s=1)) for _ in range(9)]
    await draws[5]
    await asyncio.gather(*draws, pool.run("survey", timeout_s=1, patient=True))
    assert served == ["draw"] * 9 + ["survey"]


async def test_a_cancelled_call_uses_no_turn(served: list[str]) -> None:
    pool = ChildPool(1, 0)
    first = asyncio.create_task(pool.run("first", timeout_s=1))
    left = asyncio.create_task(pool.run("left", timeout_s=1, patient=True))
    stays = asyncio.create_task(pool.run("stays", timeout_s=1, patient=True))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.gather(first, stays)
    assert served == ["first", "stays"]
