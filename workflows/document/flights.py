"""The attempts under way, by page. Pure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from quire.domain.routing.health import BegunAt


@dataclass(frozen=True)
class Flight:
    """One attempt under way."""

    route: int
    seconds: float
    begun_at: BegunAt
    take: int = 0
    # When it was chosen, or came to its turn; and its place among all attempts of this run, which
    # tells two apart.
    since: float = 0.0
    number: int = 0
    probe: bool = False
    # It waits behind others of this document.
    queued: bool = False


class Flights(dict[int, Flight]):
    """One attempt a page; and for a page that is asked of two routes at once, a second in `hedges`.

    Written by `DispatchState` alone.
    """

    def __init__(self) -> None:
        super().__init__()
        self.hedges: dict[int, Flight] = {}

    def every(self) -> Iterator[tuple[int, Flight]]:
        """Each attempt with its page."""
        yield from self.items()
        yield from self.hedges.items()

    @property
    def count(self) -> int:
        """How many attempts are under way."""
        return len(self) + len(self.hedges)

    def load(self) -> Counter[int]:
        """How many attempts are under way on each route."""
        return Counter(flight.route for _, flight in self.every())

    def calls(self, route: int) -> int:
        """How many of these may be calling: those that do not wait behind others."""
        return sum(f.route == route and not f.queued for _, f in self.every())

    def find(self, page: int, number: int | None) -> Flight:
        """The page's attempt of this number; the first without one."""
        hedge = self.hedges.get(page)
        return hedge if hedge is not None and hedge.number == number else self[page]

    def land(self, page: int, number: int | None, now: float) -> Flight:
        """That attempt is over; the other of the page, if there is one, goes on alone."""
        flight = self.find(page, number)
        hedge = self.hedges.pop(page, None)
        if hedge is None:
            del self[page]
        elif flight is not hedge:
            self[page] = hedge
        self._move_up(flight.route, now)
        return flight

    def _move_up(self, route: int, now: float) -> None:
        """A slot of the route is free: the first that waits there comes to its turn."""
        queue = [(f.number, page) for page, f in self.items() if f.route == route and f.queued]
        if queue:
            _, first = min(queue)
            self[first] = replace(self[first], since=now, queued=False)

    def clear(self) -> None:
        """Nothing is under way any more."""
        super().clear()
        self.hedges.clear()
