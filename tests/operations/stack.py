"""The production stack's files, as tests read them."""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import yaml

from quire.telemetry import metrics
from testing.tool import ROOT

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


def worded() -> list[tuple[str, str]]:
    """Every query of ours with the words that are filled in from its labels."""
    dashboard = json.loads((DEPLOY / "grafana/dashboards/quire.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", [])]
    groups = yaml.safe_load((DEPLOY / "prometheus/alerts.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    found = [(target["expr"], target["legendFormat"]) for target in targets]
    found += [(rule["expr"], " ".join(rule["annotations"].values())) for rule in rules]
    return [(expression, words) for expression, words in found if "quire_" in expression]


def labels_kept(expression: str) -> set[str]:
    """The labels that the answer has: those of a `by`, at its beginning or anywhere within."""
    return {label for kept, _ in _groupings(_bare(expression)) for label in kept}


def labels_asked(expression: str) -> set[tuple[str, str]]:
    """Which metric of ours is asked for which label, in braces or by a `by` around it."""
    bare = _bare(expression)
    found = {
        (name, label)
        for name, matchers in re.findall(r"\b(quire_\w+)\{([^}]*)\}", bare)
        for label in re.findall(r"\w+", matchers)
    }
    for kept, within in _groupings(bare):
        found |= {(name, label) for name in re.findall(r"\bquire_\w+", within) for label in kept}
    return found


def _bare(expression: str) -> str:
    """Without the values of labels; in the one way of writing that is understood here."""
    bare = re.sub(r'"[^"]*"', "", expression)
    assert not re.search(r"\b(on|without|ignoring|group_\w+)\b|\)\s*by\b|\bby\(", bare), expression
    return bare


def _groupings(bare: str) -> Iterator[tuple[list[str], str]]:
    """Every `by (labels) (what is within)`."""
    for match in re.finditer(r"\bby \(([^)]*)\) \(", bare):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(bare[end], 0)
            end += 1
        yield re.findall(r"\w+", match.group(1)), bare[match.end() : end]


def known_labels() -> dict[str, set[str]]:
    """What the metrics endpoint can show of ours, and the labels it has there."""
    found = {m.exposed: set(m.labels) for m in metrics.ALL if m.kind != "time"}
    for measure in metrics.ALL:
        if measure.kind == "time":
            found[f"{measure.exposed}_bucket"] = {*measure.labels, "le"}
            found[f"{measure.exposed}_sum"] = set(measure.labels)
            found[f"{measure.exposed}_count"] = set(measure.labels)
    return found


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
