"""How long an attempt has waited."""

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from activities.support.metrics import QueueWait


@pytest.mark.parametrize("clock_ahead_s", [-3600, 0, 3600])
async def test_no_other_machines_clock_counts(clock_ahead_s: float) -> None:
    """The server's clock may be anywhere: only its own differences are used."""
    environment = ActivityEnvironment()
    scheduled = datetime.now(UTC) - timedelta(seconds=clock_ahead_s)
    environment.info = dataclasses.replace(
        environment.info,
        current_attempt_scheduled_time=scheduled,
        started_time=scheduled + timedelta(seconds=1.5),
    )
    waited = environment.run(lambda: QueueWait().seconds)
    assert 1.5 <= waited < 2.5
