"""Calls that block: bounded pools, total time limits, and an end that nothing delays."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from quire.telemetry.health import SLOW_S, LoopDelay, why_slow
from quire.threads import SIZES, Dependency, ThreadPool, TimeLimit, TooSlow, threads_of
from testing.tool import ROOT
from testing.wait import wait_until


async def test_a_full_pool_stops_no_other() -> None:
    full, other, release = ThreadPool("full", 2), ThreadPool("other", 2), threading.Event()
    stuck = [asyncio.create_task(full.run(release.wait, 30)) for _ in range(5)]
    await asyncio.sleep(0)
    assert await other.run(lambda: "done") == "done"
    assert full.busy == 2, "never more than its size"
    assert other.delay_s() == 0
    assert full.delay_s() > 0, "three calls are waiting"
    release.set()
    assert await asyncio.gather(*stuck) == [True] * 5
    assert full.delay_s() == 0
    wait_until(lambda: full.busy == 0)


async def test_a_call_ends_by_its_limit_and_closes_what_it_reads() -> None:
    pool, closed, limit = ThreadPool("slow", 1), threading.Event(), TimeLimit(0.2)

    def read() -> None:
        with limit.closing(closed.set):
            closed.wait(60)
            raise ConnectionError("a consequence")

    with pytest.raises(TooSlow, match="longer than 0 seconds"):
        await pool.run(read, limit=limit)
    wait_until(lambda: pool.busy == 0, timeout=10)


async def test_a_cancelled_call_gives_its_thread_back() -> None:
    pool, closed, limit = ThreadPool("slow", 1), threading.Event(), TimeLimit(600)
    ended: list[BaseException] = []

    def read() -> None:
        try:
            with limit.closing(closed.set):
                closed.wait(60)
                limit.check()
        except TooSlow as error:
            ended.append(error)

    reading = asyncio.create_task(pool.run(read, limit=limit))
    queued = asyncio.create_task(pool.run(ended.append, ValueError("never begun")))
    await asyncio.to_thread(wait_until, lambda: pool.busy)
    for task in (queued, reading):
        task.cancel()
    ends = await asyncio.gather(reading, queued, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 2
    wait_until(lambda: pool.busy == 0, timeout=10)
    assert [type(error) for error in ended] == [TooSlow]
    assert await pool.run(lambda: "next") == "next"


async def test_time_grows_with_bytes_even_while_it_is_waited_for() -> None:
    pool, limit = ThreadPool("slow", 1), TimeLimit(0.3)

    def read() -> str:
        limit.allow_bytes(10 * 1024**2)
        time.sleep(0.6)
        limit.check()
        return "whole"

    assert await pool.run(read, limit=limit) == "whole"


async def test_errors_and_idle_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.threads.IDLE_S", 0.05)
    pool = ThreadPool("brief", 4)
    with pytest.raises(ZeroDivisionError):
        await pool.run(lambda: 1 // 0)
    for _ in range(50):
        assert await pool.run(lambda: "again") == "again"
        await asyncio.sleep(0.004)
    wait_until(lambda: not [t for t in threading.enumerate() if t.name == "quire-brief"])
    assert await pool.run(lambda: "once more") == "once more"


def test_a_stuck_thread_does_not_delay_the_end() -> None:
    program = """
import asyncio, threading
from quire.threads import Dependency, TimeLimit, TooSlow, threads_of
async def main():
    try:
        await threads_of(Dependency.STORE).run(threading.Event().wait, limit=TimeLimit(0.1))
    except TooSlow:
        print("too slow")
asyncio.run(main())
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (0, "too slow\n"), ran.stderr


def test_every_dependency_has_a_pool_of_its_own() -> None:
    assert SIZES.keys() == set(Dependency)
    assert len({id(threads_of(each)) for each in Dependency}) == len(Dependency)
    assert threads_of(Dependency.STORE) is threads_of(Dependency.STORE)


async def test_readiness_measures_the_delay_of_loop_and_threads() -> None:
    delay = LoopDelay()
    measuring = asyncio.create_task(delay.measure())
    await asyncio.sleep(0)
    time.sleep(0.8)  # noqa: ASYNC251 (what it measures)
    await asyncio.to_thread(wait_until, delay.worst_s)
    assert delay.worst_s() > 0.2
    measuring.cancel()
    assert why_slow(0.1, "store", 0.1) == ""
    assert "event loop was 9 s late" in why_slow(9.0, "store", 9.0)
    words = why_slow(0.0, "origins", SLOW_S + 1)
    assert words == "every thread for origins is taken: a call has been waiting 6 s"
