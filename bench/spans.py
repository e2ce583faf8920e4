"""Where a document's time goes, from the program's own spans.

Every moment of the document's wall time is shared equally by the route's slots. A slot whose
model is being called gives its share to the call. A free slot gives it to what the next attempt
is still busy with (drawing, storing, the rest of it); an attempt that only waits for a slot is
not the cause of anything. If there is no such attempt, the share goes to the step of the document
that runs (fetch, survey, finalize), but for attempts that did not wait for that step: they were
scheduled before it ended, so each of them was on its way through Temporal. With no step, the share
goes to Temporal: an attempt is on its way to the worker, or an end on its way to the workflow.
Once no page is left to begin, a free slot is nobody's fault.
So the shares add up to the wall time, whatever overlaps.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from testing.collector import Span

# Steps of the document, by the activity that does them.
_STEPS = {
    "RunActivity:ingest_source": "fetch",
    "RunActivity:survey_document": "survey",
    "RunActivity:finalize_document": "finalize",
    "RunActivity:plan_document": "plan",
    "RunActivity:reuse_result": "plan",
    "RunActivity:write_brief": "plan",
    "RunActivity:load_previous": "plan",
}
_ATTEMPT = "RunActivity:recognize_page"
_SCHEDULED = "StartActivity:recognize_page"
CALL = "call"
WAIT = "wait for slot"
# Steps of an attempt, by how their spans' names begin.
_WITHIN = {"draw": "draw", "encode": "encode", "call ": CALL, "store": "store", WAIT: WAIT}
REST = "rest of the attempt"
TEMPORAL = "Temporal"
NO_PAGE_LEFT = "no page left"
PARTS = (
    "fetch", "plan", "survey", "draw", "encode", CALL, "store", REST, TEMPORAL, NO_PAGE_LEFT,
    "finalize",
)  # fmt: skip


@dataclass(frozen=True)
class _Stretch:
    name: str
    started: float
    ended: float
    inner: tuple["_Stretch", ...] = ()
    # When the workflow asked for it, if that is known.
    scheduled: float | None = None

    def at(self, moment: float) -> bool:
        return self.started <= moment < self.ended

    def on_its_way(self, moment: float, step_ended: float) -> bool:
        """It had not begun, and did not wait for the step that ended then."""
        asked = self.started if self.scheduled is None else self.scheduled
        return moment < self.started and asked < step_ended

    def step_at(self, moment: float) -> str:
        """What it was at: encoding is the end of drawing, so the later begun says more."""
        busy = [one for one in self.inner if one.at(moment)]
        return max(busy, key=lambda one: one.started).name if busy else REST


def shares(spans: Sequence[Span], slots: int, started: float, ended: float) -> dict[str, float]:
    """Seconds by part; they add up to `ended - started`."""
    steps, attempts = _stretches(spans)
    last_begun = max((attempt.started for attempt in attempts), default=ended)
    found: defaultdict[str, float] = defaultdict(float)
    moments = sorted({started, ended, *_ends([*steps, *attempts], started, ended)})
    for begin, end in pairwise(moments):
        middle = (begin + end) / 2
        running = [attempt.step_at(middle) for attempt in attempts if attempt.at(middle)]
        # Of two steps at once, pages wait for the one that ends first.
        step = min((s for s in steps if s.at(middle)), key=lambda s: s.ended, default=None)
        if step:
            idle, coming = step.name, sum(one.on_its_way(middle, step.ended) for one in attempts)
        else:
            idle, coming = NO_PAGE_LEFT if running and middle > last_begun else TEMPORAL, 0
        for part, share in _moment(running, slots, coming, idle).items():
            found[part] += share * (end - begin)
    return {part: found[part] for part in PARTS}


def _moment(running: Sequence[str], slots: int, coming: int, idle: str) -> dict[str, float]:
    """The shares of one moment: of calls, of busy attempts, of those that come through Temporal;
    `idle` has the rest."""
    calls = running.count(CALL)
    slots = max(slots, calls)
    found: defaultdict[str, float] = defaultdict(float, {CALL: calls / slots})
    busy = [step for step in running if step not in (CALL, WAIT)]
    free = slots - calls
    for step in busy:
        # More attempts than free slots: each is a part of the reason.
        found[step] += min(1.0, free / len(busy)) / slots
    left = max(0, free - len(busy))
    found[TEMPORAL] += min(left, coming) / slots
    found[idle] += max(0, left - coming) / slots
    return found


def _stretches(spans: Sequence[Span]) -> tuple[list[_Stretch], list[_Stretch]]:
    steps, attempts = [], []
    inner: dict[str, list[_Stretch]] = {}
    scheduled = {span.id: span.started for span in spans if span.name == _SCHEDULED}
    for span in spans:
        if span.name in _STEPS:
            steps.append(_Stretch(_STEPS[span.name], span.started, span.ended))
        for beginning, name in _WITHIN.items():
            if span.name.startswith(beginning):
                inner.setdefault(span.parent, []).append(_Stretch(name, span.started, span.ended))
    for span in spans:
        if span.name == _ATTEMPT:
            within = tuple(inner.get(span.id, ()))
            asked = scheduled.get(span.parent)
            attempts.append(_Stretch(REST, span.started, span.ended, within, asked))
    return steps, attempts


def _ends(stretches: Iterable[_Stretch], first: float, last: float) -> set[float]:
    found = set()
    for stretch in stretches:
        found |= {stretch.started, stretch.ended, *_ends(stretch.inner, first, last)}
    return {moment for moment in found if first < moment < last}
