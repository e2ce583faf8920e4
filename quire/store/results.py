"""Writes and reads the files of a job's result.

They are the people's, who may edit them: the numbered copy beside each, and the text in the store,
still hold what was written. `result.json` has a checksum, and the hash of its `text.txt`.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quire.contracts.results import DocumentReport
from quire.domain import errors
from quire.domain.document.keys import result_key, text_key
from quire.domain.errors import BucketDenied
from quire.ports import ResultPlaces, Store

TEXT, REPORT = "text.txt", "result.json"
# Makes the report from the place of the text: a path or a URL.
MakeReport = Callable[[str | None, str | None], DocumentReport]


async def write_result(
    places: ResultPlaces, origin: str, job_id: str, text: Path, make: MakeReport, version: int = 1
) -> DocumentReport:
    """Write `text.txt` and then `result.json`; returns the report.

    When the bucket of the document denies writing, the result goes to the default place with a
    warning: the work is done and must not be lost.
    """
    try:
        return await _write(places.place(origin), job_id, text, make, version)
    except BucketDenied as error:
        if not origin.startswith("s3://"):
            raise
        note = f"{error.info.message} The result is not beside the document."

        def noted(local_path: str | None, url: str | None) -> DocumentReport:
            report = make(local_path, url)
            return _warn(report, note)

        return await _write(places.place(""), job_id, text, noted, version)


async def _write(
    store: Store, job_id: str, text: Path, make: MakeReport, version: int
) -> DocumentReport:
    def keys(name: str) -> tuple[str, str]:
        return result_key(job_id, name, version), result_key(job_id, name)

    await asyncio.gather(*(store.put_file(k, text, replace=True) for k in keys(TEXT)))
    report = make(*store.describe(result_key(job_id, TEXT)))
    report = with_checksum(report)
    data = report.model_dump_json(indent=2).encode()
    await asyncio.gather(*(store.put(key, data) for key in keys(REPORT)))
    return report


async def read_report(place: Store, job_id: str) -> DocumentReport | None:
    """The newest report of a job as it was written, or None; a warning in it says so if the file is
    not as it was written. Raises a `JobError` when no copy is."""
    data = await place.get(result_key(job_id, REPORT))
    if data is None:
        return None
    report = _parse(job_id, data)
    if report is not None:
        return report
    copies = [entry async for entry in place.entries(f"{job_id}/") if entry.key.endswith(REPORT)]
    for copy in sorted(copies, key=lambda entry: entry.modified, reverse=True):
        report = _parse(job_id, await place.get(copy.key) or b"")
        if report is not None:
            return _warn(report, _CHANGED.format(REPORT))
    raise errors.result_damaged(job_id)


async def read_result(
    place: Store, store: Store, job_id: str
) -> tuple[DocumentReport, bytes] | None:
    """Report and text of a job as they were written, or None when there are none."""
    report = await read_report(place, job_id)
    text = await place.get(result_key(job_id, TEXT))
    if report is None or text is None:
        return None
    sha256 = report.metadata.text_sha256
    # Results of versions from before do not say what their text was.
    if not sha256 or _is(sha256, text):
        return report, text
    for kept, key in (
        (place, result_key(job_id, TEXT, report.version)),
        (store, text_key(sha256)),
    ):
        text = await kept.get(key)
        if text is not None and _is(sha256, text):
            return _warn(report, _CHANGED.format(TEXT)), text
    raise errors.result_damaged(job_id)


_CHANGED = "{} was changed since it was written; this is what was written."


def with_checksum(report: DocumentReport) -> DocumentReport:
    """The report as it may be written."""
    body = report.model_dump_json(exclude={"checksum"})
    return report.model_copy(update={"checksum": _checksum(report.job_id, json.loads(body))})


def _parse(job_id: str, data: bytes) -> DocumentReport | None:
    """The report, or None where it is not what was written for this job."""
    try:
        report = DocumentReport.model_validate_json(data)
        body = json.loads(data)
    except ValueError:
        return None
    if report.job_id != job_id:
        return None
    body.pop("checksum", None)
    # A report of before has neither the hash of its text nor a checksum.
    if report.checksum or report.metadata.text_sha256:
        return report if report.checksum == _checksum(job_id, body) else None
    return report


def _checksum(job_id: str, body: dict[str, Any]) -> str:
    """Of what the file says, not of how it is written: people may format it."""
    canonical = json.dumps([job_id, body], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _is(sha256: str, text: bytes) -> bool:
    return hashlib.sha256(text).hexdigest() == sha256


def _warn(report: DocumentReport, note: str) -> DocumentReport:
    meta = report.metadata
    warned = meta.model_copy(update={"warnings": (*meta.warnings, note)})
    return with_checksum(report.model_copy(update={"metadata": warned}))
