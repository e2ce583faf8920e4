"""A worker that is late with what is due says so, and is ready again when it has caught up."""

import asyncio
import json
import threading
import urllib.error
from types import SimpleNamespace
from typing import Any

import pytest

from quire.settings import Settings
from quire.telemetry.health import LoopDelay
from quire.threads import SIZES, Dependency, threads_of
from quire.worker_process import serve_health
from testing.wait import wait_until
from testing.worker import fetch, free_port


async def test_full_threads_make_a_worker_unready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quire.telemetry.health.SLOW_S", 0.3)
    address = f"127.0.0.1:{free_port()}"
    health = await serve_health(
        Settings(health_address=address), _well(), [SimpleNamespace(is_running=True)],  # type: ignore[list-item]
        asyncio.Event(), LoopDelay(),
    )  # fmt: skip
    assert health is not None
    pool, release = threads_of(Dependency.NAMES), threading.Event()
    try:
        assert await asyncio.to_thread(_says, address) == {"status": "ready"}
        calls = SIZES[Dependency.NAMES] + 1
        stuck = [asyncio.create_task(pool.run(release.wait, 60)) for _ in range(calls)]
        await asyncio.to_thread(wait_until, lambda: pool.delay_s() > 0.3)
        said = await asyncio.to_thread(_says, address)
        assert said["status"] == "not ready"
        assert said["reason"].startswith("every thread for names is taken: a call has been waiting")
        release.set()
        await asyncio.gather(*stuck)
        assert await asyncio.to_thread(_says, address) == {"status": "ready"}
    finally:
        release.set()
        await health.close()


def _says(address: str) -> Any:
    try:
        return json.loads(fetch(f"http://{address}/readyz"))
    except urllib.error.HTTPError as error:
        with error:
            return json.load(error)


def _well() -> Any:
    """A client whose server answers."""

    async def check_health(**_: object) -> bool:
        return True

    return SimpleNamespace(service_client=SimpleNamespace(check_health=check_health))
