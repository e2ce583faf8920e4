"""Work that is done is not lost because its bucket is read-only."""

from pathlib import Path

import pytest

from quire.contracts.results import DocumentReport, ResultMetadata
from quire.domain import errors
from quire.domain.errors import QuireError
from quire.ports import Store
from quire.store.folder import FolderStore
from quire.store.results import write_result


class BucketDeniesWriting(FolderStore):
    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        raise errors.bucket_denied("b", code="AccessDenied")


class Places:
    def __init__(self, root: Path) -> None:
        self._root = root

    def place(self, source: str) -> Store:
        if source.startswith("s3://"):
            return BucketDeniesWriting(self._root / "bucket")
        return FolderStore(self._root / "results")


def report(local_path: str | None, url: str | None) -> DocumentReport:
    counts = dict.fromkeys(
        (
            "total_pages", "ai_pages", "text_only_pages", "pages_done", "pages_failed",
            "ai_pages_succeeded", "ocr_pages", "mupdf_fallback_count", "missing_pages",
            "result_text_len",
        ),
        0,
    )  # fmt: skip
    where = {"result_local_path": local_path, "result_s3_url": url}
    meta = ResultMetadata.model_validate({**counts, "timeout_occurred": False, **where})
    return DocumentReport(
        job_id="j", message="Completed", source="d.pdf", sha256="0", started_at="", completed_at="",
        page_count=0, metadata=meta, pages=(),
    )  # fmt: skip


async def test_denied_bucket(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("words")
    written = await write_result(
        Places(tmp_path), "s3://b/d.pdf", "j", tmp_path / "text.txt", report
    )
    place = tmp_path / "results" / "j"
    assert written.metadata.result_local_path == str(place / "text.txt")
    assert (place / "text.txt").read_text() == "words"
    assert "not beside the document" in written.metadata.warnings[0]
    assert DocumentReport.model_validate_json((place / "result.json").read_bytes()) == written


async def test_denied_for_another_reason_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("words")

    class Everywhere(Places):
        def place(self, source: str) -> Store:
            return BucketDeniesWriting(tmp_path)

    for origin in ("/a/path.pdf", "s3://b/d.pdf"):
        with pytest.raises(QuireError):
            await write_result(Everywhere(tmp_path), origin, "j", tmp_path / "text.txt", report)
