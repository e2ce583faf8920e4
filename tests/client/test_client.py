"""The blocking client, with the embedded server in this process."""

import asyncio
import io
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import quire
from quire import errors
from quire.contracts.codes import Code
from testing import pdfs
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

pytestmark = pytest.mark.servers


def test_a_path_becomes_text_with_its_pages(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path, tmp_path: Path
) -> None:
    result = client.process(own_mixed)
    assert [page.number for page in result.pages] == [*range(1, 13)]
    assert [page.source for page in result.pages] == ["mupdf"] * 4 + ["ai"] * 8
    assert "marker-002" in result.pages[1].text
    assert "marker-002" not in result.pages[0].text
    last = result.pages[11]
    assert last.attempts[-1].route == f"{last.provider}:{last.model}", "whichever was free"
    assert last.text
    assert last.attempts[0].outcome == "ok"
    for page in result.pages:
        assert f"=== Page {page.number} ===\n{page.text}" in result.text
    assert not result.degraded
    assert result.cost_usd == result.report.metadata.cost_usd
    assert result.metadata.total_pages == 12
    folder = result.save(tmp_path / "out" / "deep")
    assert (folder / "text.txt").read_text() == result.text
    assert str(folder) in (folder / "result.json").read_text()


def test_bytes_and_file_objects_are_documents(client: quire.Client, fresh: Path) -> None:
    data = fresh.read_bytes()
    read = client.process(data, name="mine.pdf", job_id="bytes")
    assert "page-001" in read.text
    assert client.process(io.BytesIO(data)).text == read.text
    with fresh.open("rb") as file:
        assert client.process(file).report.sha256 == read.report.sha256
    # Only the store has the document: it can be read again.
    fresh.unlink()
    assert client.process(memoryview(data), force=True).text == read.text


def test_images_are_one_document_also_as_bytes(client: quire.Client, tmp_path: Path) -> None:
    paths = [tmp_path / f"scan-{n}.png" for n in (1, 2)]
    for number, path in enumerate(paths, start=1):
        path.write_bytes(pdfs.picture_of(f"{tmp_path} {number}"))
    assert len(client.process(paths, text_only=True).pages) == 2
    assert len(client.process(paths[0].read_bytes(), text_only=True).pages) == 1


def test_pages_come_while_others_are_in_flight(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path
) -> None:
    at_vendor.behave(vendor_answers_late(60))
    at_vendor.behave(vendor_answers_late(0), first=1)
    job = client.submit(own_mixed)
    pages = job.pages()
    early = [next(pages) for _ in range(4)]
    assert job.status().status == "running"
    at_vendor.wait_for_calls(2, timeout=30)
    assert any(not call.ended for call in at_vendor.calls()), "a later page is not read yet"
    at_vendor.release()
    together = [*early, *pages]
    result = job.result()
    assert [page.number for page in together] == [*range(1, 13)]
    assert [page.text for page in together] == [page.text for page in result.pages]
    assert [page.source for page in together] == [page.source for page in result.pages]
    assert [page.model for page in together] == [page.model for page in result.pages]


def test_pages_of_a_finished_job_come_at_once(client: quire.Client, fresh: Path) -> None:
    job = client.submit(fresh)
    job.result()
    (page,) = job.pages()
    assert "page-001" in page.text


def test_waiting_ends_in_time_and_cancel_keeps_what_is_done(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path
) -> None:
    at_vendor.behave(vendor_answers_late(60))
    job = client.submit(own_mixed, job_id="slow", user="anna")
    at_vendor.wait_for_calls(1, timeout=30)
    assert not job.wait(timeout=0.1)
    with pytest.raises(TimeoutError, match="it goes on"):
        client.result("slow", timeout=0.1)
    with pytest.raises(errors.NotOwner) as refused:
        client.cancel("slow", user="eve")
    assert refused.value.code is Code.FORBIDDEN
    job.cancel()
    result = job.result()
    assert result.metadata.cancelled
    assert result.degraded
    assert result.degraded_pages == tuple(range(5, 13))
    assert result.pages[5].error is not None
    with pytest.raises(errors.NotRunning):
        job.cancel()
    at_vendor.reset()
    again = client.retry("slow", user="anna").result()
    assert not again.degraded
    assert (
        client.retry("slow", pages=[5], user="anna").result().report.version > again.report.version
    )
    with pytest.raises(errors.NothingToRetry):
        client.retry("slow", user="anna")


def test_jobs_are_listed_by_filter(client: quire.Client, fresh: Path) -> None:
    job = client.submit(fresh, user="lister")
    job.wait()
    deadline = time.monotonic() + 10
    while not (found := client.list(user="lister", since="1h", status="completed")).rows:
        assert time.monotonic() < deadline, "the server lists it a moment later"
        time.sleep(0.1)
    assert [row.job_id for row in found.rows] == [job.job_id]
    assert not found.more


def test_a_running_job_is_listed_with_its_cost(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path
) -> None:
    """The workers of this client answer the query: a second one on its queue is not needed."""
    at_vendor.behave(vendor_answers_late(60))
    job = client.submit(own_mixed, user="runner")
    at_vendor.wait_for_calls(1, timeout=30)
    deadline = time.monotonic() + 10
    while not (rows := client.list(user="runner", status="running").rows):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert rows[0].cost_usd == 0.0
    at_vendor.release()
    assert job.wait(60)


def test_an_estimate_costs_nothing(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path
) -> None:
    for source in (own_mixed, own_mixed.read_bytes()):
        estimate = client.estimate(source, pages="3-6")
        assert estimate.pages_by_class == {"HAS_GRAPHICS": 2, "TEXT_ONLY": 2}
        assert estimate.calls == 2
    assert not at_vendor.calls()


def test_threads_share_a_client(client: quire.Client, tmp_path: Path) -> None:
    paths = [pdfs.text_pdf(tmp_path / f"{n}.pdf", pages=n) for n in range(1, 9)]
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(client.process, paths))
    assert [len(result.pages) for result in results] == [*range(1, 9)]


async def test_it_works_inside_a_running_loop(client: quire.Client, fresh: Path) -> None:
    assert asyncio.get_running_loop().is_running()
    assert "page-001" in client.process(fresh).text


def test_two_clients_of_one_folder_share_its_server(
    client: quire.Client, settings_of_client: dict[str, object], fresh: Path
) -> None:
    client.submit(fresh, job_id="shared").wait()
    note = Path(str(settings_of_client["state_dir"])) / "server.json"
    before = note.read_text()
    with quire.Client(**settings_of_client) as other:
        assert "page-001" in other.result("shared").text
        assert note.read_text() == before
    assert "page-001" in client.result("shared").text, "it still has its server"


def test_two_clients_with_settings_of_their_own(
    client: quire.Client, own_mixed: Path, tmp_path: Path
) -> None:
    with quire.Client(state_dir=tmp_path / "other", local_ocr="never") as lone:
        alone = lone.process(own_mixed)
        assert alone.degraded, "this one has no model"
        assert not client.process(own_mixed).degraded
    assert not (tmp_path / "other" / "server.json").exists()


# --- refusals ------------------------------------------------------------------------------


def test_refusals_are_classes_with_code_reason_and_remedy(
    client: quire.Client, tmp_path: Path
) -> None:
    words = tmp_path / "holiday.txt"
    words.write_text("no document")
    with pytest.raises(errors.DocumentRefused) as refused:
        client.process(words)
    assert (refused.value.code, refused.value.reason) == (Code.NOT_PDF, "NOT_PDF")
    assert refused.value.remedy
    assert refused.value.__notes__ == [refused.value.remedy], "a traceback shows it"
    with pytest.raises(errors.DocumentRefused):
        client.process(b"%PDF-1.4 but damaged")
    with pytest.raises(errors.DocumentRefused):
        client.process(tmp_path / "absent.pdf")
    with pytest.raises(errors.DocumentRefused):
        client.process(pdfs.locked_pdf(tmp_path / "locked.pdf", "open sesame"))
    assert "locked" in client.process(tmp_path / "locked.pdf", password="open sesame").text
    with pytest.raises(errors.JobNotFound):
        client.status("never-heard-of")
    with pytest.raises(errors.JobNotFound):
        client.result("never-heard-of")
    with pytest.raises(errors.EngineUnavailable):
        client.process(tmp_path / "locked.pdf", engine="local")


def test_urls_to_this_machine_are_refused(
    client: quire.Client, web: tuple[str, Path], one_page: Path
) -> None:
    url, folder = web
    (folder / "one.pdf").write_bytes(one_page.read_bytes())
    with pytest.raises(errors.DocumentRefused) as refused:
        client.process(f"{url}/one.pdf")
    assert refused.value.reason == "PRIVATE_ADDRESS"


@pytest.mark.parametrize(
    "options",
    [{"pages": "5-1"}, {"pages": [0]}, {"deadline": "soon"}, {"tier": "best"}, {"job_id": "a/b"}],
)
def test_arguments_that_cannot_work_are_refused(
    client: quire.Client, one_page: Path, options: quire.Options
) -> None:
    with pytest.raises(quire.errors.UsageError, match=next(iter(options))):
        client.submit(one_page, **options)


def test_misspelt_arguments_are_type_errors(client: quire.Client, one_page: Path) -> None:
    with pytest.raises(TypeError, match="did you mean 'deadline'"):
        client.process(one_page, dedline="3m")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="did you mean 'status'"):
        client.list(statuss="running")  # type: ignore[call-arg]
    with pytest.raises(quire.errors.UsageError, match="status"):
        client.list(status="odd")


@pytest.mark.parametrize("source", [5, None, [], "", [b"bytes"], io.StringIO("text")])
def test_what_is_no_source_is_refused(client: quire.Client, source: object) -> None:
    with pytest.raises(errors.QuireError):
        client.process(source)  # type: ignore[arg-type]


def test_bytes_beyond_the_limit_are_refused(tmp_path: Path, one_page: Path) -> None:
    with (
        quire.Client(state_dir=tmp_path, max_file_size="100B") as small,
        pytest.raises(errors.DocumentRefused) as refused,
    ):
        small.estimate(one_page.read_bytes())
    assert refused.value.code is Code.TOO_LARGE


def test_a_closed_client_refuses_calls_and_frees_those_who_wait(
    settings_of_client: dict[str, object], at_vendor: StandIn, own_mixed: Path, client: quire.Client
) -> None:
    at_vendor.behave(vendor_answers_late(60))
    other, raised = quire.Client(**settings_of_client), []

    def wait() -> None:
        try:
            other.process(own_mixed, job_id="left")
        except quire.errors.UsageError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    at_vendor.wait_for_calls(1, timeout=30)
    began = time.monotonic()
    other.close()
    thread.join(10)
    assert time.monotonic() - began < 8
    assert "closed" in str(raised[0])
    other.close()
    with pytest.raises(quire.errors.UsageError, match="closed"):
        other.status("left")
    at_vendor.release()
    assert len(client.result("left", timeout=60).pages) == 12, "its server and another worker go on"


def test_a_client_does_not_outlive_a_fork(client: quire.Client) -> None:
    """Its thread is not in the child, where a call would wait for ever."""
    pid = os.fork()
    if pid == 0:
        try:
            client.status("any")
        except quire.errors.UsageError:
            client.close()
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert client.list().rows is not None, "the parent's client is as it was"


def test_text_that_is_no_unicode_is_refused(client: quire.Client, one_page: Path) -> None:
    with pytest.raises(quire.errors.UsageError, match="instructions"):
        client.process(one_page, prompt="a\ud800b")


def test_a_job_id_is_bound_to_its_request(
    client: quire.Client, fresh: Path, tmp_path: Path
) -> None:
    hangup = signal.getsignal(signal.SIGHUP)
    first = client.process(fresh, job_id="bound")
    assert client.process(fresh.read_bytes(), job_id="bound").report == first.report
    other = tmp_path / "other.pdf"
    other.write_bytes(fresh.read_bytes() + b"\n% other\n")
    with pytest.raises(errors.JobConflict, match=r"other\.pdf") as refused:
        client.process(other, job_id="bound")
    assert (refused.value.code, refused.value.reason) == (Code.FORBIDDEN, "CONFLICT")
    with pytest.raises(quire.errors.UsageError, match="force"):
        client.process(other, job_id="bound", replace=True)
    job = client.submit(fresh, job_id="bound")
    forced = client.process(other, job_id="bound", force=True, replace=True)
    assert forced.report.sha256 != first.report.sha256
    with pytest.raises(errors.JobConflict):
        job.result()
    with pytest.raises(errors.JobConflict):
        list(job.pages())
    assert client.result("bound").report == forced.report
    assert signal.getsignal(signal.SIGHUP) is hangup, "signals are the program's affair"


def test_mode_and_one_model_are_part_of_the_request(
    client: quire.Client, at_vendor: StandIn, own_mixed: Path
) -> None:
    at_vendor.behave(vendor_answers_late(0.2))
    result = client.process(own_mixed, mode="hold", one_model=True)
    assert {page.model for page in result.pages if page.model} == {"gpt-6.1-sol"}
    with pytest.raises(quire.errors.UsageError, match="mode"):
        client.process(own_mixed, mode="often")  # type: ignore[arg-type]
