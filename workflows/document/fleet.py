"""The workers that serve a document's routes, as its answers tell. Pure."""

from collections.abc import Sequence

from quire.contracts.routing import Route

# So many answers of a route are looked back on: a worker that is gone is forgotten by then.
ANSWERS_KEPT = 64
# Many workers fill the window, and then every answer would ask for a selection of its own: a
# selection waits until this share of the window is free. The queue behind the slots is longer.
ROOM_SHARE = 8


class Fleet:
    """A route's limit is that of one worker; a document learns from its answers how many there
    are. Written by `DispatchState` alone."""

    def __init__(self, routes: Sequence[Route], carried: Sequence[Sequence[str]] = ()) -> None:
        self._routes = routes
        known = carried if len(carried) == len(routes) else ((),) * len(routes)
        # By route and worker: the place of its last answer among all of the route.
        self._last = [dict.fromkeys(names, 0) for names in known]
        self._answers = [0] * len(routes)

    def served(self, route: int, worker: str) -> None:
        """A call was answered by way of this worker; older ones do not give their name."""
        if not worker:
            return
        self._answers[route] += 1
        oldest = self._answers[route] - ANSWERS_KEPT
        self._last[route][worker] = self._answers[route]
        self._last[route] = {
            name: last for name, last in self._last[route].items() if last > oldest
        }

    def workers(self, route: int) -> int:
        """How many are known to serve the route; there is one at least."""
        return max(1, len(self._last[route]))

    def limit(self, route: int) -> int:
        """How many calls of the route they make at once."""
        return self._routes[route].limit * self.workers(route)

    def ahead(self, route: int) -> int:
        """How many attempts beyond these they take up."""
        return self._routes[route].ahead * self.workers(route)

    def waits_for_room(self, room: int, window: int) -> bool:
        """Whether a selection should wait for more room than this."""
        return self.is_wide and room < window // ROOM_SHARE

    @property
    def is_wide(self) -> bool:
        """More than one worker serves a route."""
        return any(len(known) > 1 for known in self._last)

    def carried(self) -> tuple[tuple[str, ...], ...]:
        """For the next run; nothing where one worker at most is known."""
        return tuple(tuple(sorted(known)) for known in self._last) if self.is_wide else ()
