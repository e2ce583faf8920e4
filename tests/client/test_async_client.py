"""The asynchronous client, embedded and with a cluster."""

import asyncio
import time
from pathlib import Path

import pytest

import quire
from quire import errors
from testing.tool import Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

pytestmark = pytest.mark.servers


@pytest.fixture
def cluster_settings(plain_environment: None, shared_tool: Tool, tmp_path: Path) -> dict[str, str]:
    """Settings of a client of the shared cluster, with a state folder of its own."""
    given = {name.lower(): value for name, value in shared_tool.settings.items()}
    return {**given, "state_dir": str(tmp_path / "state")}


async def test_every_call_of_the_embedded_client(
    settings_of_client: dict[str, object], at_vendor: StandIn, own_mixed: Path, fresh: Path
) -> None:
    async with quire.AsyncClient(**settings_of_client) as client:
        letter, estimate = await asyncio.gather(
            client.process(fresh), client.estimate(own_mixed, text_only=True)
        )
        assert "page-001" in letter.text
        assert estimate.calls == 0
        at_vendor.behave(vendor_answers_late(60))
        job = await client.submit(own_mixed, user="anna")
        at_vendor.wait_for_calls(1, timeout=30)
        assert (await job.status()).status == "running"
        numbers = []
        async for page in job.pages():
            numbers.append(page.number)
            at_vendor.release()
        assert numbers == [*range(1, 13)]
        assert await job.wait(10)
        assert not (await client.result(job.job_id)).degraded
        again = await client.retry(job.job_id, 5, user="anna")
        assert (await again.result()).report.changed_pages == (5,)
        with pytest.raises(errors.NotRunning):
            await client.cancel(job.job_id, user="anna")
        assert [page.number async for page in client.pages(fresh)] == [1]
        assert (await client.list(limit=1)).rows
    assert not (Path(str(settings_of_client["state_dir"])) / "server.json").exists()
    with pytest.raises(errors.UsageError, match="closed"):
        await client.status(job.job_id)


async def test_cancelling_a_call_keeps_the_job_of_a_cluster(
    cluster_settings: dict[str, str], shared_vendor: StandIn, own_mixed: Path
) -> None:
    shared_vendor.behave(vendor_answers_late(60))
    async with quire.AsyncClient(**cluster_settings) as client:
        call = asyncio.create_task(client.process(own_mixed, job_id="kept-on"))
        await asyncio.to_thread(shared_vendor.wait_for_calls, 1, timeout=30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.status("kept-on")).status == "running"
        shared_vendor.release()
        assert len((await client.result("kept-on", timeout=60)).pages) == 12
        assert not Path(cluster_settings["state_dir"]).exists(), "no server of its own"


def test_bytes_and_pages_of_a_cluster(
    cluster_settings: dict[str, str], shared_vendor: StandIn, own_mixed: Path
) -> None:
    with quire.Client(**cluster_settings) as client:
        pages = list(client.pages(own_mixed.read_bytes(), name="upload.pdf"))
        assert [page.source for page in pages] == ["mupdf"] * 4 + ["ai"] * 8
        with pytest.raises(errors.JobNotFound):
            client.status("nowhere")


def test_a_cluster_that_does_not_answer_is_an_error(plain_environment: None) -> None:
    began = time.monotonic()
    with (
        quire.Client(temporal_address="127.0.0.1:9") as client,
        pytest.raises(errors.QuireError) as refused,
    ):
        client.status("any")
    assert refused.value.remedy
    assert time.monotonic() - began < 15
