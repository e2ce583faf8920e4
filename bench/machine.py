"""On what, with what and when something was measured."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bench.usage import machine_s
from quire.domain.errors import QuireError
from quire.temporal.embedded import find_binary
from testing.tool import ROOT

# Of a core, by whatever else runs.
QUIET = 0.3
BUSY = "cores busy before the run"
PACKAGES = ("temporalio", "pymupdf", "pillow", "openai", "httpx", "pydantic", "pebble")


def facts() -> dict[str, str]:
    """The machine, the versions, the commit and the date, each in words."""
    found = {
        "CPU": f"{_cpu_model()}, {cores()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()}",
        BUSY: f"{busy_cores():.2f}",
        "Python": platform.python_version(),
        "Temporal": _temporal(),
        "packages": ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return {name: value for name, value in found.items() if value}


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def busy_cores(within_s: float = 1.0) -> float:
    """How many cores are at work now. The load average still knows of the part before."""
    began, before = time.monotonic(), machine_s()
    time.sleep(within_s)
    return (machine_s() - before) / (time.monotonic() - began)


def warning(known: Mapping[str, str]) -> str:
    """What a reader must know before the numbers; empty on a quiet machine."""
    before = float(known.get(BUSY, "0"))
    if before <= QUIET:
        return ""
    return f"not a quiet machine: {before:.2f} cores were busy before the run"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _temporal() -> str:
    try:
        return _said(find_binary(), "--version").removeprefix("temporal version ")
    except QuireError:
        return ""


def _commit() -> str:
    commit = _said("git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD")
    # The results themselves are written while others are measured.
    where = ("--", ".", ":!docs/benchmarks")
    changed = _said("git", "-C", str(ROOT), "status", "--porcelain", *where)
    return f"{commit} with changes" if commit and changed else commit


def _said(*command: str) -> str:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip()
