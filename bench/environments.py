"""A virtual environment for each other tool: made once, outside of this repository, and kept.

`QUIRE_BENCH_ENVIRONMENTS` names another folder than `~/.cache/quire-bench`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

INSTALL_WITHIN_S = 900.0
# What was asked for; written last, so that half an environment is never taken for a whole one.
COMPLETE = "quire-bench.txt"
# Programs that peers need, by the Debian package that has them.
PACKAGES = dict.fromkeys(("pdfinfo", "pdftocairo", "pdftoppm", "pdftotext"), "poppler-utils")


class CannotInstall(Exception):
    """Why a peer is not measured here, in a line."""


def folder() -> Path:
    named = os.environ.get("QUIRE_BENCH_ENVIRONMENTS")
    return Path(named) if named else Path.home() / ".cache" / "quire-bench"


def environment(
    name: str, requirements: Sequence[str], programs: Sequence[str], *, install: bool
) -> Path:
    """The environment's folder; made if need be and if `install` allows it."""
    for program in programs:
        if shutil.which(program) is None:
            package = PACKAGES.get(program, program)
            raise CannotInstall(f"it needs {program}: install the Debian package {package}")
    target = folder() / name
    wanted = "\n".join(requirements) + "\n"
    complete = target / COMPLETE
    if complete.exists() and complete.read_text() == wanted:
        return target
    if not install:
        raise CannotInstall("not installed; make bench-full installs it")
    shutil.rmtree(target, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(target)], 120.0)
    install_command = [str(python(target)), "-m", "pip", "install", "--quiet"]
    _run([*install_command, "--disable-pip-version-check", *requirements], INSTALL_WITHIN_S)
    complete.write_text(wanted)
    return target


def python(target: Path) -> Path:
    return target / "bin" / "python"


def _run(command: list[str], within_s: float) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=within_s)
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(f"cannot be installed: not done after {within_s:.0f} s") from error
    if ran.returncode != 0:
        said = [line.strip() for line in ran.stderr.splitlines() if line.startswith("ERROR")]
        raise CannotInstall(f"cannot be installed: {said[-1] if said else 'pip failed'}"[:200])
