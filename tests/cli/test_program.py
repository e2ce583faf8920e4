"""The programs' names, version and shell completion."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from quire.cli import program
from quire.domain import errors
from tests.cli.programs import ROOT, installed, run


@pytest.mark.servers
@pytest.mark.parametrize("name", ["quire", "starter.py", "quire-worker", "worker.py"])
def test_version_is_printed_alone(name: str, tmp_path: Path) -> None:
    module = "quire.cli.worker" if "worker" in name else "quire.cli.main"
    script = [sys.executable, ROOT / name] if ".py" in name else [installed(tmp_path, name, module)]
    ran = run(*script, "--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"quire 0.1.0\n", b"")


def test_version_without_an_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert program.version() == "0.1.0", "from pyproject.toml"
    monkeypatch.setattr(program, "__file__", "/nowhere/quire/cli/program.py")
    assert program.version() == "unknown"


def test_bash_completes_commands_and_options(tmp_path: Path) -> None:
    quire = installed(tmp_path)
    detection = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = run(quire, "--show-completion", "bash", settings=detection)
    assert shown.returncode == 0
    assert b"complete -o default -F _quire_completion quire" in shown.stdout
    script = shown.stdout.decode() + (
        '\nCOMP_WORDS=(quire {typed}); COMP_CWORD={at}; _quire_completion "$0" >&2;'
        ' printf "%s\\n" "${{COMPREPLY[@]}}"\n'
    )

    def completed(typed: str, at: int) -> list[str]:
        words = script.replace("{typed}", typed).replace("{at}", str(at))
        words = words.replace("{{", "{").replace("}}", "}")
        ran = subprocess.run(
            ["bash", "-c", words, str(quire)], capture_output=True, text=True, timeout=60
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.split()

    assert completed("re", 1) == ["result", "retry"]
    assert completed("process --with", 2) == ["--with-text"]


def test_messages_name_the_program_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remedy = errors.still_running("d1").info.remedy
    worker = errors.no_worker_with_role("ai").info.remedy
    monkeypatch.setattr(sys, "argv", ["/opt/venv/bin/quire"])
    assert program.as_called(remedy) == "Follow it with `quire watch d1`."
    assert "`quire-worker --roles ai`" in program.as_called(worker)
    monkeypatch.setattr(sys, "argv", ["/home/ada/quire/starter.py"])
    assert program.as_called(remedy) == "Follow it with `starter.py watch d1`."
    assert "`worker.py --roles ai`" in program.as_called(worker)
    assert program.as_called("a quire of paper") == "a quire of paper"


def test_no_error_names_the_programs_of_a_checkout() -> None:
    words = [f"{entry.meaning} {entry.advice}" for entry in errors.entries()]
    assert not [line for line in words if "starter.py" in line or "worker.py" in line]


@pytest.mark.servers
def test_help_and_errors_say_quire_when_called_so(tmp_path: Path) -> None:
    quire, state = installed(tmp_path), {"STATE_DIR": str(tmp_path / "state")}
    assert b"Usage: quire [OPTIONS]" in run(quire, "--help").stdout
    assert b"Usage: starter.py [OPTIONS]" in run(sys.executable, ROOT / "starter.py").stdout
    checkout = (sys.executable, ROOT / "starter.py")
    for program_, name in (((quire,), "quire"), (checkout, "starter.py")):
        ran = run(*program_, "result", "nothing", "--json", settings=state)
        assert ran.returncode == 4
        assert f"`{name} list`" in ran.stderr.decode()
        assert f"`{name} list`" in json.loads(ran.stdout)["error"]["remedy"]


def test_a_crash_shows_no_secret(tmp_path: Path) -> None:
    """Whatever breaks before the settings are known, values of variables stay out of the log."""
    crash = (
        "from quire.cli import run_command\n"
        "def broken() -> None:\n"
        "    key = 'sk-never-to-be-seen'\n"
        "    raise RuntimeError(len(key))\n"
        "run_command.load_settings = broken\n"
        "from quire.cli.main import app\n"
        "raise SystemExit(run_command.call(app, ['list']))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", crash], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 1
    assert "Quire failed" in ran.stderr
    assert "RuntimeError" in ran.stderr
    assert "sk-never-to-be-seen" not in ran.stdout + ran.stderr
