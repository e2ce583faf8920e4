"""Documents started by others: plain JSON, from a plain client and by Temporal's command line."""

import asyncio
import base64
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, Interceptor, OutboundInterceptor, WorkflowFailureError
from temporalio.exceptions import ApplicationError

from quire.contracts.names import SIGNATURE_HEADER, SIGNING_KEY
from quire.temporal.embedded import find_binary
from testing import pdfs
from testing.cluster import Cluster
from testing.s3 import BUCKET, S3Server
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_hangs
from testing.vendor.standin import StandIn
from tools.write_schemas import FOLDER

GUIDE = (ROOT / "docs/integration.md").read_text(encoding="utf-8")
KEYS = "a:" + "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI="
pytestmark = pytest.mark.servers


@dataclass(frozen=True)
class Site:
    """A cluster with a worker, the tool as its client, and a folder that workers may read."""

    cluster: Cluster
    worker: Tool
    tool: Tool
    inbox: Path
    vendor: StandIn

    async def start(self, request: dict[str, Any], id: str | None = None, **options: Any) -> Any:
        """The result of a start by a client that knows nothing of Quire."""
        client = await Client.connect(self.cluster.address, **options)
        started_as = id or f"document-{request.get('job_id')}"
        work = client.execute_workflow(
            "DocumentWorkflow", request, id=started_as, task_queue="quire"
        )
        return await asyncio.wait_for(work, 60)

    async def refusal(self, request: dict[str, Any], id: str | None = None, **options: Any) -> str:
        """The reason for which the start is refused."""
        with pytest.raises(WorkflowFailureError) as failure:
            await self.start(request, id, **options)
        cause = failure.value.cause
        assert isinstance(cause, ApplicationError)
        assert cause.non_retryable
        reason: str = cause.details[0]["reason"]
        assert cause.details[0]["remedy"]
        assert cause.type == "FORBIDDEN", cause
        return reason


def open_site(folder: Path, vendor: StandIn, cluster: Cluster, **settings: str) -> Site:
    worker = Tool(folder / "worker", vendor, **settings).warmed()
    inbox = folder / "inbox"
    inbox.mkdir(parents=True)
    pdfs.mixed_pdf(inbox / "report.pdf", 4, 2)
    (folder / "secret.pdf").write_bytes((inbox / "report.pdf").read_bytes())
    (inbox / "escape.pdf").symlink_to(folder / "secret.pdf")
    cluster.start_worker(worker, SOURCE_ROOTS=str(inbox))
    places = {
        "STORE_URL": str(worker.state / "store"),
        "RESULTS_URL": str(worker.state / "results"),
    }
    keys = {name: value for name, value in settings.items() if name.startswith("ENCRYPT")}
    tool = Tool(folder / "client").also(TEMPORAL_ADDRESS=cluster.address, **places, **keys)
    return Site(cluster, worker, tool.warmed(), inbox, vendor)


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Workers as they are by default."""
    folder = tmp_path_factory.mktemp("closed")
    with StandIn() as vendor, Cluster(folder / "cluster") as cluster:
        yield open_site(folder, vendor, cluster)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, s3: S3Server) -> Iterator[Site]:
    """Workers that accept unsigned starts."""
    folder = tmp_path_factory.mktemp("opened")
    with StandIn() as vendor, Cluster(folder / "cluster") as cluster:
        yield open_site(folder, vendor, cluster, ACCEPT_UNSIGNED="true", **s3.settings)


class Replayed(Interceptor):
    """Sends a signature that was made for another start."""

    def __init__(self, payload: Payload) -> None:
        self.payload = payload

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        payload = self.payload

        class Outbound(OutboundInterceptor):
            async def start_workflow(self, input: Any) -> Any:
                input.headers = {SIGNATURE_HEADER: payload}
                return await super().start_workflow(input)

        return Outbound(next)


async def stolen_start(site: Site, job_id: str) -> tuple[Payload, dict[str, Any]]:
    """The signature and the input of a start by the tool, as its history shows them."""
    client = await Client.connect(site.cluster.address)
    history = await client.get_workflow_handle(f"document-{job_id}").fetch_history()
    begun = history.events[0].workflow_execution_started_event_attributes
    return begun.header.fields[SIGNATURE_HEADER], json.loads(begun.input.payloads[0].data)


async def test_default_is_closed_for_others_and_open_for_the_tool(closed: Site) -> None:
    path = str(closed.inbox / "report.pdf")
    for source in (path, "https://example.invalid/a.pdf", "s3://bucket/a.pdf"):
        assert await closed.refusal({"job_id": "foreign", "source": source}) == "UNSIGNED"
    ran = closed.tool.process(closed.inbox / "report.pdf", "--job-id", "own")
    assert ran.code == 0, ran.err
    again = closed.tool.run("retry", "own", "--pages", "5", "--json")
    assert again.code == 0, again.err
    forced = closed.tool.process(closed.inbox / "report.pdf", "--job-id", "own", "--force")
    assert forced.code == 0, forced.err
    assert (closed.worker.state / "store" / SIGNING_KEY).is_file()
    shown = closed.tool.run("result", "foreign")
    assert "ACCEPT_UNSIGNED" in shown.err
    other_key = closed.tool.also(ENCRYPTION_KEYS=KEYS)
    ran = other_key.process(closed.inbox / "report.pdf", "--job-id", "other-key")
    assert ran.code == 4, ran.err
    assert ran.json["error"]["reason"] == "BAD_SIGNATURE"


async def test_signature_of_another_start_is_refused(closed: Site) -> None:
    ran = closed.tool.process(closed.inbox / "report.pdf", "--job-id", "signed", "--user", "ana")
    assert ran.code == 0, ran.err
    signature, request = await stolen_start(closed, "signed")
    replayed = {"interceptors": [Replayed(signature)]}
    for changed, id in (
        ({**request, "user_id": "eve"}, "document-signed"),
        ({**request, "source": "/etc/hostname"}, "document-signed"),
        (request, "document-other"),
        ({**request, "job_id": "other"}, "document-other"),
    ):
        assert await closed.refusal(changed, id, **replayed) == "BAD_SIGNATURE"
    result = await closed.start(request, "document-signed", **replayed)
    assert result["job_id"] == "signed", "the very same start is the tool's own"


async def test_carried_state_needs_a_run_before_it(closed: Site, opened: Site) -> None:
    plan = json.loads((ROOT / "tests/replay/histories/continued-1.json").read_text())
    begun = plan["events"][0]["workflowExecutionStartedEventAttributes"]
    carried = json.loads(base64.b64decode(begun["input"]["payloads"][0]["data"]))
    assert carried["carried"]
    for site in (closed, opened):
        forged = {**carried, "job_id": "forged"}
        assert await site.refusal(forged) == "NOT_CONTINUED"


async def test_unsigned_starts_are_limited_to_open_origins(opened: Site, s3: S3Server) -> None:
    document = opened.inbox / "report.pdf"
    result = await opened.start({"job_id": "rooted", "source": str(document)})
    assert result["metadata"]["pages_done"] == 6
    s3.client().put_object(Bucket=BUCKET, Key="in/report.pdf", Body=document.read_bytes())
    source = f"s3://{BUCKET}/in/report.pdf"
    result = await opened.start({"job_id": "bucket", "source": source})
    assert result["metadata"]["pages_done"] == 6
    for number, (origin, reason) in enumerate(
        (
            (str(opened.inbox / "escape.pdf"), "OUTSIDE_ROOTS"),
            (str(opened.inbox / ".." / "secret.pdf"), "UNSIGNED_ORIGIN"),
            ("/etc/hostname", "UNSIGNED_ORIGIN"),
            ("http://127.0.0.1:9/a.pdf", "UNSIGNED_ORIGIN"),
            ("store:" + result["sha256"], "UNSIGNED_ORIGIN"),
        )
    ):
        found = await opened.refusal({"job_id": f"no-{number}", "source": origin})
        assert found == reason, origin
    # Accepted as an origin; loopback is then refused as an address.
    with pytest.raises(WorkflowFailureError) as failure:
        await opened.start({"job_id": "web", "source": "https://127.0.0.1:9/a.pdf"})
    assert isinstance(failure.value.cause, ApplicationError)
    assert failure.value.cause.details[0]["reason"] == "PRIVATE_ADDRESS"
    request = {"job_id": "rooted", "source": str(document)}
    assert await opened.refusal(request, "document-x") == "UNSIGNED_REQUEST"
    assert await opened.refusal({**request, "retry": {}}) == "UNSIGNED_REQUEST"


async def test_encrypted_payloads_are_signed_too(tmp_path: Path, vendor: StandIn) -> None:
    with Cluster(tmp_path / "cluster") as cluster:
        settings = {"ENCRYPTION_KEYS": KEYS, "ENCRYPT_PAYLOADS": "true"}
        site = open_site(tmp_path, vendor, cluster, **settings)
        ran = site.tool.process(site.inbox / "report.pdf", "--job-id", "sealed")
        assert ran.code == 0, ran.err
        assert not (site.worker.state / "store" / SIGNING_KEY).exists()


# --- the guide ------------------------------------------------------------------------------


def check_against(name: str, data: Any, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(data))
    validator = Path(sys.executable).with_name("check-jsonschema")
    schema = ROOT / FOLDER / f"{name}.json"
    ran = subprocess.run(
        [validator, "--schemafile", schema, path], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stdout


def run(command: str, site: Site) -> str:
    words = shlex.split(command.replace("/data/in/report.pdf", str(site.inbox / "guide.pdf")))
    ran = subprocess.run(
        [find_binary(), *words[1:], *(["-o", "json"] if words[2] != "signal" else [])],
        env={**os.environ, "TEMPORAL_ADDRESS": site.cluster.address},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, f"{command}: {ran.stderr}{ran.stdout}"
    return ran.stdout


async def test_commands_of_the_guide_work(opened: Site, tmp_path: Path) -> None:
    [block] = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    commands = block.strip().splitlines()
    # Bytes of its own: nothing of it is in the store.
    document = opened.inbox / "guide.pdf"
    document.write_bytes((opened.inbox / "report.pdf").read_bytes() + b"\n% of the guide\n")
    opened.vendor.reset()
    opened.vendor.behave(vendor_hangs())
    try:
        run(commands[0], opened)
        opened.vendor.wait_for_calls(1, timeout=60)
        said = {line.split("--type ")[-1].split("--name ")[-1].split()[0]: run(line, opened)
                for line in commands[1:-1]}  # fmt: skip
        run(commands[-1], opened)
        # The command writes empty lists as null: the schemas are for what the server has.
        client = await Client.connect(opened.cluster.address)
        handle = client.get_workflow_handle("document-report-7")
        status, result = await handle.query("status"), await handle.result()
    finally:
        opened.vendor.release()
        opened.vendor.reset()
    assert list(said) == [
        "status", "pages", "breakers", "grid", "texts", "retry_pages", "retry", "cancel",
    ]  # fmt: skip
    assert json.loads(said["status"])["queryResult"][0]["completed_items"] == 4
    check_against("status", status, tmp_path)
    assert len(json.loads(said["pages"])["queryResult"][0]) == 6
    assert json.loads(said["retry_pages"])["result"] == {"pages": [1, 2]}
    assert result["metadata"]["cancelled"] is True
    check_against("document-result", result, tmp_path)
    report = Path(result["metadata"]["result_local_path"]).with_name("result.json")
    check_against("result", json.loads(report.read_text()), tmp_path)


def test_program_of_the_guide_works(
    opened: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    [program] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    monkeypatch.setenv("TEMPORAL_ADDRESS", opened.cluster.address)
    # In this process: the end of one in which the SDK's threads ran may crash.
    exec(program.replace("/data/in", str(opened.inbox)), {})
    assert "'total_pages': 6" in capsys.readouterr().out
    listed = opened.tool.run("list", "--json")
    assert "report-9" in listed.out
