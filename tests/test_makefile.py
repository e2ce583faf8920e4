"""Each target of the Makefile installs what it needs, and `clean` says what it leaves."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from testing.tool import own_environment

ROOT = Path(__file__).resolve().parents[1]
NEEDS = {
    "demo": "embedded,ocr",
    "docs": "embedded,ocr",
    "bench": "embedded,ocr,bench",
    "test": "embedded,ocr,otel,bench,test",
    "lint": "embedded,ocr,otel,bench,test,lint",
    "check": "embedded,ocr,otel,bench,test,lint",
    "setup": "embedded,ocr,otel,bench,test,lint",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What make looks at, in a folder without a .venv."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


def make(folder: Path, *arguments: str, **settings: str) -> str:
    environment = {**own_environment(), "HOME": str(folder / "home"), **settings}
    ran = subprocess.run(
        ["make", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def installs(folder: Path, target: str) -> list[str]:
    return re.findall(r"pip install .* -e '\.\[([\w,]+)\]'", make(folder, "-n", target))


@pytest.mark.parametrize(("target", "extras"), NEEDS.items())
def test_a_target_installs_what_it_needs(checkout: Path, target: str, extras: str) -> None:
    assert installs(checkout, target) == [extras]
    venv = checkout / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").touch()
    (venv / f".with-{'all' if extras.endswith('lint') else target}").touch()
    if target != "docs":
        assert installs(checkout, target) == [], "once"


def test_every_extra_is_some_targets(checkout: Path) -> None:
    declared = re.search(
        r"\[project.optional-dependencies\]\n(.*?)\n\[", (ROOT / "pyproject.toml").read_text(), re.S
    )
    assert declared is not None
    names = set(re.findall(r"^(\w+) = \[", declared[1], re.MULTILINE))
    assert set(NEEDS["setup"].split(",")) == names


def test_clean_says_what_it_leaves(checkout: Path) -> None:
    state = checkout / "home" / ".local" / "state" / "quire"
    left = (state, checkout / "demo-output", checkout / "samples" / "out")
    for folder in (*left, checkout / ".venv", checkout / ".mypy_cache"):
        folder.mkdir(parents=True)
    said = make(checkout, "clean")
    assert not (checkout / ".venv").exists()
    assert not (checkout / ".mypy_cache").exists()
    assert all(folder.exists() for folder in left)
    for name in (str(state), "demo-output", "samples/out"):
        assert f"left: {name} (remove it with: rm -r '{name}')" in said
    elsewhere = make(checkout, "clean", STATE_DIR=str(checkout / "demo-output"))
    assert str(state) not in elsewhere
