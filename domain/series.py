"""The series of every counter that are known before anything happens.

A rate sees the growth of a series and not its birth. Many of ours grow in one step, by all the
pages of a document or by one rare failure, so each must be there, at zero, before its first count.
"""

from collections.abc import Collection, Iterator
from itertools import permutations, product
from typing import get_args

from domain import measures
from domain.contracts import Classification, Source
from domain.errors import Code, ErrorType, FailureKind
from domain.measures import Measure
from domain.records import OK

Series = tuple[Measure, dict[str, str]]


def of_workflows(routes: Collection[str]) -> Iterator[Series]:
    """What documents count, with pages that may be read on any of these routes."""
    none = measures.NO_ERROR
    yield from _each(measures.DOCUMENTS, ["completed"], [none], [none])
    yield from _each(measures.DOCUMENTS, ["failed"], [*Code], get_args(ErrorType))
    yield from _each(measures.PAGES, [*Source], [*Classification, measures.UNSURVEYED])
    yield from _each(measures.TIMEOUTS, ["attempt", "document"])
    yield from _each(measures.CROWDED_OUT, routes)
    providers = {route.partition(":")[0] for route in routes}
    yield from _each(
        measures.BREAKER_CHANGES, sorted({*routes, *providers}), measures.BREAKER_LEVELS
    )
    for one, other in permutations(routes, 2):
        yield from _each(measures.FAILOVERS, [one], [other])


def of_route(route: str) -> Iterator[Series]:
    """What attempts on this route count."""
    yield from _each(measures.CALLS, [route], [OK, measures.ABORTED, *FailureKind])
    yield from _each(measures.TOKENS, [route], ["input", "output"])
    for measure in (measures.COST, measures.UNPRICED, measures.REUSED):
        yield from _each(measure, [route])


def _each(measure: Measure, *values: Collection[str]) -> Iterator[Series]:
    """Every combination of these values of the measure's labels."""
    for chosen in product(*values):
        yield measure, dict(zip(measure.labels, map(str, chosen), strict=True))
