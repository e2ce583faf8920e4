"""Documents that only local OCR reads: their deadline grows, unless a person has set it."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client

from activities.support.failures import attempt_failed
from quire.contracts.codes import FailureKind
from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER, workflow_id
from quire.contracts.page import TextSource
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, Route
from quire.contracts.steps import AttemptReceipt, AttemptRequest
from quire.domain.errors import AttemptFailed
from quire.domain.page_ranges import choose_pages
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.open_runs import OpenRuns
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.wait import wait_until
from tests.process.test_survey_in_parts import PAGES, PLAN, Scene, begin, served
from workflows.document.workflow import DocumentWorkflow

SCANS = 24


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    return pdfs.scanned_pdf(tmp_path / "scans.pdf", SCANS)


def allowed(shown: dict[str, Any]) -> float:
    """Seconds from the start to the deadline."""
    ends = (datetime.fromisoformat(shown[name]) for name in ("started_at", "deadline_at"))
    started, deadline = ends
    return (deadline - started).total_seconds()


def test_without_a_vendor_it_grows_and_says_so(lone_tool: Tool, scans: Path) -> None:
    running = lone_tool.start("process", scans, "--json", "--job-id", "book")
    wait_until(lambda: status(lone_tool).get("estimate"), timeout=60)
    shown = status(lone_tool)
    estimate = (
        f"No vendor is asked: local OCR reads {SCANS} pages, at 5 s each in about 2 min. "
        "The deadline has grown to 4 min."
    )
    assert shown["estimate"] == estimate
    assert SCANS * 10 <= allowed(shown) < SCANS * 10 + 60
    assert estimate in lone_tool.run("status", "book").out
    assert lone_tool.run("cancel", "book").code == 0
    _, err = running.communicate(timeout=60)
    assert err.count(estimate) == 1, "at the start, once"


def status(tool: Tool) -> dict[str, Any]:
    shown = tool.run("status", "book", "--json")
    return dict(shown.json) if shown.code == 0 else {}


@pytest.mark.parametrize(
    ("options", "settings"),
    [(("--deadline", "8s"), {}), ((), {"DOCUMENT_PROCESSING_TIMEOUT": "8s"})],
    ids=str,
)
def test_what_a_person_sets_is_kept_and_empty_pages_are_named(
    lone_tool: Tool, scans: Path, options: tuple[str, ...], settings: dict[str, str]
) -> None:
    ran = lone_tool.process(scans, *options, **settings)
    meta = ran.json["metadata"]
    assert meta["timeout_occurred"] is True
    late = [page["page"] for page in ran.pages if page["source"] == "mupdf_timeout_fallback"]
    assert 0 < meta["missing_pages"] == len(late)
    named = re.search(r"Pages ([0-9,-]+) are empty\.", ran.json["message"])
    assert named is not None, ran.json["message"]
    assert late == list(choose_pages(named[1], len(ran.pages)))
    assert "has grown" not in ran.err


# --- at the deadline: a real server, an engine that the test directs --------------------------

ENGINE = Route(provider=LOCAL_PROVIDER, model=LOCAL_MODEL, limit=1)
# It grows to 6 s for all pages.
GROWING = PLAN.model_copy(
    update={
        "chain": Chain(routes=(ENGINE,)),
        "deadline_s": 2.0,
        "page_s": 0.05,
        "dispatch": DispatchPolicy(window=32, mode="hold"),
        "breaker": BreakerPolicy(trip="adaptive"),
        "survey_head": 0,
    }
)


@dataclass
class Engine(Scene):
    """An engine that reads so many pages, each in so many seconds, and then `ends`."""

    reads: int = PAGES
    seconds: float = 0.0
    ends: str = "hangs"

    @activity.defn
    async def recognize_page(self, request: AttemptRequest) -> AttemptReceipt:
        self.asked.append(request.page)
        if len(self.asked) > self.reads and self.ends == "refuses":
            paused = AttemptFailed(FailureKind.RATE, "Later.", retry_after_s=60.0)
            raise attempt_failed(paused, 1)
        await asyncio.sleep(3600.0 if len(self.asked) > self.reads else self.seconds)
        return AttemptReceipt(milliseconds=1, chars=1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
async def client(cluster: Cluster) -> Client:
    return await connect(Settings(), cluster.address)


def read(scene: Scene) -> int:
    (records,) = scene.results
    assert sorted(records) == list(range(1, PAGES + 1))
    return sum(1 for record in records.values() if record.source is TextSource.OCR)


async def test_a_document_that_makes_progress_is_not_cut(client: Client) -> None:
    """The engine takes longer than the grown deadline allows."""
    scene = Engine(plan=GROWING, seconds=0.5)
    scene.finalize.set()
    async with served(client, scene):
        handle = await begin(client, "slow")
        result = await asyncio.wait_for(handle.result(), 60)
    assert not result.metadata.timeout_occurred
    assert read(scene) == PAGES


async def test_a_document_that_makes_none_is_cut(client: Client) -> None:
    scene = Engine(plan=GROWING, reads=7)
    scene.finalize.set()
    began = asyncio.get_running_loop().time()
    async with served(client, scene):
        handle = await begin(client, "hung")
        result = await asyncio.wait_for(handle.result(), 60)
    assert asyncio.get_running_loop().time() - began < 6 + 10
    assert result.metadata.timeout_occurred
    assert read(scene) == 7


async def test_a_grown_document_is_not_taken_for_stuck(client: Client) -> None:
    """It waits for a route that rests, with nothing under way, long after its first deadline."""
    scene = Engine(plan=GROWING, reads=7, ends="refuses")
    scene.finalize.set()
    runs = OpenRuns(client, GROWING.deadline_s, grace_s=0.0)
    async with served(client, scene):
        handle = await begin(client, "waits")
        await asyncio.sleep(GROWING.deadline_s + 1.5)
        shown = await handle.query(DocumentWorkflow.status)
        assert shown.waiting_for, "nothing is under way"
        assert not [one for one in await runs.find_stuck() if one.job_id == "waits"]
        result = await asyncio.wait_for(handle.result(), 60)
    assert result.metadata.timeout_occurred
    description = await client.get_workflow_handle(workflow_id("waits")).describe()
    assert await description.memo_value("QuireDeadlineAt") > 0
