"""The stand-in's memory: every call, when it was served and how it ended."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Call:
    """One request. Times are `time.monotonic()`, which all processes of a machine share."""

    number: int
    api: str
    model: str
    system: str
    user: str
    cap: int | None
    cap_name: str | None
    image_media_type: str | None
    image_bytes: int
    image_mark: str
    headers: dict[str, str]
    started: float
    behaviour: str = ""
    ended: float | None = None
    status: int | None = None
    aborted: bool = False
    # Input and output tokens that the answer said it took.
    billed: tuple[int, int] = (0, 0)

    @property
    def seconds(self) -> float | None:
        return None if self.ended is None else self.ended - self.started

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def most_at_once(calls: list[Call]) -> int:
    """The greatest number of calls that were being served at one moment."""
    moments = [(call.started, 1) for call in calls]
    # Ends sort before starts of the same moment: one after the other is not two at once.
    moments += [(call.ended, -1) for call in calls if call.ended is not None]
    now = most = 0
    for _, step in sorted(moments):
        now += step
        most = max(most, now)
    return most


@dataclass
class CallLog:
    """Written by the server's thread, read by the test's."""

    _calls: list[Call] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _numbers: int = 0

    def begin(self, **what: Any) -> Call:
        with self._changed:
            self._numbers += 1
            call = Call(number=self._numbers, started=time.monotonic(), **what)
            self._calls.append(call)
            self._changed.notify_all()
            return call

    def end(self, call: Call) -> None:
        with self._changed:
            call.ended = time.monotonic()
            self._changed.notify_all()

    def select(self, model: str | None = None) -> list[Call]:
        with self._changed:
            return [call for call in self._calls if model in (None, call.model)]

    def clear(self) -> None:
        with self._changed:
            self._calls.clear()
            self._numbers = 0

    def wait(self, enough: Callable[[list[Call]], bool], timeout: float) -> bool:
        """Wait until the calls satisfy `enough`; False when the time is up first."""
        with self._changed:
            return self._changed.wait_for(lambda: enough(list(self._calls)), timeout)
