"""Timeouts and retry policies of the activities, in one place."""

from datetime import timedelta

from temporalio.common import RetryPolicy

from quire.contracts.names import MOMENT_S

# At least two attempts: a worker shutdown consumes one, and a deploy must not fail a page.
STEADY = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    backoff_coefficient=2.0,
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=10,
)
QUICK = RetryPolicy(initial_interval=timedelta(milliseconds=200), maximum_attempts=5)
# Temporal never retries a vendor's failure; it retries a storage failure, for about a minute.
ATTEMPT = RetryPolicy(
    initial_interval=timedelta(seconds=1),
    maximum_interval=timedelta(seconds=15),
    maximum_attempts=8,
)

HEARTBEAT = timedelta(seconds=10)
LOCAL = timedelta(seconds=10)
DOCUMENT_STEP = timedelta(minutes=30)
# What an attempt needs besides the vendor's time: to draw the page, and to read and write.
ATTEMPT_MARGIN = timedelta(seconds=60)
# About 300 to 400 pages that need a model. Between two runs, slots are idle for one answer.
LONG_HISTORY_EVENTS = 1500
MOMENT = timedelta(seconds=MOMENT_S)
