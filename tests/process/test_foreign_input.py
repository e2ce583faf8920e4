"""Whatever is sent to a running document, it stays well: it refuses, and goes on."""

import asyncio
import base64
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from temporalio.api.common.v1 import Payload, Payloads, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import (
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
)
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.common import RawValue
from temporalio.exceptions import ApplicationError

from quire.contracts.names import WORKFLOW_QUEUE
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.embedded import find_binary
from testing import pdfs
from testing.cluster import Cluster
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers, vendor_fails, vendor_hangs
from testing.vendor.standin import StandIn

pytestmark = pytest.mark.servers
KEYS = "a:" + base64.b64encode(b"k" * 32).decode()
SECRET = "Confidential-77"
# What somebody may send in place of {"user_id": ..., "pages": ...}.
ODD: list[list[Any]] = [
    [],
    [None],
    [True],
    [2.5],
    [[]],
    [[[["deep"]]]],
    ["3,5-7"],
    ["99999999999999999999-"],
    ["1-," * 100_000],
    [["4", 5]],
    [SECRET],
    [{"pages": SECRET}],
    [{"pages": {"from": 1}}],
    [{"user_id": 7, "pages": 3}],
    [{"unknown": SECRET}],
    [{"user_id": ["anna"]}],
    [{"user_id": ""}, {"user_id": ""}],
    [1, 2, 3],
]
# What no converter can read: binary, of an unknown kind, no JSON, and sealed by nobody.
UNREADABLE = [
    Payload(metadata={"encoding": b"binary/plain"}, data=b"\x00\xff"),
    Payload(metadata={"encoding": b"of/another-world"}, data=b"{}"),
    Payload(metadata={"encoding": b"json/plain"}, data=SECRET.encode()),
    Payload(data=b"nothing said"),
    Payload(metadata={"encoding": b"binary/encrypted", "key-id": b"a"}, data=b"broken" * 9),
    Payload(metadata={"encoding": b"binary/encrypted", "key-id": b"\xff"}, data=b""),
]


@dataclass(frozen=True)
class Site:
    """A cluster that encrypts, and a document with an engine that never answers."""

    cluster: Cluster
    tool: Tool
    vendor: StandIn
    pdf: Path

    def detach(self, job_id: str, *options: str) -> None:
        started = self.tool.process(self.pdf, "--job-id", job_id, "--detach", *options)
        assert started.code == 0, started.err

    def temporal(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [find_binary(), *arguments, "--address", self.cluster.address]
        home = {"HOME": str(self.cluster.folder), "PATH": os.environ["PATH"]}
        return subprocess.run(command, capture_output=True, text=True, timeout=60, env=home)

    @property
    def log(self) -> str:
        return (self.cluster.folder / "worker-0.log").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("foreign")
    with StandIn() as vendor, Cluster(folder / "cluster") as cluster:
        keys = {"ENCRYPT_PAYLOADS": "true", "ENCRYPTION_KEYS": KEYS}
        worker = Tool(folder / "state", vendor, **keys).warmed()
        cluster.start_worker(worker)
        tool = worker.also(TEMPORAL_ADDRESS=cluster.address)
        yield Site(cluster, tool, vendor, pdfs.mixed_pdf(folder / "mixed.pdf", 4, 8))


@pytest.fixture
async def plain(site: Site) -> Client:
    """A client that knows nothing of Quire, nor of its keys."""
    return await Client.connect(site.cluster.address)


@pytest.fixture
async def sealed(site: Site, tmp_path: Path) -> Client:
    """A client with the keys, which can read answers."""
    settings = Settings(
        state_dir=tmp_path,
        temporal_address=site.cluster.address,
        encrypt_payloads=True,
        encryption_keys=SecretStr(KEYS),
    )
    return await connect(settings)


async def signal_raw(client: Client, workflow_id: str, name: str, *payloads: Payload) -> None:
    await client.workflow_service.signal_workflow_execution(
        SignalWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=workflow_id),
            signal_name=name,
            input=Payloads(payloads=payloads),
        )
    )


async def refusal_of(update: Any) -> str:
    with pytest.raises(WorkflowUpdateFailedError) as failed:
        await update
    cause = failed.value.cause
    assert isinstance(cause, ApplicationError), cause
    return str(cause.details[0]["reason"]) if cause.details else cause.message


def as_json(value: Any) -> Payload:
    return Payload(metadata={"encoding": b"json/plain"}, data=json.dumps(value).encode())


async def start_raw(client: Client, workflow_id: str, kind: str, *payloads: Payload) -> None:
    await client.workflow_service.start_workflow_execution(
        StartWorkflowExecutionRequest(
            namespace=client.namespace,
            workflow_id=workflow_id,
            workflow_type=WorkflowType(name=kind),
            task_queue=TaskQueue(name=WORKFLOW_QUEUE),
            input=Payloads(payloads=payloads),
            request_id=workflow_id,
        )
    )


async def until_read_by(handle: WorkflowHandle[Any, Any], page: int, source: str) -> None:
    async with asyncio.timeout(60):
        while True:
            (found,) = await handle.query("pages", page)
            if found["source"] == source:
                return
            await asyncio.sleep(0.1)


async def result_of(client: Client, workflow_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        found: dict[str, Any] = await client.get_workflow_handle(workflow_id).result()
        return found


async def broken_tasks(handle: WorkflowHandle[Any, Any]) -> list[str]:
    """The tasks that the workflow's own code failed, and not the server."""
    failed = [
        event.workflow_task_failed_event_attributes
        async for event in handle.fetch_history_events()
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED
    ]
    own = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
    return [one.failure.message for one in failed if one.cause == own]


async def test_no_signal_bricks_a_document(site: Site, plain: Client, sealed: Client) -> None:
    """An empty signal once failed its task for ever, and the deadline passed unheard."""
    site.vendor.reset()
    site.vendor.behave(vendor_hangs())
    site.detach("odd", "--deadline", "12s", "--user", "anna")
    handle = plain.get_workflow_handle("document-odd")
    sent = site.temporal("workflow", "signal", "-w", "document-odd", "--name", "retry")
    assert sent.returncode == 0, sent.stderr
    for given in ODD:
        for name in ("retry", "cancel", "no_such_signal"):
            await handle.signal(name, args=given)
    for payload in UNREADABLE:
        for name in ("retry", "cancel", "no_such_signal"):
            await signal_raw(plain, "document-odd", name, payload)
    result = await result_of(sealed, "document-odd")
    assert result["metadata"]["timeout_occurred"] is True, "the deadline was heard"
    assert result["metadata"]["cancelled"] is False, "by nobody but its owner"
    assert await broken_tasks(handle) == []
    assert "signal_refused" in site.log
    assert SECRET not in site.log


async def test_queries_and_updates_answer(site: Site, plain: Client, sealed: Client) -> None:
    site.vendor.reset()
    site.vendor.behave(vendor_hangs())
    site.vendor.behave(vendor_fails(400), marker="page 5 of", first=1)
    site.detach("asked", "--deadline", "5m", "--pages", "3-6")
    handle = sealed.get_workflow_handle("document-asked")
    await asyncio.to_thread(site.vendor.wait_for_calls, 2, timeout=60)
    for given in ODD:
        for name in ("status", "breakers", "grid"):
            assert await handle.query(name, args=given) is not None
        for name in ("pages", "texts", "no_such_query"):
            with suppress(WorkflowQueryFailedError):
                await handle.query(name, args=given)
    about = await handle.query("__temporal_workflow_metadata")
    described = {one.name: one.description for one in about.definition.signal_definitions}
    assert 'Input {"user_id"' in described["retry"], "as the Web UI shows it"
    for wanted in ("3-4", [3, 4], {"first": "3", "last": 4}, ["3", "4"]):
        found = await handle.query("pages", wanted)
        assert [page["page"] for page in found] == [3, 4], wanted
    assert [page["page"] for page in await handle.query("pages", 4)] == [4]
    with pytest.raises(WorkflowQueryFailedError, match=r"its pages are not one range such as 1-20"):
        await handle.query("pages", SECRET)
    for payload in UNREADABLE:
        raw = plain.get_workflow_handle("document-asked")
        with pytest.raises(WorkflowQueryFailedError):
            await raw.query("pages", RawValue(payload))
    assert await refusal_of(handle.execute_update("retry_pages", args=[1, 2])) == "INPUT"
    assert await refusal_of(handle.execute_update("retry_pages", {"page": "5"})) == "INPUT"
    assert await refusal_of(handle.execute_update("retry_pages", "five")) == "INPUT"
    assert await refusal_of(handle.execute_update("cancel_document", [7])) == "INPUT"
    assert await refusal_of(handle.execute_update("cancel_document", "bert")) == "NOT_OWNER"
    assert "no_such_update" in await refusal_of(handle.execute_update("no_such_update"))
    for payload in UNREADABLE[1:]:
        assert await refusal_of(raw.execute_update("cancel_document", RawValue(payload)))
    # Everything above left the document well. It has no owner: an empty retry reads the degraded
    # page again, and an empty cancel ends it.
    await until_read_by(handle, 5, "mupdf_fallback")
    site.vendor.behave(vendor_answers(), marker="page 5 of")
    sent = site.temporal("workflow", "signal", "-w", "document-asked", "--name", "retry")
    assert sent.returncode == 0, sent.stderr
    await until_read_by(handle, 5, "ai")
    assert await handle.execute_update("retry_pages", "5") == {"pages": [5]}
    sent = site.temporal("workflow", "signal", "-w", "document-asked", "--name", "cancel")
    assert sent.returncode == 0, sent.stderr
    result = await result_of(sealed, "document-asked")
    assert result["metadata"]["cancelled"] is True


NO_START = [
    (),
    (as_json(None),),
    (as_json(SECRET),),
    (as_json([]),),
    (as_json({}),),
    (as_json({"job_id": "no/id", "source": "x", "unknown": SECRET}),),
    (as_json({"look_again_s": -1}),),
    (as_json({"look_again_s": 1e300}),),
    tuple(UNREADABLE[1:2]),
    tuple(UNREADABLE[2:3]),
    tuple(UNREADABLE[3:4]),
]


async def test_what_is_no_start_ends_at_once(site: Site, plain: Client, sealed: Client) -> None:
    """It once failed its first task for ever, and kept `clean` from cleaning."""
    for number, payloads in enumerate(NO_START):
        for kind in ("DocumentWorkflow", "WatchWorkflow"):
            await start_raw(plain, f"document-{kind}-{number}", kind, *payloads)
    # From a client of a later version, perhaps: a worker that knows the field may come.
    newer = {"job_id": "newer", "source": "https://quire.invalid/a.pdf", "unknown": SECRET}
    await start_raw(plain, "document-newer", "DocumentWorkflow", as_json(newer))
    for number in range(len(NO_START)):
        document = sealed.get_workflow_handle(f"document-DocumentWorkflow-{number}")
        async with asyncio.timeout(60):
            with pytest.raises(WorkflowFailureError) as failed:
                await document.result()
            # Nothing, and what has other fields, is a watch as good as any.
            with suppress(WorkflowFailureError):
                await sealed.get_workflow_handle(f"document-WatchWorkflow-{number}").result()
        assert isinstance(failed.value.cause, ApplicationError)
        assert failed.value.cause.details[0]["reason"] == "INPUT", number
        assert await broken_tasks(document) == []
    status = await asyncio.to_thread(site.tool.run, "status", "DocumentWorkflow-3", "--json")
    assert status.json["error"]["reason"] == "INPUT", status.err
    cleaned = await asyncio.to_thread(site.tool.run, "clean", "--older-than", "2h")
    assert cleaned.code == 0, cleaned.err
    again = await asyncio.to_thread(site.tool.process, site.pdf, "--job-id", "newer")
    assert (again.code, again.json["error"]["reason"]) == (4, "INPUT"), again.err
    assert SECRET not in site.log
    await plain.get_workflow_handle("document-newer").terminate()
