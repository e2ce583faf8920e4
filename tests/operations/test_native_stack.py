"""The production stack without its containers: the same programs, scripts, settings and
configuration files, on loopback. Temporal's server on PostgreSQL, Grafana and the collector are not
to be had as packages; the development server and a collector of the tests' own stand for them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from testing.cluster import Cluster
from testing.collector import Collector
from testing.s3 import KEYS, S3Server
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_fails
from testing.vendor.standin import StandIn
from testing.worker import fetch, free_port
from tests.operations.prometheus import Answer, prometheus, until
from tests.operations.stack import COMPOSE, DEPLOY, compose, run

BIN = Path(sys.executable).parent
ROLES = ("workflows", "documents", "ai")
# What people write into `.env`.
ENV = {
    "POSTGRES_PASSWORD": "unused",
    "GRAFANA_PASSWORD": "unused",
    "STORE_ACCESS_KEY": KEYS["AWS_ACCESS_KEY_ID"],
    "STORE_SECRET_KEY": KEYS["AWS_SECRET_ACCESS_KEY"],
    "OPENAI_API_KEY": "a-key",
    "ANTHROPIC_API_KEY": "another-key",
}


def settings_of(service: str, places: Mapping[str, str]) -> dict[str, str]:
    """A service's environment as the engine would set it, but for where its neighbours are."""
    found = compose()["services"][service]["environment"]

    def value(text: str) -> str:
        filled = re.sub(
            r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda m: ENV.get(m[1], m[2] or ""), str(text)
        )
        for name, here in places.items():
            filled = filled.replace(name, here)
        return filled

    return {name: value(text) for name, text in found.items() if value(text)}


@dataclass(frozen=True)
class Running:
    """Where the parts of the stack listen."""

    metrics: dict[str, str]
    health: dict[str, str]
    client: Tool


@contextmanager
def workers(cluster: Cluster, places: Mapping[str, str], vendor: StandIn) -> Iterator[Running]:
    """One worker a role, each with the command and the settings of its service."""
    metrics = {role: f"127.0.0.1:{free_port()}" for role in ROLES}
    health = {role: f"127.0.0.1:{free_port()}" for role in ROLES}
    state = Path(cluster.folder)
    for role in ROLES:
        service = compose()["services"][f"worker-{role}"]
        settings = settings_of(f"worker-{role}", places)
        cluster.start_worker(
            Tool(state / role, vendor),
            *service["command"],
            **settings,
            METRICS_ADDRESS=metrics[role],
            HEALTH_ADDRESS=health[role],
            OTEL_BSP_SCHEDULE_DELAY="200",
        )
    # As docs/operations.md says for people on the same machine.
    names = ("TEMPORAL_", "AWS_", "STORE_URL", "RESULTS_URL", "OTEL_")
    same = {k: v for k, v in settings_of("worker-ai", places).items() if k.startswith(names)}
    yield Running(metrics, health, Tool(state / "client", None, **same))


def configuration(metrics: Mapping[str, str]) -> dict[str, Any]:
    """The stack's own, with every scrape each second and addresses instead of names."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
    found["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    found["rule_files"] = [str(DEPLOY / "prometheus" / name) for name in found["rule_files"]]
    [job] = [job for job in found["scrape_configs"] if job["job_name"] == "quire"]
    assert set(job.pop("dns_sd_configs")[0]["names"]) == {f"worker-{role}" for role in metrics}
    job["static_configs"] = [
        {"targets": [target], "labels": {"__meta_dns_name": f"worker-{role}"}}
        for role, target in metrics.items()
    ]
    return found


@pytest.mark.long
def test_the_stack_reads_a_document(
    s3: S3Server, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_fails(503), model="gpt-6.1-sol")
    dynamic = yaml.safe_load((DEPLOY / "temporal/dynamicconfig.yaml").read_text())
    config = {key: json.dumps(values[0]["value"]) for key, values in dynamic.items()}
    with Cluster(tmp_path / "cluster", config) as cluster, Collector() as collector:
        places = {
            "temporal:7233": cluster.address,
            "http://store:8333": s3.url,
            "http://collector:4318": collector.url,
        }
        path = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(tmp_path)}
        prepare_stack(places, path)
        with (
            workers(cluster, places, vendor) as running,
            prometheus(tmp_path / "prometheus", configuration(running.metrics)) as url,
        ):
            for address in running.health.values():
                assert fetch(f"http://{address}/readyz")
            until(url, 'sum by (role) (up{job="quire"})', {(role,): 1.0 for role in ROLES})
            ran = running.client.process(mixed, "--user", "ada")
            assert ran.code == 0, ran.err
            assert ran.sources() == {"mupdf": 4, "ai": 8}
            until(url, "sum(quire_pages_total)", {(): 12.0})
            calls: Answer = {("ai",): float(len(vendor.calls()))}
            until(url, "sum by (role) (quire_vendor_calls_total > 0)", calls)
            assert_rules_are_well(url)
            collector.wait_for("quire process", 1)
            collector.wait_for("call ", len(vendor.calls()))
    text = s3.read(ran.json["metadata"]["result_s3_url"]).decode()
    assert text.startswith("=== Page 1 ===")
    assert len({span.trace for span in collector.spans}) == 1, "one trace over three workers"


def prepare_stack(places: Mapping[str, str], path: Mapping[str, str]) -> None:
    """The stack's one-time jobs, in the order of its dependencies."""
    namespace = settings_of("namespace", places)
    script = compose()["services"]["namespace"]["entrypoint"][-1].replace("/deploy", "temporal")
    run("sh", DEPLOY / script, **path, **namespace)
    settings = settings_of("search-attributes", places)
    [register] = compose()["services"]["search-attributes"]["command"]
    run(sys.executable, ROOT / "worker.py", register, **path, **settings)
    _, script, bucket = compose()["services"]["bucket"]["entrypoint"]
    create = DEPLOY / script.replace("/deploy", "store")
    run(sys.executable, create, bucket, **path, **settings_of("bucket", places))


def assert_rules_are_well(url: str) -> None:
    """Every alert has been evaluated without an error."""
    end = time.monotonic() + 20
    while True:
        groups = json.loads(fetch(f"{url}/api/v1/rules"))["data"]["groups"]
        health = {rule["name"]: rule["health"] for group in groups for rule in group["rules"]}
        if health and set(health.values()) == {"ok"}:
            return
        assert time.monotonic() < end, health
        time.sleep(0.2)


def test_every_variable_of_the_stack_is_known_here() -> None:
    required = set(re.findall(r"\$\{(\w+):\?", COMPOSE.read_text()))
    assert required <= set(ENV)


@pytest.mark.servers
def test_the_database_of_the_stack_starts() -> None:
    """PostgreSQL with the service's own command, until its own health check is content."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("needs PostgreSQL's server (apt-get install postgresql)")
    service = compose()["services"]["postgres"]
    owner = service["environment"]["POSTGRES_USER"]
    port = str(free_port())
    # It refuses to run as root, as the image's does.
    someone: dict[str, Any] = {"user": "nobody"} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        if someone:
            shutil.chown(name, **someone)
        data, programs_in = Path(name) / "data", programs[-1]
        init = [programs_in / "initdb", "-D", data, "-U", owner, "--no-sync"]
        subprocess.run(init, check=True, capture_output=True, cwd=name, **someone)
        program, *arguments = service["command"]
        place = ["-D", str(data), "-p", port, "-k", name, "-c", "listen_addresses=127.0.0.1"]
        server = subprocess.Popen(
            [str(programs_in / program), *place, *arguments],
            cwd=name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **someone,
        )
        try:
            _, *check = service["healthcheck"]["test"]
            wait_for([programs_in / check[0], *check[1:], "-h", "127.0.0.1", "-p", port])
            asked = ["psql", "-h", "127.0.0.1", "-p", port, "-U", owner, "-d", "postgres", "-Atc"]
            shown = run(*asked, "show max_connections", PATH="/usr/bin:/bin")
            assert int(shown) >= 4 * 30, "Temporal's four services, each with two pools"
        finally:
            server.kill()
            server.wait()


def wait_for(command: Sequence[object]) -> None:
    end = time.monotonic() + 30
    while subprocess.run([str(word) for word in command], capture_output=True).returncode:
        assert time.monotonic() < end, command
        time.sleep(0.1)
