"""What the metrics endpoint shows before anything has happened: every series, at zero."""

from collections.abc import Collection

from temporalio.common import MetricMeter

from domain import measures, series


def show_documents(meter: MetricMeter, routes: Collection[str]) -> None:
    """The counters of a worker that decides."""
    for measure, labels in series.of_workflows(routes):
        meter.create_counter(measure.name, measure.description).add(0, labels)


def show_route(meter: MetricMeter, route: str, slots: int) -> None:
    """The counters and levels of a worker that serves a route."""
    for measure, labels in series.of_route(route):
        meter.create_counter(measure.name, measure.description).add(0, labels)
    for level, value in ((measures.SLOTS, slots), (measures.IN_FLIGHT, 0)):
        meter.create_gauge(level.name, level.description).set(value, {"route": route})
