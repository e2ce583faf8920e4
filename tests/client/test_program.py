"""Programs that use the API: they end as they should, print nothing, leave nothing behind."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing import pdfs
from testing.cluster import children_of
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

CLOSED = """
import quire
with quire.Client() as client:
    assert client.process({document!r}).pages
"""
NOT_CLOSED = """
import quire
client = quire.Client()
assert client.process({document!r}).pages
"""
ENDS_IN_THE_MIDDLE = """
import quire
client = quire.Client()
job = client.submit({document!r}, job_id="left")
next(job.pages())
"""
FAILS = """
import quire
client = quire.Client()
client.process({document!r}, engine="local")
"""
WAITS = """
import quire
with quire.Client() as client:
    client.process({document!r}, job_id="interrupted")
"""


def run(tool: Tool, program: str, document: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    script = folder / "program.py"
    script.write_text(program.format(document=str(document)))
    return subprocess.run(
        [sys.executable, str(script)],
        env={**tool.environment({}), "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def leaves_nothing(state: Path) -> bool:
    marker = str(state / "temporal.db").encode()
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    return not (state / "server.json").exists() and not any(marker in line for line in running)


@pytest.mark.long
def test_many_runs_all_exit_with_0(lone_tool: Tool, one_page: Path, tmp_path: Path) -> None:
    """The SDK crashes one in eight interpreters that shut down; a program must not see that."""
    for program in [CLOSED, NOT_CLOSED] * 4:
        ran = run(lone_tool, program, one_page, tmp_path)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
        assert leaves_nothing(lone_tool.state)


def test_a_program_may_end_in_the_middle_of_a_document(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(60))
    ran = run(tool, ENDS_IN_THE_MIDDLE, mixed, tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert leaves_nothing(tool.state)
    vendor.reset()
    assert len(tool.run("watch", "left", "--json").pages) == 12, "the job was kept"


def test_an_error_ends_a_program_with_its_remedy(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    ran = run(lone_tool.also(LOCAL_OCR="never"), FAILS, one_page, tmp_path)
    assert ran.returncode == 1
    assert ran.stderr.count("Traceback") == 1
    assert "EngineUnavailable" in ran.stderr
    assert "choose another engine" in ran.stderr.splitlines()[-1]
    assert leaves_nothing(lone_tool.state)


def test_ctrl_c_ends_the_call_and_keeps_the_job(
    tool: Tool, vendor: StandIn, mixed: Path, tmp_path: Path
) -> None:
    vendor.behave(vendor_answers_late(60))
    script = tmp_path / "program.py"
    script.write_text(WAITS.format(document=str(mixed)))
    program = subprocess.Popen(
        [sys.executable, str(script)],
        env={**tool.environment({}), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    vendor.wait_for_calls(1, timeout=60)
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=60)
    assert time.monotonic() - began < 8
    assert program.returncode == -signal.SIGINT
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    assert leaves_nothing(tool.state)
    assert not children_of(program.pid)
    vendor.reset()
    assert len(tool.run("watch", "interrupted", "--json").pages) == 12


def test_importing_costs_next_to_nothing() -> None:
    program = (
        "import sys, time; began = time.perf_counter(); import quire;"
        "took = time.perf_counter() - began;"
        "assert not {'temporalio', 'pydantic', 'asyncio', 'quire.jobs'} & set(sys.modules);"
        "assert quire.__version__ and quire.errors.JobNotFound;"
        "assert {*quire.__all__} <= {*dir(quire)};"
        "assert all(getattr(quire, name) for name in quire.__all__);"
        "print(took)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert float(ran.stdout) < 0.1


# --- the documentation -------------------------------------------------------------------------


def examples() -> list[str]:
    pages = [ROOT / "README.md", ROOT / "docs/python.md"]
    return [
        block
        for page in pages
        for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    ]


def test_the_documented_examples_run(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    """In one program, as an import takes longer than an example."""
    assert len(examples()) >= 9
    pdfs.mixed_pdf(tmp_path / "report.pdf", 1, 2)
    pdfs.text_pdf(tmp_path / "letter.pdf")
    for name in ("scan-1", "scan-2"):
        (tmp_path / f"{name}.png").write_bytes(pdfs.picture_of(name))
    (tmp_path / "holiday.txt").write_text("no document")
    program = "".join(
        f"exec(compile({block!r}, 'example {n}', 'exec'), {{'__name__': '__main__'}})\n"
        for n, block in enumerate(examples())
    )
    ran = run(tool, program.replace("{", "{{").replace("}", "}}"), tmp_path, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "=== Page 3 ===" in ran.stdout
    assert "page 2 from ai: " in ran.stdout
    assert "NOT_PDF NOT_PDF" in ran.stdout
    assert "openai_api_key" in ran.stdout
    assert (tmp_path / "report" / "text.txt").exists()
    assert leaves_nothing(tool.state)


def test_the_documented_examples_have_types(tmp_path: Path) -> None:
    """With the project's own options, strict, and its cache: the library is checked already."""
    pytest.importorskip("mypy")
    files = []
    for number, block in enumerate(examples()):
        files.append(tmp_path / f"example_{number}.py")
        files[-1].write_text(block)
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import quire\nquire.Client().process('a.pdf', dedline='3m').txt\n")
    for names, code in ((files, 0), ([wrong], 1)):
        ran = subprocess.run(
            [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *map(str, names)],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == code, ran.stdout + ran.stderr
    assert 'no attribute "txt"' in ran.stdout
    assert '"dedline"' in ran.stdout
