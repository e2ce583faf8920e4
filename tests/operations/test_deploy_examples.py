"""The examples for systemd and Kubernetes: valid by schema, and true of the worker they start."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from quire.contracts.names import ROLES
from quire.settings import ProviderSettings, Settings
from testing.tool import ROOT

UNIT = ROOT / "deploy/systemd/quire-worker.service"
MANIFESTS = sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
SCHEMA = ROOT / "tests/resources/kubernetes-1.37.json"
CHECK = Path(sys.executable).with_name("check-jsonschema")
KNOWN = {name.upper() for name in Settings.model_fields} | {
    f"{vendor}_{name.upper()}"
    for vendor in ("OPENAI", "ANTHROPIC")
    for name in ProviderSettings.model_fields
}


def objects() -> list[dict[str, Any]]:
    return [one for path in MANIFESTS for one in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [one for one in objects() if one["kind"] == kind]


def fits(documents: list[dict[str, Any]], tmp_path: Path) -> subprocess.CompletedProcess[str]:
    files = []
    for number, one in enumerate(documents):
        files.append(tmp_path / f"{number}.yaml")
        files[-1].write_text(yaml.safe_dump(one))
    return subprocess.run(
        [CHECK, "--schemafile", SCHEMA, *files], capture_output=True, text=True, timeout=60
    )


def test_manifests_fit_kubernetes(tmp_path: Path) -> None:
    assert len(objects()) == 8
    ran = fits(objects(), tmp_path)
    assert ran.returncode == 0, ran.stdout


def test_misspelt_probe_does_not_fit(tmp_path: Path) -> None:
    deployment = of_kind("Deployment")[0]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container["readinesProbe"] = container.pop("readinessProbe")
    ran = fits([deployment], tmp_path)
    assert ran.returncode == 1
    assert "readinesProbe" in ran.stdout, "refused for this reason"


def test_settings_of_the_manifests_exist_and_are_the_same_for_all() -> None:
    settings = of_kind("ConfigMap")[0]["data"] | of_kind("Secret")[0]["stringData"]
    assert {name for name in settings if not name.startswith("AWS_")} <= KNOWN
    found = [one["spec"]["template"]["spec"]["containers"][0] for one in of_kind("Deployment")]
    assert [one["args"] for one in found] == [["--roles", role] for role in ROLES]
    for container in found:
        assert container["envFrom"] == [
            {"configMapRef": {"name": "quire-settings"}},
            {"secretRef": {"name": "quire-secrets"}},
        ]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert settings["HEALTH_ADDRESS"].endswith(f":{ports['health']}")
        assert settings["METRICS_ADDRESS"].endswith(f":{ports['metrics']}")
        assert container["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": "health"}
        assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": "health"}


def test_time_to_stop_is_longer_than_a_call() -> None:
    needed = Settings().request_timeout + 5
    for one in of_kind("Deployment"):
        pod = one["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] > needed
        assert (
            one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]
        )
    [stop] = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT.read_text(), re.MULTILINE)
    assert int(stop) > needed


def test_user_and_places_are_the_image_s() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    for one in of_kind("Deployment"):
        pod = one["spec"]["template"]["spec"]
        assert f"USER {pod['securityContext']['runAsUser']}\n" in dockerfile
        assert f"VOLUME {pod['containers'][0]['volumeMounts'][0]['mountPath']}\n" in dockerfile


def test_settings_of_the_unit_exist() -> None:
    lines = re.findall(r"^Environment=(.*)$", UNIT.read_text(), re.MULTILINE)
    names = {word.partition("=")[0] for line in lines for word in line.split()}
    assert names <= KNOWN | {"TMPDIR"}
    scripts = (ROOT / "pyproject.toml").read_text()
    assert "\nquire-worker = " in scripts


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_unit_passes_systemd(tmp_path: Path) -> None:
    """With a program that exists: the example's is where a person installs it."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/quire/bin/quire-worker", sys.executable))
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60
    )
    said = [line for line in ran.stderr.splitlines() if UNIT.name in line]
    assert said == []
    assert ran.returncode == 0, ran.stderr
