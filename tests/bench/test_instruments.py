"""What benchmarks measure with: medians, machine facts, usage of processes, spans as shares."""

import os
import subprocess
import sys

import pytest

from bench import machine, spans
from bench.medians import Median, ratio
from bench.stage import ideal_seconds, settings_for
from bench.usage import PeakTree, cpu_of
from testing.collector import Span


def test_median_with_what_it_lay_between() -> None:
    assert Median.of([4.0, 9.0, 5.0]).written() == "5.00 (4.00..9.00)"
    assert Median.of([2.0]).written() == "2.00"
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) is None


def test_ideal_and_settings() -> None:
    assert ideal_seconds(200, 32, 2.0) == 14.0
    assert ideal_seconds(200, 8, 0.3) == pytest.approx(7.5)
    assert settings_for(8)["PAGE_WINDOW"] == "32"
    assert settings_for(32)["PAGE_WINDOW"] == "64"


def test_machine_and_versions() -> None:
    facts = machine.facts()
    assert {"CPU", "cores busy before the run", "Python", "Temporal", "packages", "date"} <= set(
        facts
    )
    assert "cores" in facts["CPU"]
    assert "pymupdf 1." in facts["packages"]
    assert machine.warning({"cores busy before the run": "0.30"}) == ""
    assert "not a quiet machine" in machine.warning({"cores busy before the run": "0.31"})


def test_usage_of_a_process_and_of_its_children_that_ended() -> None:
    """The child below burns a quarter of a second, and its parent outlives it."""
    burn = "import time\\nwhile time.process_time() < 0.25: pass"
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{burn}']);"
        "held = bytearray(50_000_000); print('done', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        with PeakTree(process.pid, every_s=0.05) as peak:
            assert process.stdout is not None
            process.stdout.readline()
        used = cpu_of(process.pid)
        assert used.children >= 0.2
        assert used.total == used.own + used.children
        assert used.since(used).total == 0
        assert (peak.bytes or 0) >= 50_000_000
    finally:
        process.kill()
        process.communicate()
    assert cpu_of(process.pid).own == 0, "a process that is gone costs nothing"
    assert cpu_of(os.getpid()).own > 0


def span(name: str, started: float, ended: float, id: str = "", parent: str = "") -> Span:
    return Span(name, "trace", id, parent, {}, started, ended)


def test_spans_become_shares_that_add_up() -> None:
    """Two slots, three attempts: the third draws while both slots are busy."""
    attempt = "RunActivity:recognize_page"
    found = spans.shares(
        [
            span("RunActivity:survey_document", 1, 3),
            span(attempt, 4, 8, "a"),
            span("draw", 4, 5, "da", "a"),
            span("call x:y", 5, 8, "ca", "a"),
            span(attempt, 5, 8, "b"),
            span("call x:y", 5, 8, "cb", "b"),
            span(attempt, 6, 11, "c"),
            span("draw", 6, 7, "dc", "c"),
            span("wait for slot", 7, 8, "wc", "c"),
            span("call x:y", 8, 10, "cc", "c"),
            span("store", 10, 11, "sc", "c"),
            span("RunActivity:finalize_document", 11, 12),
        ],
        slots=2,
        started=0,
        ended=12,
    )
    assert sum(found.values()) == pytest.approx(12)
    assert found["survey"] == 2
    assert found["draw"] == 0.5, "of the first alone: while slots are busy, drawing costs nothing"
    assert found["call"] == 3 + 2 / 2
    assert found["store"] == 0.5
    assert found["Temporal"] == 1 + 1 + 0.5
    assert found["no page left"] == (2 + 1) / 2
    assert found["finalize"] == 1
    assert found["rest of the attempt"] == 0


def test_an_attempt_that_did_not_wait_for_the_survey_is_temporals() -> None:
    """While the rest is surveyed, a page of the head is already scheduled and on its way."""
    attempt = "RunActivity:recognize_page"
    found = spans.shares(
        [
            span("RunActivity:survey_document", 0, 2),
            span("RunActivity:survey_document", 2, 8),
            span("StartActivity:recognize_page", 3, 3, "asked"),
            span(attempt, 4, 9, "a", "asked"),
            span("call x:y", 4, 9, "ca", "a"),
            span(attempt, 9, 10, "b"),
            span("call x:y", 9, 10, "cb", "b"),
        ],
        slots=2,
        started=0,
        ended=10,
    )
    assert found["Temporal"] == 2 / 2 + 1 / 2, "the page of the head; then the end of the survey"
    assert found["survey"] == 2 + 2 / 2 + 4 / 2
    assert sum(found.values()) == pytest.approx(10)


def test_two_steps_at_once_pages_wait_for_the_first_to_end() -> None:
    found = spans.shares(
        [
            span("RunActivity:survey_document", 0, 4),
            span("RunActivity:write_brief", 0, 1),
            span("StartActivity:recognize_page", 1, 1, "asked"),
            span("RunActivity:recognize_page", 2, 4, "a", "asked"),
            span("call x:y", 2, 4, "ca", "a"),
        ],
        slots=1,
        started=0,
        ended=4,
    )
    assert (found["plan"], found["Temporal"], found["call"], found["survey"]) == (1, 1, 2, 0)
