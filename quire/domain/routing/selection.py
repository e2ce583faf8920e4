"""Which page goes to which route now, and when to look again.

One call serves every waiting page, so no two pages race for one slot. The same snapshot always
gives the same selection.
"""

from collections.abc import Iterable
from typing import Literal

from quire.contracts.routing import Route
from quire.contracts.selection import Assignment, Deferral, PageView, Selection, Snapshot
from quire.domain.routing.breaker import Admission, admits
from quire.domain.routing.fallback import AnotherRound, FallBack, when_exhausted
from quire.domain.routing.time_budget import attempt_seconds


def select(snapshot: Snapshot) -> Selection:
    """Give every waiting page a route, a reason to wait, or its fallback."""
    return _Selector(snapshot).run()


class _Selector:
    """One selection under way: counts what it hands out so that limits hold within it too."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snap = snapshot
        self.in_flight = [view.in_flight for view in snapshot.routes]
        self.room = snapshot.policy.window - snapshot.in_flight
        self.probing: set[str] = set()
        self.assign: list[Assignment] = []
        self.fall_back: list[int] = []
        self.defer: list[Deferral] = []
        self.wakes: list[float] = []

    def run(self) -> Selection:
        busy = [page for page in self.snap.pages if not self._settle(page)]
        for page in busy:
            self._queue_behind(page)
        later = [wake for wake in self.wakes if wake > self.snap.now]
        return Selection(
            assign=tuple(self.assign),
            fall_back=tuple(self.fall_back),
            defer=tuple(self.defer),
            wake_at=min(later, default=None),
        )

    def _settle(self, page: PageView) -> bool:
        """True when the page is dealt with for now; False when only room is missing."""
        if page.not_before > self.snap.now:
            self.wakes.append(page.not_before)
            return True
        vendors = [i for i in self._chain(page) if not self._route(i).is_last_resort]
        resorts = [i for i in self._chain(page) if self._route(i).is_last_resort]
        verdict = self._try(page, vendors)
        if verdict == "exhausted" and self._holds(page, vendors):
            return True
        if verdict == "exhausted":
            verdict = self._try(page, resorts)
        if verdict == "exhausted":
            self.fall_back.append(page.page)
        return verdict != "busy"

    def _try(
        self, page: PageView, chain: Iterable[int]
    ) -> Literal["assigned", "busy", "exhausted"]:
        verdict: Literal["busy", "exhausted"] = "exhausted"
        for index in chain:
            admission = self._admission(index)
            if admission == "no":
                self.wakes.append(self._opens_at(index))
                continue
            verdict = "busy"
            if self._has_slot(index) and self.room > 0:
                self._start(page, index, "probe" if admission == "probe" else "now")
                return "assigned"
            if self.snap.policy.when_busy == "wait":
                break
        return verdict

    def _queue_behind(self, page: PageView) -> None:
        """When every route is full, let the next pages wait at the slots and not with us.

        Behind a route that has answered; a page queued behind a hung one would hang too. Where a
        page waits for its own model whatever happens, its drawing need not wait for the answer:
        so many pages are queued from the start as a worker draws ahead of its slots.
        """
        if self.room <= 0 or len(self.snap.pages) <= len(self.snap.routes):
            # The last pages go to whichever route is free first.
            return
        admitted = [
            i
            for i in self._chain(page)
            if self._admission(i) == "yes" and not self._route(i).is_last_resort
        ]
        if self.snap.policy.when_busy == "wait":
            admitted = admitted[:1]
        open_to = [i for i in admitted if self._may_queue(i)]
        if open_to:
            shortest = min(open_to, key=lambda i: (self.in_flight[i] / self._route(i).limit, i))
            self._start(page, shortest, "behind")

    def _may_queue(self, index: int) -> bool:
        view = self.snap.routes[index]
        if view.answered:
            queue = view.route.limit + view.route.ahead
        else:
            queue = view.route.ahead if self.snap.policy.when_busy == "wait" else 0
        return (
            view.crowded_until <= self.snap.now and self.in_flight[index] < view.route.limit + queue
        )

    def _holds(self, page: PageView, vendors: list[int]) -> bool:
        """Whether the page waits for its vendors, now or in another round."""
        fate = when_exhausted(self.snap, page, vendors, self._opens_at)
        if isinstance(fate, FallBack):
            return False
        if isinstance(fate, AnotherRound):
            self.defer.append(Deferral(page=page.page, not_before=fate.until))
        self.wakes.append(fate.until)
        return True

    def _start(self, page: PageView, index: int, how: Literal["now", "probe", "behind"]) -> None:
        route = self._route(index)
        others = sum(1 for i in self._chain(page) if i > index and self._admission(i) != "no")
        seconds = attempt_seconds(
            route.timeout_s,
            self.snap.deadline - self.snap.now,
            others,
            proven=self.snap.routes[index].answered,
        )
        self.assign.append(Assignment(page.page, index, _short(seconds), how))
        self.in_flight[index] += 1
        self.room -= 1
        if how == "probe":
            view = self.snap.routes[index]
            if admits(view.breaker, self.snap.now) == "probe":
                self.probing.add(route.key)
            if admits(view.provider_breaker, self.snap.now) == "probe":
                self.probing.add(route.provider)

    def _admission(self, index: int) -> Admission:
        """What both breakers say, counting the probes handed out in this very selection."""
        view = self.snap.routes[index]
        both = {admits(b, self.snap.now) for b in (view.breaker, view.provider_breaker)}
        taken = {view.route.key, view.route.provider} & self.probing
        if "no" in both or taken:
            return "no"
        return "probe" if "probe" in both else "yes"

    def _opens_at(self, index: int) -> float:
        view = self.snap.routes[index]
        return max(view.breaker.retry_at, view.provider_breaker.retry_at)

    def _has_slot(self, index: int) -> bool:
        view = self.snap.routes[index]
        if view.crowded_until > self.snap.now:
            self.wakes.append(view.crowded_until)
            return False
        return self.in_flight[index] < view.route.limit

    def _chain(self, page: PageView) -> list[int]:
        return [
            i
            for i, view in enumerate(self.snap.routes)
            if i not in page.barred and view.route.serves(page.classification)
        ]

    def _route(self, index: int) -> Route:
        return self.snap.routes[index].route


def _short(seconds: float) -> float:
    """As few digits as history needs, without moving a short time by much."""
    return round(seconds, 1 if seconds >= 10 else 3)
