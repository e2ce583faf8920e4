"""Timeouts and retry policies of the activities, in one place."""

from datetime import timedelta

from temporalio.common import RetryPolicy

from quire.contracts.names import MOMENT_S

# Two at least everywhere: a worker's shutdown uses one up, and a deploy must not fail a page.
STEADY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=10,
)
QUICK = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=5)
# A vendor's failure is never retried here; a store's is, for a minute, before the page gives up.
ATTEMPT = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)

HEARTBEAT = timedelta(seconds=10)
LOCAL = timedelta(seconds=10)
DOCUMENT_STEP = timedelta(minutes=30)
# What an attempt needs besides the vendor's time: drawing the page, and reading and writing.
ATTEMPT_MARGIN = timedelta(seconds=60)
# Some 300 to 400 pages that need vision: between two runs, slots stand still for one answer only.
LONG_HISTORY_EVENTS = 1500
MOMENT = timedelta(seconds=MOMENT_S)
