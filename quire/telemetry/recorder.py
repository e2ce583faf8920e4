"""Records metrics on a meter: a workflow's, an activity's or a worker's own."""

from collections.abc import Collection
from datetime import timedelta

from temporalio.common import MetricMeter

from quire.telemetry.metrics import (
    IN_FLIGHT,
    SLOTS,
    Measure,
    of_route,
    of_watch,
    of_workflows,
)


class MetricRecorder:
    """One meter. Labels are given by name, as the measure lists them."""

    def __init__(self, meter: MetricMeter) -> None:
        self._meter = meter

    def count(self, measure: Measure, value: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        self._meter.create_counter(measure.name, measure.description).add(value, labels)

    def set_level(self, measure: Measure, value: int, /, **labels: str) -> None:
        """Set a gauge."""
        self._meter.create_gauge(measure.name, measure.description).set(value, labels)

    def record_time(self, measure: Measure, seconds: float, /, **labels: str) -> None:
        """Add a duration to a histogram; a clock that stepped back counts as no time."""
        histogram = self._meter.create_histogram_timedelta(measure.name, measure.description)
        histogram.record(timedelta(seconds=max(0.0, seconds)), labels)


def show_documents(meter: MetricMeter, routes: Collection[str]) -> None:
    """Show at zero every counter of a worker that serves workflows."""
    recorder = MetricRecorder(meter)
    for measure, labels in of_workflows(routes):
        recorder.count(measure, 0, **labels)


def show_watch(meter: MetricMeter) -> None:
    """Show at zero every counter of the watch over all documents."""
    recorder = MetricRecorder(meter)
    for measure, labels in of_watch():
        recorder.count(measure, 0, **labels)


def show_route(meter: MetricMeter, route: str, slots: int) -> None:
    """Show at zero every counter of a worker that serves a route, and its slots."""
    recorder = MetricRecorder(meter)
    for measure, labels in of_route(route):
        recorder.count(measure, 0, **labels)
    recorder.set_level(SLOTS, slots, route=route)
    recorder.set_level(IN_FLIGHT, 0, route=route)
