"""The end of every run says what was skipped and why, or that nothing was."""

from collections import Counter
from typing import Any

import pytest

from tests.lanes import LEFT_OUT

KEY = "quire_left_out"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of a run in parallel hands its count to the process that prints."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[KEY] = session.config.stash[LEFT_OUT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so each of them reports the same number."""
    config: pytest.Config = node.config
    config.stash[LEFT_OUT] = max(
        config.stash[LEFT_OUT], getattr(node, "workeroutput", {}).get(KEY, 0)
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Reasons with their counts; a reason names what to run."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    left_out = terminalreporter.config.stash[LEFT_OUT]
    terminalreporter.section("skipped tests", sep="-")
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count:5d}  {reason}")
    if left_out:
        terminalreporter.line(f"{left_out:5d}  left out here; `make test` runs everything")
    if not reasons and not left_out:
        terminalreporter.line("none")


def _reason(report: Any) -> str:
    where = report.longrepr
    words = where[2] if isinstance(where, tuple) else str(where)
    return str(words).removeprefix("Skipped: ")
