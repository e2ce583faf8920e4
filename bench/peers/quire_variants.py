"""Quire beside its peers: the same command line that a person uses, with a new state folder."""

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bench.peers.contest import ANSWER, Claim, Job
from bench.stage import settings_for
from testing.tool import ROOT, Tool
from testing.vendor.standin import Addresses

RESULT = "result.json"
ROUTE = "openai:gpt-6.1-sol"


@dataclass(frozen=True)
class Quire:
    """The tool with some settings; the deadline is given, so that it also keeps to our limit."""

    name: str
    deadline: str
    settings: Mapping[str, str] = field(default_factory=dict)
    answer: str = ANSWER

    def command(self, job: Job) -> list[str]:
        starter = [sys.executable, str(ROOT / "starter.py"), "process", str(job.pdf), "--json"]
        return [*starter, "--out", str(job.out), "--deadline", self.deadline]

    def environment(self, job: Job) -> dict[str, str]:
        vendor = Addresses()
        vendor.url = job.anthropic_url
        tool = Tool(job.folder / "state", vendor, MAX_INFLIGHT_PER_MODEL=str(job.slots))
        return tool.environment(self.settings)

    def imports_s(self) -> float:
        return 0.0

    def document_s(self, job: Job) -> float | None:
        """From the workflow's start to the moment that the result lies where it was asked for:
        the result itself names an earlier end, which is before it was written."""
        result = self._result(job)
        if result is None:
            return None
        started = datetime.fromisoformat(result["started_at"]).timestamp()
        return (job.out / RESULT).stat().st_mtime - started

    def claim(self, job: Job, log: str) -> Claim:
        pages = (self._result(job) or {"pages": []})["pages"]
        degraded = frozenset(page["page"] for page in pages if page["source"] != "ai")
        return Claim(result=degraded, sources=Counter(page["source"] for page in pages))

    def _result(self, job: Job) -> dict[str, Any] | None:
        path = job.out / RESULT
        if not path.exists():
            return None
        result: dict[str, Any] = json.loads(path.read_text())
        return result


def fastest(slots: int) -> Quire:
    """As `bench.limit` runs it: one model, as the peers have."""
    return Quire("quire", "10m", settings_for(slots))


def large_pictures(slots: int) -> Quire:
    """The same with pictures like those of the peers."""
    pictures = {"IMAGE_DPI": "200", "IMAGE_FORMAT": "png"}
    return Quire("quire, 200 dpi PNG", "10m", {**settings_for(slots), **pictures})


def as_it_comes(name: str, deadline: str) -> Quire:
    """Its defaults: other models and MuPDF stand by for a page."""
    return Quire(name, deadline)


def failing_fast(deadline: str) -> Quire:
    """One failure is enough for a route to rest, and no page waits."""
    settings = {"DISPATCH_MODE": "fail_fast", "BREAKER_TRIP": "first"}
    return Quire("quire, fail_fast", deadline, settings)


def holding(deadline: str) -> Quire:
    """As the settings' page advises for an archive overnight: no vendor counts as dead."""
    return Quire("quire, overnight", deadline, {"DISPATCH_MODE": "hold"})


def one_route(deadline: str) -> Quire:
    """One model and no other, as the peers have; all else as it comes."""
    return Quire("quire, one route", deadline, {"ROUTE_CHAIN": ROUTE})
