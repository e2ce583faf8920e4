"""A simulated document whose attempts pass a worker's gate; see activities/support/attempt.py."""

from collections.abc import Iterable

from activities.support.attempt import RouteAttempt
from activities.support.gate import RouteGate
from quire.contracts.codes import FailureKind
from quire.contracts.reading import ReadingOptions
from quire.contracts.steps import AttemptRequest
from quire.contracts.stored import Brief
from tests.domain.simulator import Simulation
from workflows.document.flights import Flight

ROUTES = (("a", "m", 60.0), ("a", "n", 60.0), ("b", "m", 60.0))


def attempt(
    route: int = 0,
    begun_at: tuple[int, int] = (0, 0),
    *,
    run: str = "run",
    stand_down: bool = True,
    adaptive: bool = False,
    seconds: float = 60.0,
    routes: Iterable[tuple[str, str, float]] = ROUTES,
) -> RouteAttempt:
    return RouteAttempt(
        run_id=run,
        brief=Brief(
            job_id="job",
            sha256="0" * 64,
            page_count=1,
            reading=ReadingOptions(system_prompt="read"),
            routes=tuple(routes),
            stand_down=stand_down,
            adaptive=adaptive,
        ),
        request=AttemptRequest(
            brief="brief", page=1, seconds=seconds, route=route, begun_at=begun_at
        ),
    )


class Gated(Simulation):
    """A document whose attempts all pass one worker's gate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.gate = RouteGate(clock=lambda: self.now)

    def stands_down(self, page: int, flight: Flight) -> bool:
        return self.gate.closed_for(self._attempting(flight))

    def saw_failure(self, page: int, flight: Flight, kind: FailureKind) -> None:
        self.gate.failed(self._attempting(flight), kind)

    def _attempting(self, flight: Flight) -> RouteAttempt:
        routes = [(route.provider, route.model, route.timeout_s) for route in self.books.routes]
        return attempt(
            flight.route,
            flight.begun_at,
            adaptive=self.books.adaptive,
            seconds=flight.seconds,
            routes=routes,
        )
