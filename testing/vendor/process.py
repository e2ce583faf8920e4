"""The stand-in as a process of its own, programmed over HTTP with the same words."""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from testing.vendor.behaviours import Behaviour
from testing.vendor.calls import Call
from testing.vendor.rules import Rule
from testing.vendor.standin import Addresses

ROOT = Path(__file__).resolve().parents[2]


class RemoteStandIn(Addresses):
    """A stand-in that someone else started, by its URL."""

    def __init__(self, url: str) -> None:
        self.url = url

    def behave(self, behaviour: Behaviour, **when: Any) -> None:
        self._ask("/_control", {"rules": [Rule(behaviour, **when).to_json()]})

    def calls(self, model: str | None = None) -> list[Call]:
        return [Call(**call) for call in self._look(model)["calls"]]

    def max_concurrent(self, model: str | None = None) -> int:
        return int(self._look(model)["max_concurrent"])

    def wait_for_calls(self, count: int, timeout: float = 5.0, ended: bool = False) -> list[Call]:
        """Wait until so many calls have come (or ended), and give them."""
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            calls = self.calls()
            if sum(1 for call in calls if call.ended or not ended) >= count:
                return calls
            time.sleep(0.02)
        raise TimeoutError(f"{len(self.calls())} calls after {timeout} s, not {count}")

    def reset(self) -> None:
        self._ask("/_control", {"reset": True})

    def _look(self, model: str | None) -> dict[str, Any]:
        return self._ask("/_calls" + (f"?model={model}" if model else ""), None)

    def _ask(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.url + path, data, timeout=10) as response:
            found: dict[str, Any] = json.load(response)
            return found


class StandInProcess(RemoteStandIn):
    """Starts `python -m testing.vendor` and ends it: `with StandInProcess() as vendor: ...`."""

    def __init__(self) -> None:
        super().__init__("")

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        # The pipe to its standard input ends with this process, however that ends.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "testing.vendor", "--with-parent"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"the stand-in ended with {self._process.wait()}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
