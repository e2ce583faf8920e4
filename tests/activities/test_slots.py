"""Slots: never more calls than a route's limit, and no slot is ever lost."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.support.failures import CROWDED_OUT, HANDED_BACK
from activities.support.slots import Slots

ROUTE = "vendor:model"
Body = Callable[[], Awaitable[None]]


async def in_activity(body: Body, environment: ActivityEnvironment | None = None) -> None:
    await (environment or ActivityEnvironment()).run(body)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_never_more_at_once_than_the_limit_and_first_come_first_served() -> None:
    slots = Slots({ROUTE: 2})
    under_way, most, order = 0, 0, list[int]()

    async def call(number: int) -> None:
        nonlocal under_way, most
        await slots.take(ROUTE, None)
        order.append(number)
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        slots.give_back(ROUTE)

    async def body() -> None:
        await asyncio.gather(*(call(number) for number in range(20)))

    await in_activity(body)
    assert most == 2
    assert order == list(range(20))


async def test_impatient_attempt_makes_way_and_takes_no_slot_with_it() -> None:
    slots = Slots({ROUTE: 1})

    async def body() -> None:
        await slots.take(ROUTE, None)
        with pytest.raises(ApplicationError) as left:
            await slots.take(ROUTE, 0.01)
        assert left.value.type == CROWDED_OUT
        assert left.value.non_retryable, "the scheduler has another route for it"
        slots.give_back(ROUTE)
        await asyncio.wait_for(slots.take(ROUTE, 0.01), 1)

    await in_activity(body)


async def test_who_waits_when_the_worker_stops_is_handed_back() -> None:
    slots = Slots({ROUTE: 1})
    environment = ActivityEnvironment()

    async def body() -> None:
        await slots.take(ROUTE, None)
        waiting = asyncio.create_task(slots.take(ROUTE, None))
        await settle()
        environment.worker_shutdown()
        with pytest.raises(ApplicationError) as left:
            await asyncio.wait_for(waiting, 1)
        assert left.value.type == HANDED_BACK
        assert not left.value.non_retryable, "another worker takes it up"
        slots.give_back(ROUTE)
        await asyncio.wait_for(slots.take(ROUTE, None), 1)

    await in_activity(body, environment)


@pytest.mark.parametrize("given_back_first", [True, False])
async def test_cancelled_while_it_waits_or_in_the_moment_of_its_turn(
    given_back_first: bool,
) -> None:
    slots = Slots({ROUTE: 1})

    async def body() -> None:
        await slots.take(ROUTE, None)
        waiting = asyncio.create_task(slots.take(ROUTE, None))
        await settle()
        if given_back_first:
            slots.give_back(ROUTE)
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        if not given_back_first:
            slots.give_back(ROUTE)
        await asyncio.wait_for(slots.take(ROUTE, 0.5), 1)
        with pytest.raises(ApplicationError):
            await slots.take(ROUTE, 0.01)

    await in_activity(body)
