"""Every metric of the project, by name; `recorder.py` beside this file records them.

Names are written without the suffixes that the exporter adds: `_total` for what is counted,
`_seconds` for what takes time.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import Literal, get_args

from quire.contracts.codes import Code, ErrorType, FailureKind
from quire.contracts.page import Classification, TextSource
from quire.domain.document.attempts import OK


@dataclass(frozen=True)
class Measure:
    """One metric, and what its labels are."""

    name: str
    kind: Literal["count", "time", "level"]
    description: str
    labels: tuple[str, ...] = ()
    # Upper bounds in seconds, for a `time`.
    buckets: tuple[float, ...] = ()

    @property
    def exposed(self) -> str:
        """Its name on the metrics endpoint."""
        return self.name + {"count": "_total", "time": "_seconds", "level": ""}[self.kind]


_CALL = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
_WAIT = (0.01, 0.05, 0.1, 0.5, 1, 2, 5, 15, 60)
_LONG = (1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 1800)
JOBS_CREATED = Measure("quire_jobs_created", "count", "Runs of jobs that began")
DOCUMENTS = Measure(
    "quire_documents",
    "count",
    "Documents ended, by status, public error code and type of error",
    ("status", "code", "error_type"),
)
DOCUMENT_TIME = Measure(
    "quire_document_duration",
    "time",
    "From a document's start to its end",
    ("status",),
    _LONG,
)
PAGES = Measure("quire_pages", "count", "Pages of ended documents", ("source", "classification"))
FAILOVERS = Measure(
    "quire_failovers", "count", "Pages that went on to another route", ("from_route", "to_route")
)
TIMEOUTS = Measure(
    "quire_timeouts", "count", "Time ran out: of an attempt, or of the document", ("scope",)
)
RETRIES = Measure(
    "quire_retries_scheduled",
    "count",
    "Pages to be read again: in a later round of hold mode, or because a person asked",
    ("cause",),
)
CROWDED_OUT = Measure(
    "quire_crowded_out", "count", "Attempts that left: no slot came free in a moment", ("route",)
)
RESTED = Measure(
    "quire_rested", "count", "Attempts without a call: the route looks dead", ("route",)
)
HEDGES = Measure(
    "quire_hedges", "count", "Pages asked of a second route, since the first took long", ("route",)
)
BREAKER_CHANGES = Measure(
    "quire_breaker_changes", "count", "Changes of a breaker to a state", ("key", "state")
)
BREAKER_STATE = Measure(
    "quire_breaker_state",
    "level",
    "Last reported by any document, ended or not: 0 closed, 1 half open, 2 open",
    ("key",),
)
BREAKER_OPEN_TIME = Measure(
    "quire_breaker_open", "time", "How long a breaker stayed open", ("key",), _LONG
)
SLOTS = Measure("quire_slots", "level", "Calls to a model that may be under way", ("route",))
CALLS = Measure("quire_vendor_calls", "count", "Calls to a model", ("route", "outcome"))
CALL_TIME = Measure(
    "quire_vendor_call_duration", "time", "Time of a call to a model", ("route", "outcome"), _CALL
)
IN_FLIGHT = Measure(
    "quire_vendor_calls_in_flight", "level", "Calls to a model under way", ("route",)
)
TOKENS = Measure("quire_tokens", "count", "Tokens read and written", ("route", "direction"))
# Counters hold whole numbers: dollars would round to nothing.
COST = Measure(
    "quire_cost_microdollars", "count", "Cost by list price, in millionths of a dollar", ("route",)
)
UNPRICED = Measure("quire_unpriced_calls", "count", "Calls whose price is unknown", ("route",))
REUSED = Measure("quire_reused_answers", "count", "Pages read from the store", ("route",))
QUEUE_DELAY = Measure(
    "quire_queue_delay", "time", "From the schedule of an attempt to its slot", ("route",), _WAIT
)
QUEUE_DEPTH = Measure(
    "quire_queue_depth", "level", "Tasks that wait in a queue, as the server estimates", ("queue",)
)
DAMAGED = Measure(
    "quire_damaged_objects", "count", "Stored objects that were not what was written", ("kind",)
)
STORE_SIZE = Measure("quire_store_bytes", "level", "Size of the store, as its upkeep found it")
STORE_REMOVED = Measure(
    "quire_store_removed_bytes", "count", "What the upkeep of the store removed", ("kind",)
)
# Counted at each watch: a level would stay as it was on every worker but the one that looked last.
STUCK = Measure(
    "quire_stuck_documents", "count", "Stuck documents that could not be started again, each watch"
)
HEALED = Measure("quire_documents_healed", "count", "Stuck documents that were started again")
ALL = (
    DAMAGED, STORE_SIZE, STORE_REMOVED, JOBS_CREATED, RETRIES, QUEUE_DEPTH, STUCK, HEALED,
    DOCUMENTS, DOCUMENT_TIME, PAGES, FAILOVERS, TIMEOUTS, CROWDED_OUT, RESTED, HEDGES,
    BREAKER_CHANGES, BREAKER_STATE, BREAKER_OPEN_TIME, SLOTS, CALLS, CALL_TIME, IN_FLIGHT, TOKENS,
    COST, UNPRICED, REUSED, QUEUE_DELAY,
)  # fmt: skip
BREAKER_LEVELS = {"closed": 0, "half_open": 1, "open": 2}
# In place of a code and a type of error, where there was none.
NO_ERROR = "none"
# The class of a page for whose survey there was no time.
UNSURVEYED = "UNKNOWN"
# The outcome of a call that was cancelled.
ABORTED = "ABORTED"
# Why a page is to be read again.
RETRY_CAUSES = ("round", "person")
Series = tuple[Measure, dict[str, str]]


def of_workflows(routes: Collection[str]) -> Iterator[Series]:
    """Every counter of documents whose pages may be read on any of these routes."""
    none = NO_ERROR
    yield from _each(JOBS_CREATED)
    yield from _each(RETRIES, [*RETRY_CAUSES])
    yield from _each(DOCUMENTS, ["completed"], [none], [none])
    yield from _each(DOCUMENTS, ["failed"], [*Code], get_args(ErrorType))
    yield from _each(PAGES, [*TextSource], [*Classification, UNSURVEYED])
    yield from _each(TIMEOUTS, ["attempt", "document"])
    yield from _each(CROWDED_OUT, routes)
    yield from _each(RESTED, routes)
    yield from _each(HEDGES, routes)
    providers = {route.partition(":")[0] for route in routes}
    yield from _each(BREAKER_CHANGES, sorted({*routes, *providers}), BREAKER_LEVELS)
    for one, other in permutations(routes, 2):
        yield from _each(FAILOVERS, [one], [other])


def of_watch() -> Iterator[Series]:
    """Every counter of the watch over all documents."""
    yield from _each(STUCK)
    yield from _each(HEALED)


def of_route(route: str) -> Iterator[Series]:
    """Every counter of attempts on this route."""
    yield from _each(CALLS, [route], [OK, ABORTED, *FailureKind])
    yield from _each(TOKENS, [route], ["input", "output"])
    for measure in (COST, UNPRICED, REUSED):
        yield from _each(measure, [route])


def _each(measure: Measure, *values: Collection[str]) -> Iterator[Series]:
    """Every combination of these values of the measure's labels."""
    for chosen in product(*values):
        yield measure, dict(zip(measure.labels, map(str, chosen), strict=True))
