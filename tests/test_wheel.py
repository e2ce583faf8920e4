"""The wheel: what it installs, and that its commands run from any folder."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from testing import pdfs
from testing.tool import own_environment

ROOT = Path(__file__).resolve().parents[1]
NEEDED = ("pyproject.toml", "README.md", "LICENSE.md", "quire", "workflows", "activities")
# The first that knows a licence by its name, as pyproject.toml gives it.
SETUPTOOLS = 77
FOUND = (
    metadata.version("setuptools") if metadata.packages_distributions().get("setuptools") else ""
)

pytestmark = pytest.mark.skipif(
    not FOUND or int(FOUND.partition(".")[0]) < SETUPTOOLS,
    reason=f"a wheel is built offline with setuptools {SETUPTOOLS} or newer; found {FOUND or None}",
)


def pip(*arguments: object) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", "--no-input", *map(str, arguments)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: a build leaves folders behind."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in NEEDED:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source / name)
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    pip("wheel", *offline, "--wheel-dir", folder, source)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installed(wheel: Path) -> Path:
    """A folder with the wheel's packages, and its commands under `bin`."""
    place = wheel.parent / "installed"
    pip("install", "--no-deps", "--no-index", "--target", place, wheel)
    return place


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A person's folder, with a module of a name that we used once."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "settings.py").write_text("raise SystemExit('a foreign module was imported')")
    return folder


def run(
    installed: Path, folder: Path, command: str, *arguments: object
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, installed / "bin" / command, *map(str, arguments)],
        cwd=folder,
        env={
            **own_environment(),
            "PYTHONPATH": str(installed),
            "STATE_DIR": str(folder.parent / "state"),
            "LOCAL_OCR": "never",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_holds_our_packages_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    about = wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"
    assert {name.partition("/")[0] for name in names} == {"quire", "workflows", "activities", about}
    assert "quire/py.typed" in names
    assert {Path(name).suffix for name in names if not name.startswith(about)} == {".py", ".typed"}
    ours = {
        path.relative_to(ROOT).as_posix()
        for package in ("quire", "workflows", "activities")
        for path in (ROOT / package).rglob("*.py")
    }
    assert ours <= set(names)


def test_its_modules_are_the_ones_that_run(installed: Path, elsewhere: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-P", "-c", "import quire, workflows; print(quire.__file__)"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert Path(ran.stdout.strip()).parent == installed / "quire"


def test_estimate_runs_from_any_folder(installed: Path, elsewhere: Path) -> None:
    document = pdfs.text_pdf(elsewhere / "report.pdf", pages=2)
    ran = run(installed, elsewhere, "quire", "estimate", document.name, "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["total_pages"] == 2


@pytest.mark.servers
def test_a_document_is_read_from_any_folder(installed: Path, elsewhere: Path) -> None:
    document = pdfs.text_pdf(elsewhere / "report.pdf", pages=2)
    ran = run(installed, elsewhere, "quire", "process", document.name, "--text-only", "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert [page["source"] for page in found["pages"]] == ["mupdf", "mupdf"]
    assert "page-002" in Path(found["metadata"]["result_local_path"]).read_text(encoding="utf-8")
