"""The quick lane: a test that starts a server cannot slip into it, and skips are said."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.lanes import started_server

ROOT = Path(__file__).resolve().parents[1]
SERVER = str(Path(sys.executable).with_name("temporal"))
SAMPLE = f"""
import subprocess
from contextlib import suppress
import pytest

COMMAND = [{SERVER!r}, "server", "start-dev"]

def test_plain():
    subprocess.run(["true"], check=True)

def test_server():
    subprocess.run(COMMAND)

def test_server_unnoticed():
    with suppress(Exception):
        subprocess.run(COMMAND)

@pytest.fixture
def s3():
    return 3

def test_by_fixture(s3):
    assert s3 == 3

@pytest.mark.skip(reason="needs a thing (make thing)")
def test_skipped():
    pass
"""


@pytest.mark.parametrize(
    ("command", "server"),
    [
        ([SERVER, "server", "start-dev"], "temporal server"),
        ([SERVER, "--version"], ""),
        (["/somewhere/weed", "mini"], "weed"),
        (["prometheus", "--config.file=x"], "prometheus"),
        (["promtool", "check", "rules"], ""),
        ([sys.executable, ROOT / "starter.py", "list"], "starter.py"),
        ([sys.executable, "-m", "testing.vendor"], ""),
        ("true", ""),
        (b"weed", "weed"),
    ],
)
def test_servers_are_known_by_their_command(command: object, server: str) -> None:
    assert started_server(None, command) == server


def run_sample(folder: Path, *arguments: str) -> str:
    (folder / "test_sample.py").write_text(SAMPLE)
    return run_pytest(folder, *arguments)


def run_pytest(folder: Path, *arguments: str) -> str:
    plugins = ("-p", "no:cacheprovider", "-p", "tests.lanes", "-p", "tests.skip_report")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "/dev/null", *plugins, *arguments, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return ran.stdout


@pytest.mark.parametrize("parallel", [(), ("-n", "2")], ids=["alone", "parallel"])
def test_a_server_in_the_quick_lane_fails(tmp_path: Path, parallel: tuple[str, ...]) -> None:
    said = run_sample(tmp_path, "-m", "not servers", *parallel)
    failed = [line.split()[1] for line in said.splitlines() if line.startswith("FAILED")]
    names = sorted(name.rpartition("::")[2] for name in failed)
    assert names == ["test_server", "test_server_unnoticed"], said
    assert "2 failed, 1 passed, 1 skipped" in said, said
    assert "    1  needs a thing (make thing)" in said
    assert "    1  left out here; `make test` runs everything" in said


def test_it_is_said_that_nothing_was_skipped(tmp_path: Path) -> None:
    said = run_sample(tmp_path, "-k", "fixture or plain")
    assert "2 passed" in said, said
    assert "    3  left out here" in said
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "test_one.py").write_text("def test_one():\n    pass\n")
    said = run_pytest(tmp_path / "one")
    assert "1 passed" in said, said
    assert "none" in said.partition("skipped tests")[2].splitlines()
