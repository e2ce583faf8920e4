"""How long routes took to answer, and how many pages were asked of two of them. Pure."""

from quire.contracts.carried import CarriedDispatch
from quire.domain.routing.time_budget import ANSWERS_KEPT, hedges_left


class AnswerTimes:
    """The last answers of each route, and the budget for asking twice. Written by `DispatchState`
    alone."""

    def __init__(self, routes: int, carried: CarriedDispatch) -> None:
        known = carried.latencies if len(carried.latencies) == routes else ((),) * routes
        self._latencies = [list(times) for times in known]
        self.hedged = carried.hedged
        self.ended_before = carried.ended
        # A call is old, but no route was free for its page at the last selection.
        self._hedge_due = False
        self._slot_freed = False

    def selected(self, *, hedge_due: bool) -> None:
        """A selection has looked at everything that is so."""
        self._hedge_due, self._slot_freed = hedge_due, False

    def answered(self, route: int, milliseconds: int) -> None:
        """A vendor answered after this time."""
        self._slot_freed = True
        self._latencies[route] = [*self._latencies[route], max(0, milliseconds)][-ANSWERS_KEPT:]

    def of(self, route: int) -> tuple[int, ...]:
        """The last answers of a route, in milliseconds."""
        return tuple(self._latencies[route])

    @property
    def may_hedge_now(self) -> bool:
        """A page should be asked elsewhere too, and since then a slot has become free."""
        return self._hedge_due and self._slot_freed

    def hedges_left(self, pages: int) -> int:
        """How many more pages may be asked twice, of those of this run and those before."""
        return hedges_left(self.ended_before + pages, self.hedged)

    def carried(self) -> tuple[tuple[int, ...], ...]:
        """For the next run; nothing where nobody has answered."""
        return tuple(map(tuple, self._latencies)) if any(self._latencies) else ()
