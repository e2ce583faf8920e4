"""Documents that arrive a byte at a time must not stop the worker, nor the other documents."""

import os
import time
from pathlib import Path

import pytest

from testing import pdfs
from testing.s3 import BUCKET, S3Server
from testing.slow_s3 import DrippingS3
from testing.tool import Tool
from testing.wait import wait_until
from testing.worker import RunningWorker, fetch, free_port

pytestmark = pytest.mark.servers
# As many as asyncio's own executor has threads: they would take every one of them.
DRIPPING = min(32, (os.cpu_count() or 1) + 4)


def test_dripping_downloads_stop_nothing_else(
    tool: Tool, s3: S3Server, mixed: Path, tmp_path: Path
) -> None:
    key = f"slow-{tmp_path.name}.pdf"
    s3.client().put_object(Bucket=BUCKET, Key=key, Body=mixed.read_bytes())
    health = f"127.0.0.1:{free_port()}"
    with DrippingS3(s3.url, "/slow-") as slow:
        worker = RunningWorker(
            tool, **slow.settings,
            WORKER_CONCURRENCY="64", REQUEST_TIMEOUT="3s", HEALTH_ADDRESS=health,
        )  # fmt: skip
        try:
            worker.wait_for("worker_started")
            client = worker.client(tmp_path / "client")
            before = _threads(worker)
            # All at once: the first must still be dripping when the last begins.
            _begin(client, f"s3://{BUCKET}/{key}", "18s", *(f"drip-{n}" for n in range(DRIPPING)))
            wait_until(lambda: slow.dripping >= DRIPPING)
            good = client.process(mixed, "--deadline", "20s")
            assert good.code == 0, good.err
            assert not good.json["metadata"]["timeout_occurred"]
            assert good.seconds < 15
            assert '"ready"' in fetch(f"http://{health}/readyz"), "others are served"
            for number in range(DRIPPING):
                ended = client.run("watch", f"drip-{number}", "--json")
                assert ended.code == 3, ended.out + ended.err
                # By its deadline, or because next to nothing came.
                assert ended.json["error"]["code"] in ("GW_TIMEOUT", "IO_ERROR"), ended.out
                assert ended.json["error"]["message"]
            wait_until(lambda: slow.dripping == 0, timeout=20)
            wait_until(lambda: _threads(worker) <= before + 12, timeout=30)
            # A shutdown waits for calls in flight, but not for a download that never ends.
            _begin(client, f"s3://{BUCKET}/{key}", "10m", "drip-last")
            wait_until(lambda: slow.dripping == 1)
        finally:
            began = time.monotonic()
            worker.stop()
        assert time.monotonic() - began < 25
        assert any("worker_stopped" in line for line in worker.lines), worker.lines[-5:]


def test_an_embedded_command_ends_by_the_deadline(tool: Tool, s3: S3Server, tmp_path: Path) -> None:
    key = f"slow-{tmp_path.name}.pdf"
    document = pdfs.text_pdf(tmp_path / "one.pdf")
    s3.client().put_object(Bucket=BUCKET, Key=key, Body=document.read_bytes())
    with DrippingS3(s3.url, "/slow-") as slow:
        ran = tool.also(**slow.settings).run(
            "process", f"s3://{BUCKET}/{key}", "--json", "--deadline", "4s", timeout=60.0
        )
    assert ran.code == 3, ran.err
    assert ran.seconds < 30


def _begin(client: Tool, source: str, deadline: str, *jobs: str) -> None:
    rest = ("--detach", "--json", "--deadline", deadline, "--job-id")
    begun = [client.start("process", source, *rest, job) for job in jobs]
    for command in begun:
        _, err = command.communicate(timeout=60)
        assert command.returncode == 0, err


def _threads(worker: RunningWorker) -> int:
    status = Path(f"/proc/{worker.pid}/status").read_text(encoding="ascii")
    return int(status.partition("Threads:")[2].split()[0])
