"""How a peer's output is counted and judged, and when a peer is skipped."""

import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.environments import COMPLETE, CannotInstall, environment
from bench.peers.contest import Claim, Job
from bench.peers.contestants import PEERS, Olmocr, Vlm4ocr, Vlmparse, Zerox
from bench.peers.page_marks import marks_in, truth
from bench.peers.quire_variants import as_it_comes, fastest

A, B, C = "0123456789ab", "ba9876543210", "00ff00ff00ff"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    job = Job(tmp_path / "pages.pdf", tmp_path, "http://127.0.0.1:1/v1", "http://127.0.0.1:1", 8)
    job.out.mkdir()
    return job


def test_marks_are_found_in_any_file_and_once(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.md").write_text(f"The page says seen-{A}. Again seen-{A}.")
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": f"seen-{B}\nseen-012"}))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("data.json", f"seen-{C}", zipfile.ZIP_DEFLATED)
    assert marks_in(tmp_path) == {A, B, C}
    assert marks_in(tmp_path / "nowhere") == set()


@pytest.mark.parametrize(
    ("missing", "exit_code", "claim", "said"),
    [
        (0, 0, Claim(), "none is missing"),
        (3, 1, Claim(), "only says that it failed"),
        (2, 0, Claim(result=frozenset({4, 7})), "names them"),
        (2, 1, Claim(result=frozenset({4, 7})), "names them"),
        (2, 0, Claim(log=frozenset({4, 7})), "in its log only"),
        (2, 1, Claim(result=frozenset({4})), "only says that it failed"),
        (3, 0, Claim(result=frozenset({4}), log=frozenset({4})), "no: 3 pages missing unnamed"),
        (3, None, Claim(), "not finished at our limit"),
    ],
)
def test_truth(missing: int, exit_code: int | None, claim: Claim, said: str) -> None:
    assert truth(missing, exit_code, claim) == said


def test_quire_names_degraded_pages(job: Job) -> None:
    sources = ["ai", "mupdf_fallback", "ai"]
    pages = [{"page": page, "source": source} for page, source in enumerate(sources, 1)]
    ends = {"started_at": "2026-01-01T10:00:00+00:00", "completed_at": "2026-01-01T10:00:09+00:00"}
    result = job.out / "result.json"
    result.write_text(json.dumps({"pages": pages, **ends}))
    written = datetime(2026, 1, 1, 10, 0, 11, tzinfo=UTC).timestamp()
    os.utime(result, (written, written))
    quire = as_it_comes("quire", "90s")
    assert quire.claim(job, "") == Claim(frozenset({2}), sources={"ai": 2, "mupdf_fallback": 1})
    assert quire.document_s(job) == 11.0, "until the result is written"


def test_peers_name_pages_each_in_its_own_way(job: Job, tmp_path: Path) -> None:
    log = "ERROR - Failed /a/pages.pdf-7 after 8 attempts\nFailed /a/pages.pdf-12 after 8 attempts"
    assert Olmocr(tmp_path).claim(job, log).log == {7, 12}
    (job.out / "result.json").write_text(json.dumps({"errors": [None, "429", None]}))
    assert Vlm4ocr(tmp_path).claim(job, "").result == {2}
    pages = [{"page_number": 0, "error": None}, {"page_number": 1, "error": {"x": 1}}]
    with zipfile.ZipFile(job.out / "pages.zip", "w") as archive:
        archive.writestr("data.json", json.dumps({"pages": pages}))
    assert Vlmparse(tmp_path).claim(job, "").result == {2}
    assert Zerox(tmp_path).claim(job, "Failed to process image") == Claim()


def test_peer_is_given_the_job_and_no_foreign_setting(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = ("OPENAI_ORGANIZATION", "OTEL_EXPORTER_OTLP_ENDPOINT", "WHEN_BUSY", "page_window")
    for name in foreign:
        monkeypatch.setenv(name, "ours")
    for peer in PEERS:
        command = peer(tmp_path).command(job)
        assert {str(job.pdf), str(job.out), "8"} <= set(command)
        environment = peer(tmp_path).environment(job)
        assert environment["OPENAI_BASE_URL"] == job.openai_url
        assert not set(foreign) & set(environment)
    ours = fastest(8).environment(job)
    assert "ours" not in ours.values()
    assert ours["WHEN_BUSY"] == "wait"
    assert not {"OTEL_EXPORTER_OTLP_ENDPOINT", "page_window"} & set(ours)


def test_environment_is_reused_or_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUIRE_BENCH_ENVIRONMENTS", str(tmp_path))
    with pytest.raises(CannotInstall, match="not installed; make bench-full installs it"):
        environment("peer-1", ["peer==1"], [], install=False)
    with pytest.raises(CannotInstall, match="it needs no-such-program: install the Debian package"):
        environment("peer-1", ["peer==1"], ["no-such-program"], install=True)
    (tmp_path / "peer-1").mkdir()
    (tmp_path / "peer-1" / COMPLETE).write_text("peer==1\n")
    assert environment("peer-1", ["peer==1"], [], install=True) == tmp_path / "peer-1"
    with pytest.raises(CannotInstall):
        environment("peer-1", ["peer==2"], [], install=False)
