"""A worker of its own, to see what it leaves behind when it ends in any way."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing import pdfs
from tests.pdf.processes import alive, descendants

ROOT = Path(__file__).parents[2]

# Says on its output what it found, then draws for ever, waits, or just ends.
WORKER = """
import asyncio, json, os, sys
from pathlib import Path
print("main script runs as", __name__, file=sys.stderr)
from quire.pdf.reader import Documents
from quire.contracts.reading import ImageOptions

async def main(endless, after):
    documents = Documents(processes=2)
    documents.warm_up()
    pages = await documents.inspect(Path(endless))
    await documents.render(Path(endless), 2, ImageOptions())
    print(json.dumps({"pages": pages, "mupdf": "pymupdf" in sys.modules}), flush=True)
    if after == "draw":
        await documents.render(Path(endless), 1, ImageOptions())
    elif after == "wait":
        await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    path = tmp_path / "worker_script.py"
    path.write_text(WORKER)
    endless = pdfs.endless_pdf(tmp_path / "endless.pdf", endless_page=1, pages=2)
    return [sys.executable, str(path), str(endless)]


def begin(command: list[str], after: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    worker = subprocess.Popen(
        [*command, after],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert worker.stdout is not None
    line = worker.stdout.readline()
    assert line, worker.stderr.read() if worker.stderr else ""
    return worker, json.loads(line)


def gone_within(pids: list[int], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("after", ["draw", "wait"])
def test_a_killed_parent_leaves_no_orphan(script: list[str], after: str) -> None:
    worker, found = begin(script, after)
    assert found == {"pages": 2, "mupdf": False}
    time.sleep(0.3)
    family = descendants(worker.pid)
    assert len(family) >= 3, "fork server, resource tracker and a child"
    worker.kill()
    worker.communicate(timeout=10)
    assert gone_within(family, 5), [pid for pid in family if alive(pid)]


def test_ctrl_c_is_the_parents_alone(script: list[str]) -> None:
    worker, _ = begin(script, "draw")
    time.sleep(0.3)
    family = descendants(worker.pid)
    os.killpg(worker.pid, signal.SIGINT)
    _, noise = worker.communicate(timeout=15)
    assert gone_within(family, 5)
    # The script itself gets the signal, and says so; its children do not.
    assert noise.count("KeyboardInterrupt\n") == 1, noise
    assert "Process pebble" not in noise
    assert "forkserver" not in noise


def test_ending_without_closing_is_clean_and_quick(script: list[str]) -> None:
    began = time.monotonic()
    worker, _ = begin(script, "end")
    family = descendants(worker.pid)
    _, noise = worker.communicate(timeout=15)
    assert worker.returncode == 0
    assert time.monotonic() - began < 12
    # The script ran once: a child that ran it again would have said so.
    assert noise == "main script runs as __main__\n"
    assert gone_within(family, 5)
