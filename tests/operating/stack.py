"""The production stack's files, as tests read them."""

import json
import re
import subprocess
from typing import Any

import yaml

from domain import measures
from tests.tool import ROOT

COMPOSE = ROOT / "docker-compose.temporal.yml"
DEPLOY = ROOT / "deploy"


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())
    return found


def panels() -> dict[str, list[str]]:
    """The queries of the dashboard's panels, by title."""
    dashboard = json.loads((DEPLOY / "grafana/dashboards/quire.json").read_text())
    return {
        panel["title"]: [target["expr"] for target in panel["targets"]]
        for panel in dashboard["panels"]
        if "targets" in panel
    }


def expressions() -> list[str]:
    """Every query of the dashboard and of the alert rules."""
    shown = [query for queries in panels().values() for query in queries]
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"]
    return shown + [rule["expr"] for group in groups for rule in group["rules"]]


def metric_names(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:quire|temporal)_\w+", expression))


def known_names() -> set[str]:
    """What the metrics endpoint can show of ours."""
    plain = {m.exposed for m in measures.ALL if m.kind != "time"}
    timed = {m.exposed for m in measures.ALL if m.kind == "time"}
    return plain | {f"{name}_{part}" for name in timed for part in ("bucket", "sum", "count")}


def run(*command: object, **settings: str) -> str:
    """Run to a good end, or fail with what it said; returns its output."""
    ran = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=60,
        env=settings or None,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
