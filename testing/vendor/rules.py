"""Which call meets which behaviour."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from testing.vendor.behaviours import Behaviour, vendor_answers
from testing.vendor.wire import Asked


@dataclass
class Rule:
    """A behaviour and the calls it is for; what is not given does not matter.

    `marker` is a regular expression looked for in the user prompt. `skip` and `first` count
    the calls that match model, api, marker and `where`: skip so many, then serve so many; with
    `every` only each so-manieth of those (3: the third, the sixth, ...).
    `from_s` and `until_s` are seconds since the first call, of whatever sort, after the rule was
    set: what a caller needs to start does not count.
    `spares` calls of each model at once, and then `spares_per_s` a second, are not the rule's.
    """

    behaviour: Behaviour
    model: str | None = None
    api: str | None = None
    marker: str | None = None
    skip: int = 0
    first: int | None = None
    every: int = 1
    from_s: float = 0.0
    until_s: float | None = None
    spares: float | None = None
    spares_per_s: float = 0.0
    where: Callable[[Asked], bool] | None = None
    _seen: int = field(default=0, init=False)
    _began: float | None = field(default=None, init=False)
    # What is left to spare of each model, and since when.
    _spared: dict[str, tuple[float, float]] = field(default_factory=dict, init=False)

    def notice(self, now: float) -> None:
        """A call has come: with the first one the rule's time begins."""
        if self._began is None:
            self._began = now

    def takes(self, asked: Asked) -> bool:
        """Whether this call is the rule's; counts it if it is of the rule's sort."""
        if not self._is_of_its_sort(asked):
            return False
        now = time.monotonic()
        age = now - (now if self._began is None else self._began)
        if age < self.from_s or (self.until_s is not None and age >= self.until_s):
            return False
        if self._spares(asked.model, now):
            return False
        self._seen += 1
        served = self._seen - self.skip
        if served <= 0 or (self.first is not None and served > self.first):
            return False
        return served % self.every == 0

    def _spares(self, model: str, now: float) -> bool:
        """A bucket that fills up again: whether this call still gets something out of it."""
        if self.spares is None:
            return False
        left, since = self._spared.get(model, (self.spares, now))
        left = min(self.spares, left + (now - since) * self.spares_per_s)
        spared = left >= 1
        self._spared[model] = (left - 1 if spared else left, now)
        return spared

    def _is_of_its_sort(self, asked: Asked) -> bool:
        return (
            self.model in (None, asked.model)
            and self.api in (None, asked.api)
            and (self.marker is None or re.search(self.marker, asked.user) is not None)
            and (self.where is None or self.where(asked))
        )

    def to_json(self) -> dict[str, Any]:
        if self.where is not None:
            raise ValueError("`where` is code: it cannot be sent to another process")
        return {
            "behaviour": self.behaviour.to_json(),
            **{name: getattr(self, name) for name in SENT},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Rule":
        rest = {key: value for key, value in data.items() if key != "behaviour"}
        return cls(Behaviour.from_json(data["behaviour"]), **rest)


SENT = tuple(f.name for f in fields(Rule) if f.init and f.name not in ("behaviour", "where"))


class Script:
    """The rules in force. The latest one that takes a call decides; none: it is answered."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, rule: Rule) -> None:
        with self._lock:
            self._rules.append(rule)

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def decide(self, asked: Asked) -> Behaviour:
        with self._lock:
            now = time.monotonic()
            for rule in self._rules:
                rule.notice(now)
            for rule in reversed(self._rules):
                if rule.takes(asked):
                    return rule.behaviour
        return vendor_answers()
