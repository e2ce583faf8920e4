"""Whose answers a run takes over."""

import pytest

from quire.contracts.document import DocumentRequest, ReplacedRun
from quire.contracts.watch import Healed
from workflows.document.healed import taken_over_by

EARLIER = ReplacedRun(salt="earlier")


@pytest.mark.parametrize(
    ("force", "stuck"),
    [
        (True, ReplacedRun(salt="stuck", any_route=True)),
        (False, ReplacedRun(bought_by=("last", "stuck"), any_route=True)),
    ],
)
def test_a_healed_run_takes_what_the_stuck_one_bought_on_any_route(
    force: bool, stuck: ReplacedRun
) -> None:
    request = DocumentRequest(job_id="j", source="s", force=force, replaced=(EARLIER,))
    assert taken_over_by(request, Healed()) == (EARLIER,)
    healed = Healed(count=1, run_id="stuck", runs=("last", "stuck"))
    assert taken_over_by(request, healed) == (stuck, EARLIER)


def test_without_known_runs_only_the_attempts_own_route_counts() -> None:
    request = DocumentRequest(job_id="j", source="s")
    (stuck,) = taken_over_by(request, Healed(count=1, run_id="stuck"))
    assert not stuck.any_route
