"""Where a document's time goes, from the program's own spans.

Every moment of the document's wall time is given to what happened in it. While pages are read,
each slot has an equal share of the moment, and gives it to the step its attempt is in. A slot
without an attempt gives its share to the step of the document that runs (fetch, survey,
finalize); if none does, to Temporal while pages are left: an attempt is then on its way to the
worker, or its end on the way back. So the shares add up to the wall time, whatever overlaps.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tests.operating.collector import Span

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
# Steps of an attempt, by how their spans' names begin.
_WITHIN = {"draw": "draw", "call ": "call", "store": "store"}
REST = "rest of the attempt"
TEMPORAL = "Temporal"
NO_PAGE_LEFT = "no page left"
PARTS = (
    "fetch", "plan", "survey", "draw", "call", "store", REST, TEMPORAL, NO_PAGE_LEFT, "finalize",
)  # fmt: skip


@dataclass(frozen=True)
class _Stretch:
    name: str
    started: float
    ended: float
    inner: tuple["_Stretch", ...] = ()

    def at(self, moment: float) -> bool:
        return self.started <= moment < self.ended

    def step_at(self, moment: float) -> str:
        return next((one.name for one in self.inner if one.at(moment)), REST)


def shares(spans: Sequence[Span], slots: int, started: float, ended: float) -> dict[str, float]:
    """Seconds by part; they add up to `ended - started`."""
    steps, attempts = _stretches(spans)
    last_begun = max((attempt.started for attempt in attempts), default=ended)
    first_begun = min((attempt.started for attempt in attempts), default=ended)
    found: defaultdict[str, float] = defaultdict(float)
    moments = sorted(
        {started, ended, *_ends(steps, started, ended), *_ends(attempts, started, ended)}
    )
    for begin, end in pairwise(moments):
        middle, length = (begin + end) / 2, end - begin
        running = [attempt for attempt in attempts if attempt.at(middle)]
        for attempt in running:
            found[attempt.step_at(middle)] += length / max(slots, len(running))
        idle = 1 - len(running) / max(slots, len(running))
        step = next((step.name for step in steps if step.at(middle)), None)
        waiting = NO_PAGE_LEFT if running and middle > last_begun else TEMPORAL
        if step is not None and not first_begun < middle < last_begun:
            waiting = step
        found[waiting] += idle * length
    return {part: found[part] for part in PARTS}


def _stretches(spans: Iterable[Span]) -> tuple[list[_Stretch], list[_Stretch]]:
    steps, attempts = [], []
    inner: dict[str, list[_Stretch]] = {}
    for span in spans:
        if span.name in _STEPS:
            steps.append(_Stretch(_STEPS[span.name], span.started, span.ended))
        for beginning, name in _WITHIN.items():
            if span.name.startswith(beginning):
                inner.setdefault(span.parent, []).append(_Stretch(name, span.started, span.ended))
    for span in spans:
        if span.name == _ATTEMPT:
            within = tuple(inner.get(span.id, ()))
            attempts.append(_Stretch(REST, span.started, span.ended, within))
    return steps, attempts


def _ends(stretches: Iterable[_Stretch], first: float, last: float) -> set[float]:
    found = set()
    for stretch in stretches:
        found |= {stretch.started, stretch.ended, *_ends(stretch.inner, first, last)}
    return {moment for moment in found if first < moment < last}
