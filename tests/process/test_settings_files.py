"""Settings in files, as a person has them: in the folder where the command is run."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing.cluster import Cluster
from testing.s3 import BUCKET, S3Server
from testing.tool import ROOT, Ran, Tool, own_environment
from testing.vendor import vendor_answers_late
from testing.vendor.standin import StandIn

SECRET = "sk-only-in-a-file-0123456789"

pytestmark = pytest.mark.servers


def run_in(folder: Path, *arguments: object, **variables: str) -> Ran:
    """The tool in this folder, with nothing in its environment but these variables."""
    environment = {k: v for k, v in own_environment().items() if k != "QUIRE_CONFIG"}
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(ROOT / "starter.py"), *map(str, arguments)],
        cwd=folder, env={**environment, **variables}, capture_output=True, text=True,
        timeout=120.0, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout, done.stderr, time.monotonic() - started)


def lines(folder: Path, vendor: StandIn) -> str:
    return (
        f"OPENAI_API_KEY={SECRET}\nOPENAI_BASE_URL={vendor.openai_url}\n"
        f"STATE_DIR={folder / 'state'}\nLOCAL_OCR=Never\nSECONDARY_ENGINE=openai\n"
    )


def processes_with(secret: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if secret.encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_a_detached_job_has_the_settings_of_its_folder_and_no_child_has_the_secret(
    tmp_path: Path, vendor: StandIn, mixed: Path
) -> None:
    vendor.behave(vendor_answers_late(1.0))
    (tmp_path / ".env").write_text(lines(tmp_path, vendor))
    (tmp_path / "quire.toml").write_text('[openai]\nprimary_model = "of-the-toml"\n')
    started = run_in(tmp_path, "process", mixed, "--detach", "--job-id", "here")
    assert started.code == 0, started.err
    until = time.monotonic() + 30
    while not vendor.calls() and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(SECRET) == []
    ran = run_in(tmp_path, "watch", "here", "--json")
    assert ran.code == 0, ran.err
    assert set(ran.models()) >= {"of-the-toml"}
    assert {call.headers["authorization"] for call in vendor.calls()} == {f"Bearer {SECRET}"}
    logs = [path for path in (tmp_path / "state").rglob("*.log") if path.is_file()]
    assert logs
    assert not [path for path in logs if SECRET.encode() in path.read_bytes()]


def test_a_named_file_counts_from_any_folder_and_for_background_work(
    tmp_path: Path, vendor: StandIn, mixed: Path
) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (tmp_path / "named.env").write_text(lines(tmp_path, vendor))
    (other / ".env").write_text("MAX_PAGES=1\n")
    started = run_in(
        other, "--config", "../named.env", "process", mixed, "--detach", "--job-id", "far"
    )
    assert started.code == 0, started.err
    ran = run_in(other, "--config", "../named.env", "watch", "far", "--json")
    assert ran.code == 0, ran.err
    assert {call.headers["authorization"] for call in vendor.calls()} == {f"Bearer {SECRET}"}


def test_doctor_says_which_files_were_read(tmp_path: Path, vendor: StandIn) -> None:
    (tmp_path / ".env").write_text(lines(tmp_path, vendor))
    (tmp_path / ".env").chmod(0o644)
    ran = run_in(tmp_path, "doctor", "--json")
    [settings] = [check for check in ran.json["checks"] if check["name"] == "settings"]
    assert str(tmp_path / ".env") in settings["detail"]
    assert f"chmod 600 {tmp_path / '.env'}" in settings["remedy"]
    assert SECRET not in ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--config", "nowhere.toml", "list"), "nowhere.toml: No such file or directory."),
        (("list", "--json"), "broken.toml"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "broken.toml").write_text("max_pages = \n")
    variables = {} if "--config" in arguments else {"QUIRE_CONFIG": "broken.toml"}
    ran = run_in(tmp_path, *arguments, **variables)
    assert ran.code == 2
    assert said in ran.err
    assert ran.err.count("\n") == 1
    if "--json" in arguments:
        assert json.loads(ran.out)["error"]["code"] == "UNKNOWN"


def test_a_bucket_by_a_file(tmp_path: Path, s3: S3Server, vendor: StandIn, mixed: Path) -> None:
    access = "".join(f"{name}={value}\n" for name, value in s3.settings.items())
    place = f"s3://{BUCKET}/{tmp_path.name}"
    (tmp_path / ".env").write_text(
        lines(tmp_path, vendor) + access + f"STORE_URL={place}/store\nRESULTS_URL={place}/out\n"
    )
    ran = run_in(tmp_path, "process", mixed, "--json", "--job-id", "b")
    assert ran.code == 0, ran.err
    assert s3.read(f"{place}/out/b/text.txt")
    denied = run_in(tmp_path, "result", "b", QUIRE_AWS_SECRET_ACCESS_KEY="wrong")
    assert denied.code != 0


def test_a_cluster_by_a_file(tmp_path: Path, vendor: StandIn, mixed: Path) -> None:
    with Cluster(tmp_path / "cluster") as cluster:
        served = Tool(tmp_path / "served", vendor)
        cluster.start_worker(served)
        (tmp_path / "quire.toml").write_text(
            f'store_url = "{served.state}/store"\nresults_url = "{served.state}/results"\n'
            f'[temporal]\naddress = "{cluster.address}"\n'
        )
        ran = run_in(tmp_path, "process", mixed, "--json", STATE_DIR=str(tmp_path / "state"))
        assert ran.code == 0, ran.err
        assert not (tmp_path / "state" / "temporal.db").exists()
