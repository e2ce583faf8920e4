"""One attempt with its route, and the gate that remembers failed ones."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from quire.contracts.codes import FailureKind
from quire.contracts.document import ReplacedRun
from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER
from quire.contracts.steps import AttemptRequest
from quire.contracts.stored import Brief
from quire.domain.document.keys import answer_key, reading_id
from quire.domain.errors import MEANING
from quire.domain.routing.time_budget import seconds_after_waiting, timeout_counts

GATE_CLOSED_FOR_S = 10.0


@dataclass(frozen=True)
class RouteAttempt:
    """An attempt with what the document's brief says of its route."""

    run_id: str
    brief: Brief
    request: AttemptRequest

    @property
    def provider(self) -> str:
        """The route's provider."""
        return self.brief.routes[self.request.route][0]

    @property
    def model(self) -> str:
        """The route's model."""
        return self.brief.routes[self.request.route][1]

    @property
    def timeout_s(self) -> float:
        """The provider's timeout."""
        return self.brief.routes[self.request.route][2]

    @property
    def had_time(self) -> bool:
        """Whether it had enough time for a timeout to say anything about the vendor."""
        return timeout_counts(self.request.seconds, self.timeout_s)

    def seconds(self, waited_s: float) -> float:
        """How long the vendor may take, now that the attempt has its slot."""
        if self.request.proven:
            return self.request.seconds
        return seconds_after_waiting(self.request.seconds, self.timeout_s, waited_s)

    @property
    def route(self) -> str:
        """`provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def scopes(self) -> dict[str, int]:
        """The breakers over this attempt, each with its state number when the attempt began."""
        return dict(zip((self.route, self.provider), self.request.begun_at, strict=True))

    @property
    def key(self) -> str:
        """Where the answer is stored."""
        return self._key(reading_id(self.brief.reading), self.provider, self.model)

    @property
    def ocr_key(self) -> str | None:
        """Where the local engine's answer for the page would be; None if that is this attempt."""
        if self.provider == LOCAL_PROVIDER:
            return None
        return self._key(reading_id(self.brief.reading), LOCAL_PROVIDER, LOCAL_MODEL)

    def replaced_keys(self, run: ReplacedRun) -> list[tuple[int, str, str]]:
        """Where a run that this one replaced may have stored its answer, if it read the same way:
        routes by their places, the attempt's own first, each with that run's key and this one's.

        OCR on the worker costs nothing: it does not stand in for a model that may answer today.
        """
        own = reading_id(self.brief.reading)
        theirs = reading_id(self.brief.reading.model_copy(update={"salt": run.salt}))
        routes = [self.request.route]
        if run.any_route:
            routes += [
                place
                for place, (provider, _, _) in enumerate(self.brief.routes)
                if place != self.request.route and provider != LOCAL_PROVIDER
            ]
        named = [(place, *self.brief.routes[place][:2]) for place in routes]
        return [
            (place, self._key(theirs, provider, model), self._key(own, provider, model))
            for place, provider, model in named
        ]

    def _key(self, reading: str, provider: str, model: str) -> str:
        return answer_key(
            self.brief.sha256, self.request.page, reading, provider, model, self.request.take
        )


class RouteGate:
    """Remembers, for each document, which breaker states have already seen a failure here.

    Attempts wait behind a route's slots. When one fails, the next would start before the
    workflow can say stop; the gate lets it stand down instead of calling a vendor that has just
    failed. The gate is this worker's own shortcut: the breaker belongs to the workflow, and the
    gate opens by itself in case the failure was never reported there.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed_at: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def closed_for(self, attempt: RouteAttempt) -> bool:
        """Whether a breaker of the attempt has failed here since the attempt began."""
        self._forget()
        return any(
            self._failed_at.get((attempt.run_id, scope), (-1, 0.0))[0] >= begun_at
            for scope, begun_at in attempt.scopes.items()
        )

    def failed(self, attempt: RouteAttempt, kind: FailureKind) -> None:
        """Remember a failure that will open a breaker."""
        meaning = MEANING[kind]
        if meaning.trips is None or not (attempt.brief.stand_down or meaning.rests == "long"):
            return
        if kind is FailureKind.TIMEOUT and (attempt.brief.adaptive or not attempt.had_time):
            # The breaker may not count it either, and then nothing would open the gate again.
            return
        scope = attempt.provider if meaning.trips == "provider" else attempt.route
        key = (attempt.run_id, scope)
        known = self._failed_at.pop(key, (-1, 0.0))[0]
        self._failed_at[key] = (max(known, attempt.scopes[scope]), self._clock())

    def _forget(self) -> None:
        while self._failed_at:
            key, (_, since) = next(iter(self._failed_at.items()))
            if self._clock() - since < GATE_CLOSED_FOR_S:
                break
            del self._failed_at[key]
