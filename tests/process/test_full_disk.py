"""A disk that is full says so, by its folder, and leaves nothing half-written behind."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from testing import pdfs
from testing.small_disk import SmallDisk, can_mount
from testing.tool import ROOT, Ran, Tool
from testing.wait import wait_until

pytestmark = pytest.mark.skipif(not can_mount(), reason="no disk can be mounted in a namespace")


def full(ran: Ran, setting: str, folder: Path) -> None:
    assert ran.code == 1, ran.out + ran.err
    error = ran.json["error"]
    assert (error["code"], error["reason"]) == ("IO_ERROR", "DISK_FULL")
    line = ran.err.splitlines()[-1]
    assert f"({setting}) is full: {folder}" in line
    assert "Make room there" in line
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("setting", "size"), [("STORE_URL", "1m"), ("STATE_DIR", "32m")])
def test_a_job_is_refused_and_goes_on_once_there_is_room(
    lone_tool: Tool, one_page: Path, tmp_path: Path, setting: str, size: str
) -> None:
    folder = tmp_path / "disk"
    places = {"STORE_URL": str(tmp_path / "store"), setting: str(folder)}
    with SmallDisk(folder, size) as disk:
        tool = lone_tool.also(**places).within(*disk.enter)
        disk.fill()
        full(tool.process(one_page, "--job-id", "a"), setting, folder)
        locks = {"server.lock", "users.lock"} if setting == "STATE_DIR" else set()
        assert set(disk.files()) == locks
        disk.make_room()
        ran = tool.process(one_page, "--job-id", "a")
        assert ran.code == 0, ran.err


def test_results_wait_for_room_and_copies_do_not(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "disk"
    with SmallDisk(folder, "1m") as disk:
        tool = lone_tool.also(RESULTS_URL=str(folder / "results")).within(*disk.enter)
        disk.fill()
        waiting = tool.start("process", one_page, "--json", "--job-id", "a")
        assert waiting.stderr is not None
        said: list[str] = []
        reader = threading.Thread(target=said.extend, args=(waiting.stderr,))
        reader.start()
        wait_until(lambda: any("the results (RESULTS_URL) is full" in line for line in said))
        assert disk.files() == []
        disk.make_room()
        assert waiting.stdout is not None
        waiting.stdout.read()
        assert waiting.wait(60) == 0, "".join(said)
        reader.join(5)

        disk.fill()
        copy = folder / "copy"
        ran = tool.run("result", "a", "--json", "--out", copy)
        full(ran, "--out", copy)
        assert not [name for name in disk.files() if name.startswith("copy/")]
        disk.make_room()
        assert tool.run("result", "a", "--json", "--out", copy).code == 0
        assert {"copy/text.txt", "copy/result.json"} < set(disk.files())


@pytest.mark.servers
def test_standard_input_needs_room_for_a_while(lone_tool: Tool, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    document = pdfs.text_pdf(tmp_path / "long.pdf")
    document.write_bytes(document.read_bytes() + b"\n%" + b"-" * 500_000)
    with SmallDisk(folder, "128k") as disk, document.open("rb") as given:
        ran = subprocess.run(
            [*disk.enter, sys.executable, str(ROOT / "starter.py"), "process", "-", "--json"],
            env=lone_tool.environment({"TMPDIR": str(folder)}),
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
        )
        full(Ran(ran.returncode, ran.stdout, ran.stderr, 0.0), "TMPDIR", folder)
        assert disk.files() == []
