"""Which page goes to which route now, and when to look again.

One call serves every waiting page, so no two pages race for one slot. The same snapshot always
gives the same selection.
"""

from collections.abc import Sequence
from typing import Literal

from quire.contracts.routing import Route
from quire.contracts.selection import (
    Assignment,
    Deferral,
    FlightView,
    PageView,
    RouteView,
    Selection,
    Snapshot,
)
from quire.domain.routing.breaker import Admission, admits
from quire.domain.routing.fallback import (
    AnotherRound,
    FallBack,
    TryAgain,
    WaitForRoute,
    is_adaptive,
    when_exhausted,
)
from quire.domain.routing.hedge import choose_hedges, is_stuck
from quire.domain.routing.speed import Speeds, learned_cut, probe_cut
from quire.domain.routing.time_budget import attempt_seconds

How = Literal["now", "probe", "behind", "hedge"]


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
        self.hedge_due = False
        # Who wants one model for all pages does not leave it for being slow.
        spills = snapshot.policy.when_busy == "spill"
        self.speeds = Speeds(snapshot) if snapshot.adaptive and spills else None

    def run(self) -> Selection:
        busy = [page for page in self.snap.pages if not self._settle(page)]
        for page in busy:
            self._queue_behind(page)
        self._hedge()
        later = [wake for wake in self.wakes if wake > self.snap.now]
        return Selection(
            assign=tuple(self.assign),
            fall_back=tuple(self.fall_back),
            defer=tuple(self.defer),
            wake_at=min(later, default=None),
            hedge_due=self.hedge_due,
        )

    def _settle(self, page: PageView) -> bool:
        """True when the page is dealt with for now; False when only room is missing."""
        if page.not_before > self.snap.now:
            self.wakes.append(page.not_before)
            return True
        vendors = [i for i in self._chain(page) if not self._route(i).is_last_resort]
        resorts = [i for i in self._chain(page) if self._route(i).is_last_resort]
        verdict = self._try(page, vendors)
        if verdict == "exhausted":
            fate = when_exhausted(self.snap, page, vendors, self._opens_at, self.probing)
            if isinstance(fate, TryAgain):
                verdict = self._try(page, fate.routes)
                if verdict == "exhausted":
                    return True
            elif not isinstance(fate, FallBack):
                self._hold(page, fate)
                return True
        if verdict == "exhausted":
            verdict = self._try(page, resorts)
        if verdict == "exhausted":
            self.fall_back.append(page.page)
        return verdict != "busy"

    def _try(
        self, page: PageView, chain: Sequence[int]
    ) -> Literal["assigned", "busy", "exhausted"]:
        verdict: Literal["busy", "exhausted"] = "exhausted"
        for index in chain:
            admission = self._admission(index)
            if admission == "no":
                self.wakes.append(self._opens_at(index))
                continue
            verdict = "busy"
            if self._has_slot(index) and self.room > 0 and not self._too_slow(index, chain):
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
        open_to = [
            i
            for i in admitted
            if self._may_queue(i) and not self._too_slow(i, admitted, ahead=self.in_flight[i])
        ]
        if open_to:
            shortest = min(open_to, key=lambda i: (self.in_flight[i] / self._view(i).limit, i))
            self._start(page, shortest, "behind")

    def _may_queue(self, index: int) -> bool:
        view = self.snap.routes[index]
        if self.snap.adaptive and (view.breaker.streak or view.breaker.width is not None):
            # Who was just asked to slow down waits where it can still go elsewhere.
            return False
        if is_stuck(self.snap, index):
            return False
        ahead = view.route.ahead * view.workers
        if view.answered:
            queue = view.limit + ahead
        else:
            queue = ahead if self.snap.policy.when_busy == "wait" else 0
        return view.crowded_until <= self.snap.now and self.in_flight[index] < view.limit + queue

    def _hold(self, page: PageView, fate: WaitForRoute | AnotherRound) -> None:
        """The page waits for its vendors, now or in another round."""
        if isinstance(fate, AnotherRound):
            self.defer.append(Deferral(page=page.page, not_before=fate.until))
        if fate.until is not None:
            self.wakes.append(fate.until)

    def _too_slow(self, index: int, chain: Sequence[int], *, ahead: int = 0) -> bool:
        if self.speeds is None:
            return False
        usable = [i for i in chain if self._admission(i) == "yes"]
        return self.speeds.too_slow(index, usable, ahead=ahead)

    def _hedge(self) -> None:
        """Once nothing waits, ask another route for what takes too long."""
        if self.speeds is None or len(self.assign) < max(self.snap.waiting, len(self.snap.pages)):
            return
        begun = [FlightView(a.page, a.route, self.snap.now) for a in self.assign]
        hedges = choose_hedges(self.snap, begun, self.speeds.typical, self._is_free)
        for number, index in hedges.pairs:
            self._assign(number, index, self._seconds(index, "hedge", others=0), "hedge")
        self.hedge_due = hedges.due
        if hedges.wake_at is not None:
            self.wakes.append(hedges.wake_at)

    def _is_free(self, index: int) -> bool:
        return self.room > 0 and self._admission(index) == "yes" and self._has_slot(index)

    def _start(self, page: PageView, index: int, how: How) -> None:
        others = sum(1 for i in self._chain(page) if i > index and self._admission(i) != "no")
        self._assign(page.page, index, self._seconds(index, how, others), how)

    def _seconds(self, index: int, how: How, others: int) -> float:
        """How long the attempt may take; `others` are the routes that may come after it."""
        view = self.snap.routes[index]
        timeout_s, left_s = view.route.timeout_s, self.snap.deadline - self.snap.now
        seconds = attempt_seconds(timeout_s, left_s, others, proven=view.answered)
        if how == "probe":
            others_answer = any(other.latencies for other in self.snap.routes)
            seconds = min(
                seconds, probe_cut(timeout_s, view.latencies, others_answer=others_answer)
            )
        return min(seconds, learned_cut(timeout_s, view.latencies))

    def _assign(self, number: int, index: int, seconds: float, how: How) -> None:
        route = self._route(index)
        self.assign.append(Assignment(number, index, _short(seconds), how))
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
        return self.in_flight[index] < view.width

    def _chain(self, page: PageView) -> list[int]:
        # Beyond its rounds a held page waits for vendors that let it down, and for no others.
        policy = self.snap.policy
        beyond = policy.mode == "hold" and page.round >= policy.max_rounds
        beyond = beyond and not is_adaptive(self.snap)
        return [
            i
            for i, view in enumerate(self.snap.routes)
            if i not in page.barred
            and view.route.serves(page.classification)
            and (not beyond or i in page.let_down_by or view.route.is_last_resort)
        ]

    def _view(self, index: int) -> RouteView:
        return self.snap.routes[index]

    def _route(self, index: int) -> Route:
        return self._view(index).route


def _short(seconds: float) -> float:
    """As few digits as history needs, without moving a short time by much."""
    return round(seconds, 1 if seconds >= 10 else 3)
