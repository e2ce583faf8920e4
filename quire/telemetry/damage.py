"""Says that a stored object was damaged: in the log and, in a worker, in a metric."""

import logging

from temporalio import activity
from temporalio.common import MetricMeter

from quire.domain.document.keys import KINDS
from quire.ports import Damage
from quire.telemetry.metrics import DAMAGED, STORE_REMOVED, STORE_SIZE
from quire.telemetry.recorder import MetricRecorder

log = logging.getLogger("quire.store")
# Of the worker of this process: the meter of an activity would make a series for each step.
_meters: list[MetricMeter] = []


def show_store(meter: MetricMeter) -> None:
    """Count damage on this meter from now on, and show every series of the store at zero."""
    _meters[:] = [meter]
    recorder = MetricRecorder(meter)
    recorder.set_level(STORE_SIZE, 0)
    for kind in KINDS:
        recorder.count(DAMAGED, 0, kind=kind)
        recorder.count(STORE_REMOVED, 0, kind=kind)


def report_damage(damage: Damage) -> None:
    """Log the object, in an activity with its job, and count it."""
    facts = {
        "key": damage.key,
        "kind": damage.kind,
        "reason": damage.why,
        "set_aside": damage.set_aside,
    }
    logger = activity.logger if activity.in_activity() else log
    logger.warning("object_damaged", extra=facts)
    for meter in _meters:
        MetricRecorder(meter).count(DAMAGED, 1, kind=damage.kind)
