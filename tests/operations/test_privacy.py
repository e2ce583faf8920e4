"""What a failure reveals, and to whom: no key, no page text, no path of the server leaves it."""

import asyncio
import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from temporalio.api.failure.v1 import Failure
from temporalio.client import WorkflowHistory
from temporalio.converter import DataConverter

from quire.contracts.names import workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.converter import data_converter
from quire.temporal.embedded import EmbeddedServer
from testing.collector import Collector
from testing.tool import Tool
from testing.vendor.behaviours import vendor_echoes_secrets
from testing.vendor.standin import StandIn
from testing.worker import running_worker

OPENAI_KEY, ANTHROPIC_KEY = "key-of-openai-do-not-show", "key-of-anthropic-do-not-show"
SECRETS = (OPENAI_KEY, ANTHROPIC_KEY, "harbour", "vessel")


async def history_of(tool: Tool, job: str) -> WorkflowHistory:
    server = EmbeddedServer(tool.state)
    try:
        client = await connect(Settings(), (await server.start()).address)
        return await client.get_workflow_handle(workflow_id(job)).fetch_history()
    finally:
        server.leave()


def failures_in(history: WorkflowHistory) -> Iterator[Failure]:
    """Every failure, each with the causes beneath it."""
    for event in history.events:
        attributes = getattr(event, event.WhichOneof("attributes") or "")
        for name in ("failure", "last_failure"):
            if name in attributes.DESCRIPTOR.fields_by_name and attributes.HasField(name):
                yield getattr(attributes, name)


async def failure_texts(history: WorkflowHistory, converter: DataConverter) -> list[str]:
    """The failures of a history in full, decrypted."""
    found = list(failures_in(history))
    for failure in found:
        await converter.decode_failure(failure)
    return [str(failure) for failure in found]


@pytest.mark.servers
@pytest.mark.long
async def test_broken_store_leaves_neither_path_nor_stack_in_history(
    mixed: Path, tmp_path: Path, vendor: StandIn
) -> None:
    """Plain and sealed at once: each waits a minute and a half for the store to come back."""
    store = tmp_path / "private-place"
    store.mkdir()
    # Where a folder should be: the document is fetched and surveyed, and then it breaks.
    (store / "briefs").write_text("")
    key = "one:" + base64.b64encode(os.urandom(32)).decode()
    tools = {
        False: Tool(tmp_path / "plain", vendor).warmed(),
        True: Tool(tmp_path / "sealed", vendor)
        .warmed()
        .also(ENCRYPT_PAYLOADS="true", ENCRYPTION_KEYS=key),
    }
    broken = [
        asyncio.to_thread(
            tool.run, "process", mixed, "--json", "--job-id", "broken",
            timeout=300.0, STORE_URL=str(store),
        )
        for tool in tools.values()
    ]  # fmt: skip
    for (sealed, tool), ran in zip(tools.items(), await asyncio.gather(*broken), strict=True):
        assert ran.code == 3, ran.err
        assert ran.json["error"]["code"] == "IO_ERROR"
        history = await history_of(tool, "broken")
        settings = Settings(encrypt_payloads=sealed, encryption_keys=SecretStr(key))
        failures = await failure_texts(history, data_converter(settings))
        failed = sum("Storage failed" in failure for failure in failures)
        assert failed >= 2, "of the step and the document"
        whole = "".join(failures) + history.to_json()
        for word in ("Traceback", 'File "', 'File \\"', ".py", "private-place", "NotADirectory"):
            assert word not in whole, word
        assert "private-place" not in ran.out + ran.err


async def test_what_a_vendor_echoes_goes_nowhere(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_echoes_secrets(503), api="openai")
    vendor.behave(vendor_echoes_secrets(400), api="anthropic")
    vendor.behave(vendor_echoes_secrets(400, page=False), api="anthropic", marker="page 7 of")
    settings = {
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "debug",
        "OPENAI_API_KEY": OPENAI_KEY,
        "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
    }
    with Collector() as collector:
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with running_worker(tool, **settings, **otel) as worker:
            client = worker.client(tmp_path / "client").also(**otel)
            ran = client.process(mixed, "--job-id", "echo")
            history = await history_of(tool, "echo")
    assert ran.sources() == {"mupdf": 4, "mupdf_fallback": 8}
    assert {call.status for call in vendor.calls()} >= {400, 503}
    result = Path(ran.json["metadata"]["result_local_path"]).with_name("result.json").read_text()
    places = {
        "spans": collector.raw,
        "logs": "".join(worker.lines).encode(),
        "history": b"".join(event.SerializeToString() for event in history.events),
        "result.json": result.encode(),
        "the tool": (ran.out + ran.err).encode(),
    }
    revealed = [
        (where, word) for where in places for word in SECRETS if word.encode() in places[where]
    ]
    assert revealed == []
    # They are reported, only not in the vendor's words.
    for where in ("history", "result.json"):
        assert b"words that repeat the question" in places[where]
        assert b"400: Cannot parse *** with" in places[where]
    failed = [line for line in map(json.loads, worker.lines) if line["event"] == "attempt_failed"]
    assert {line["outcome"] for line in failed} == {"SERVER", "REQUEST"}
    calls = collector.named("call ")
    assert {span.attributes["error.type"] for span in calls} == {"SERVER", "REQUEST"}
    attempts = collector.named("RunActivity:recognize_page")
    assert {event for span in attempts for event in map(str, span.events)} == {
        "('exception', {'exception.type': 'temporalio.exceptions.ApplicationError'})"
    }
    assert {span.description for span in collector.spans} == {""}
