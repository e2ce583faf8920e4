"""One attempt with what the document's brief says of its route."""

from dataclasses import dataclass

from quire.contracts.document import ReplacedRun
from quire.contracts.names import LOCAL_PROVIDER, PROTOCOL
from quire.contracts.routing import Route
from quire.contracts.steps import AttemptRequest
from quire.contracts.stored import Brief
from quire.domain.document.keys import answer_key, reading_id
from quire.domain.routing.time_budget import seconds_after_waiting, timeout_counts


@dataclass(frozen=True)
class RouteAttempt:
    """An attempt with what the document's brief says of its route."""

    run_id: str
    brief: Brief
    request: AttemptRequest
    # The first try of the page's first attempt: nobody of this run can have asked for it before.
    is_first: bool = False

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
    def line(self) -> Route:
        """The route as the rules of routing know it."""
        return Route(provider=self.provider, model=self.model, timeout_s=self.timeout_s)

    @property
    def asks(self) -> bool:
        """Whether it is to be told what other documents found: it follows the adaptive rule, and
        its own document has no answer of the route, or it would know better."""
        knows = self.request.protocol >= PROTOCOL and self.brief.adaptive
        return knows and not self.request.proven

    @property
    def scopes(self) -> dict[str, int]:
        """The breakers over this attempt, each with its state number when the attempt began."""
        return dict(zip((self.route, self.provider), self.request.begun_at, strict=True))

    @property
    def key(self) -> str:
        """Where the answer is stored."""
        return self._key(reading_id(self.brief.reading), self.provider, self.model)

    @property
    def buyers(self) -> tuple[ReplacedRun, ...]:
        """The runs whose answers stand in for a call: those that this one replaced, and its own,
        whose worker may have been lost before it could say so."""
        if self.is_first:
            return self.brief.replaced
        salt = self.brief.reading.salt
        own = ReplacedRun(salt=salt, bought_by=(self.run_id,), any_route=True)
        return (own, *self.brief.replaced)

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
