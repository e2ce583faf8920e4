"""What every selection must obey where breakers or pages follow the adaptive rule.

Judged without the selection's own code, as in laws.py.
"""

from quire.contracts.routing import Breaker, BreakerState
from quire.contracts.selection import Assignment, PageView
from tests.domain.laws import Judge

PATIENCE_S = 20.0
STRIKES = 3
LEAST_ANSWERS = 5


class AdaptiveJudge(Judge):
    """A page waits only where it must, and falls back only where nothing is to be hoped."""

    def judge(self) -> None:
        super().judge()
        for assignment in self.selection.assign:
            if assignment.how == "hedge":
                self._hedge(assignment)

    def _page(self, page: PageView) -> None:
        start = self.started.get(page.page)
        if start is not None and start.how != "behind":
            choices, _ = self._choices(page)
            assert start.route not in page.barred_for_good
            self._started(start, choices)
        elif start is not None:
            assert start.route not in page.barred
        elif page.not_before <= self.snap.now:
            self._not_begun(page)

    def _started(self, start: Assignment, choices: list[int]) -> None:
        view = self.snap.routes[start.route]
        assert start.route in choices, "a route that admits nobody, or that comes too early"
        if self.snap.policy.when_busy == "wait":
            assert start.route == choices[0]
        for skipped in choices[: choices.index(start.route)]:
            assert not self.has_slot(skipped) or self.too_slow(skipped, choices)
        assert self.has_slot(start.route)
        assert not self.too_slow(start.route, choices)
        assert (start.how == "probe") == (self.admission(start.route) == "probe")
        self._count(start)
        if start.how == "probe":
            assert not self.probing & {view.route.key, view.route.provider}, "a second probe"
            for key, line in (
                (view.route.key, view.breaker),
                (view.route.provider, view.provider_breaker),
            ):
                if line.state is BreakerState.OPEN:
                    self.probing.add(key)

    def _not_begun(self, page: PageView) -> None:
        """No page waits when a route could take it, and none gives up while one may."""
        fell = page.page in self.selection.fall_back
        choices, hope = self._choices(page)
        if fell:
            assert not choices, "a page fell back although a route admits it"
            assert not hope, "a page fell back although a route may come back"
            return
        if self.snap.policy.when_busy == "wait":
            choices = choices[:1]
        for index in choices:
            assert not self.has_slot(index) or self.too_slow(index, choices), "a slot stood still"
        if not choices and self.snap.policy.mode != "fail_fast":
            under_way = bool(self.snap.in_flight or self.selection.assign)
            under_way |= any(self.probed(i) for i in range(len(self.snap.routes)))
            assert under_way or self.selection.wake_at is not None, "it waits for nothing"

    def _choices(self, page: PageView) -> tuple[list[int], bool]:
        """The routes that may take the page now, in their order; and whether a vendor's route that
        takes none now may do so yet."""
        vendors = [
            i
            for i, view in enumerate(self.snap.routes)
            if i not in page.barred_for_good
            and view.route.serves(page.classification)
            and not view.route.is_last_resort
        ]
        untried = [i for i in vendors if i not in page.barred]
        admitted = [i for i in untried if self.admission(i) != "no"]
        resorts = self.candidates(page)[1]
        if self.snap.policy.mode == "fail_fast":
            return admitted or resorts, False
        if admitted:
            return admitted, True
        if any(not self.gone(i) for i in untried):
            return [], True
        tried = [i for i in vendors if i in page.barred]
        if any(not self.gone(i) for i in tried):
            return [i for i in tried if self.admission(i) != "no"], True
        if any(self.probed(i) for i in vendors):
            return [], True
        return resorts, False

    def _hedge(self, hedge: Assignment) -> None:
        flights = {flight.page: flight for flight in self.snap.flights}
        flight, view = flights[hedge.page], self.snap.routes[hedge.route]
        assert not flight.hedged
        assert hedge.route != flight.route
        assert hedge.route not in flight.barred
        assert view.latencies, "a route that is not proven"
        assert not view.route.is_last_resort
        assert self.admission(hedge.route) == "yes"
        slowest = max(self.snap.routes[flight.route].latencies, default=0) / 1000
        assert self.snap.now - flight.since >= max(10.0, 2 * slowest), "a young call"
        assert len(self.started) >= len(self.snap.pages), "pages wait"
        hedges = [a for a in self.selection.assign if a.how == "hedge"]
        assert len(hedges) <= self.snap.hedges_left
        self._count(hedge)

    def _count(self, start: Assignment) -> None:
        super()._count(start)
        width = self.snap.routes[start.route].breaker.width
        if width is not None:
            assert self.load[start.route] <= width, "more calls at once than the vendor bears"

    # --- what the snapshot says --------------------------------------------------------------

    def has_slot(self, index: int) -> bool:
        width = self.snap.routes[index].breaker.width
        return super().has_slot(index) and (width is None or self.load[index] < width)

    def gone(self, index: int) -> bool:
        view = self.snap.routes[index]
        if self.opens_at(index) >= self.snap.deadline - 0.5:
            return True
        lines = (view.breaker, view.provider_breaker)
        if view.in_flight and any(line.learned for line in lines):
            return False
        return self.snap.policy.mode != "hold" and any(self.dead(line) for line in lines)

    def dead(self, line: Breaker) -> bool:
        silent = self.snap.now >= max(line.since, line.last_answer) + PATIENCE_S
        never = line.sort == "sick" and not line.answered and line.streak >= STRIKES
        return line.streak > 0 and (line.sort == "out" or line.learned or never or silent)

    def probed(self, index: int) -> bool:
        view = self.snap.routes[index]
        probing = self.probing & {view.route.key, view.route.provider}
        states = (view.breaker.state, view.provider_breaker.state)
        return bool(probing) or BreakerState.HALF_OPEN in states

    def typical(self, index: int) -> float:
        latencies = sorted(self.snap.routes[index].latencies)
        if latencies:
            return latencies[len(latencies) // 2] / 1000
        ages = [self.snap.now - f.since for f in self.snap.flights if f.route == index]
        return max(ages, default=0.0)

    def too_slow(self, index: int, choices: list[int]) -> bool:
        """Faster routes that this very page may use would be done with everything sooner."""
        if not self.snap.adaptive or self.snap.policy.when_busy == "wait":
            return False
        fast = [
            i
            for i in choices
            if self.admission(i) == "yes"
            and self.snap.routes[i].latencies
            and 2 * self.typical(i) < self.typical(index)
        ]
        if not fast:
            return False
        rate = 0.0
        for i in fast:
            view = self.snap.routes[i]
            limit = view.workers * view.route.limit
            width = limit if view.breaker.width is None else view.breaker.width
            rate += min(limit, width) / max(self.typical(i), 0.001)
        waiting = max(self.snap.waiting, len(self.snap.pages))
        return self.typical(index) > waiting / rate + min(self.typical(i) for i in fast)
