"""What every selection must obey, judged without the selection's own code.

Pages are gone through in their order, as a person would, keeping count of slots and probes.
"""

import hashlib

from quire.contracts.selection import Assignment, PageView, Selection, Snapshot
from quire.domain.routing.breaker import admits


class Judge:
    """Holds one selection against the snapshot it was made from."""

    def __init__(self, snapshot: Snapshot, selection: Selection) -> None:
        self.snap = snapshot
        self.selection = selection
        self.started = {a.page: a for a in selection.assign if a.how != "hedge"}
        self.deferred = {d.page: d.not_before for d in selection.defer}
        self.load = [view.in_flight for view in snapshot.routes]
        self.total = snapshot.in_flight
        self.probing: set[str] = set()

    def judge(self) -> None:
        self._each_page_once()
        for page in self.snap.pages:
            self._page(page)
        for assignment in self.selection.assign:
            if assignment.how == "behind":
                self._behind(assignment)
        wake = self.selection.wake_at
        assert wake is None or wake > self.snap.now

    def _each_page_once(self) -> None:
        handled = [
            *[a.page for a in self.selection.assign if a.how != "hedge"],
            *self.selection.fall_back,
            *self.deferred,
        ]
        assert len(handled) == len(set(handled)), "a page was dealt with twice"
        assert set(handled) <= {page.page for page in self.snap.pages}
        order = [a.page for a in self.selection.assign if a.how in ("now", "probe")]
        assert order == [p.page for p in self.snap.pages if p.page in order], "each in its turn"

    def _page(self, page: PageView) -> None:
        start = self.started.get(page.page)
        if start is not None:
            assert start.route in self.chain(page), "a page got a route that it is barred from"
        if page.not_before > self.snap.now:
            assert start is None
            assert page.page not in self.selection.fall_back
            assert page.page not in self.deferred
            assert self.selection.wake_at is not None
            assert self.selection.wake_at <= page.not_before
            return
        vendors, resorts = self.candidates(page)
        if start is not None and start.how != "behind":
            self._started(start, vendors or resorts)
        elif start is None:
            self._not_started(page, vendors, resorts)
        elif start.how == "behind":
            assert vendors, "queued although no vendor takes the page"

    def _started(self, start: Assignment, choices: list[int]) -> None:
        """On the first route with a slot; in `wait` only ever on the first."""
        view = self.snap.routes[start.route]
        assert start.route in choices, "a route that admits nobody, or a last resort too early"
        assert view.crowded_until <= self.snap.now
        if self.snap.policy.when_busy == "wait":
            assert start.route == choices[0]
        for skipped in choices[: choices.index(start.route)]:
            assert not self.has_slot(skipped), "an earlier route had a slot"
        assert self.has_slot(start.route)
        assert (start.how == "probe") == (self.admission(start.route) == "probe")
        self._count(start)
        if start.how == "probe":
            for key, breaker in (
                (view.route.key, view.breaker),
                (view.route.provider, view.provider_breaker),
            ):
                if admits(breaker, self.snap.now) == "probe":
                    assert key not in self.probing, "a second probe"
                    self.probing.add(key)

    def _not_started(self, page: PageView, vendors: list[int], resorts: list[int]) -> None:
        """Busy waits; exhausted falls back, or in hold mode waits with a reason."""
        fell = page.page in self.selection.fall_back
        if vendors or (resorts and self.snap.policy.mode == "fail_fast"):
            assert not fell, "a busy page fell back"
            assert page.page not in self.deferred
            tried = vendors or resorts
            if self.snap.policy.when_busy == "wait":
                tried = tried[:1]
            assert not any(self.has_slot(i) for i in tried), "a slot stood still"
        elif self.snap.policy.mode == "fail_fast":
            assert fell, "an exhausted page did not fall back at once"
        else:
            self._held(page, resorts, fell=fell)

    def _held(self, page: PageView, resorts: list[int], *, fell: bool) -> None:
        reopen = [
            self.opens_at(i)
            for i in self.chain(page)
            if not self.snap.routes[i].route.is_last_resort
        ]
        if reopen and min(reopen) < self.snap.deadline:
            assert not fell, "a breaker reopens before the deadline"
            assert page.page not in self.deferred, "a round was used up for nothing"
            return
        lifted = [
            i
            for i in set(page.barred) - set(page.barred_for_good)
            if not self.snap.routes[i].route.is_last_resort
        ]
        policy = self.snap.policy
        if page.round + 1 >= policy.max_rounds:
            lifted = [i for i in lifted if i in page.let_down_by]
        if page.page in self.deferred:
            assert lifted, "a page at fault takes no more rounds than allowed"
            jitter = policy.jitter_max_s * fraction(self.snap.job_id, page.page, page.round)
            growing = policy.base_delay_s * 2 ** min(page.round, policy.max_rounds - 1)
            delay = min(growing, policy.max_delay_s or growing) + jitter
            earliest = self.snap.now + delay
            expected = min(max(self.opens_at(i), earliest) for i in lifted)
            assert self.deferred[page.page] == expected < self.snap.deadline
            if expected > self.snap.now:  # else the scheduler looks again anyhow
                assert self.selection.wake_at is not None
                assert self.selection.wake_at <= expected
        else:
            assert fell or resorts, "an exhausted page with no round left must fall back"

    def _behind(self, queued: Assignment) -> None:
        view = self.snap.routes[queued.route]
        waits = self.snap.policy.when_busy == "wait"
        queue = view.workers * (view.route.ahead + (view.route.limit if view.answered else 0))
        assert view.answered or waits, "queued behind a route that has never answered"
        assert not view.route.is_last_resort
        assert view.crowded_until <= self.snap.now
        assert self.admission(queued.route) == "yes"
        self._count(queued)
        assert self.load[queued.route] <= view.workers * view.route.limit + queue

    def _count(self, start: Assignment) -> None:
        self.load[start.route] += 1
        self.total += 1
        assert self.total <= self.snap.policy.window
        if start.how != "behind":
            view = self.snap.routes[start.route]
            assert self.load[start.route] <= view.workers * view.route.limit

    # --- what the snapshot says --------------------------------------------------------------

    def chain(self, page: PageView) -> list[int]:
        held_on = self.snap.policy.mode == "hold" and page.round >= self.snap.policy.max_rounds
        held_on = held_on and not self.snap.adaptive
        return [
            i
            for i, view in enumerate(self.snap.routes)
            if i not in page.barred
            and view.route.serves(page.classification)
            and (not held_on or i in page.let_down_by or view.route.is_last_resort)
        ]

    def candidates(self, page: PageView) -> tuple[list[int], list[int]]:
        admitted = [i for i in self.chain(page) if self.admission(i) != "no"]
        resorts = [i for i in admitted if self.snap.routes[i].route.is_last_resort]
        return [i for i in admitted if i not in resorts], resorts

    def admission(self, index: int) -> str:
        view = self.snap.routes[index]
        says = [admits(b, self.snap.now) for b in (view.breaker, view.provider_breaker)]
        if "no" in says or self.probing & {view.route.key, view.route.provider}:
            return "no"
        return "probe" if "probe" in says else "yes"

    def has_slot(self, index: int) -> bool:
        view = self.snap.routes[index]
        return (
            view.crowded_until <= self.snap.now
            and self.load[index] < view.workers * view.route.limit
            and self.total < self.snap.policy.window
        )

    def opens_at(self, index: int) -> float:
        view = self.snap.routes[index]
        return max(view.breaker.retry_at, view.provider_breaker.retry_at)


def judge(snapshot: Snapshot, selection: Selection) -> None:
    """AssertionError when the selection breaks a law."""
    if snapshot.adaptive or snapshot.policy.mode == "adaptive":
        from tests.domain.adaptive_laws import AdaptiveJudge

        AdaptiveJudge(snapshot, selection).judge()
    else:
        Judge(snapshot, selection).judge()


def fraction(job_id: str, page: int, round_: int) -> float:
    """The jitter's share as the design has it: from a hash and not from chance."""
    digest = hashlib.sha256(f"{job_id}:{page}:{round_}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
