"""Every recorded history replays on today's code."""

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer

from quire.temporal.converter import DATA_CONVERTER
from tests.replay.record import HISTORIES, SCENES, WATCH
from workflows.document.workflow import DocumentWorkflow
from workflows.watch.workflow import WatchWorkflow

WORKFLOWS = [DocumentWorkflow, WatchWorkflow]
STORED = sorted(HISTORIES.glob("*.json"))


def test_every_kind_of_run_is_recorded() -> None:
    assert {path.stem.rpartition("-")[0] for path in STORED} == {*SCENES, WATCH}
    assert len([path for path in STORED if path.stem.startswith("continued-")]) > 1
    assert len([path for path in STORED if path.stem.startswith("retried-")]) == 2


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
async def test_history_replays(path: Path) -> None:
    history = WorkflowHistory.from_json(path.stem, path.read_text())
    replayer = Replayer(workflows=WORKFLOWS, data_converter=DATA_CONVERTER)
    await replayer.replay_workflow(history)


async def test_changed_decision_is_noticed() -> None:
    """A history in which a page went elsewhere must not pass, or the tests above prove nothing."""
    stored = json.loads((HISTORIES / "healthy-0.json").read_text())
    for event in stored["events"]:
        attributes = event.get("activityTaskScheduledEventAttributes", {})
        if attributes.get("activityType", {}).get("name") == "finalize_document":
            attributes["activityType"]["name"] = "another_activity"
    history = WorkflowHistory.from_json("changed", json.dumps(stored))
    replayer = Replayer(workflows=WORKFLOWS, data_converter=DATA_CONVERTER)
    with pytest.raises(Exception, match=r"[Nn]ondeterminism|TMPRL1100"):
        await replayer.replay_workflow(history)
