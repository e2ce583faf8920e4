"""Writing a job's files where they belong."""

from collections.abc import Callable
from pathlib import Path

from activities.ports import ResultPlaces
from domain.contracts import DocumentReport
from domain.errors import QuireError
from domain.keys import result_key
from storage.protocol import Store

# From where the text is, a path or a URL, to the report that says so.
MakeReport = Callable[[str | None, str | None], DocumentReport]


async def write_result(
    places: ResultPlaces, origin: str, job_id: str, text: Path, make: MakeReport, version: int = 1
) -> DocumentReport:
    """`text.txt` and then `result.json`. A bucket that may be read but not written to gets no
    result beside its source: the work is done and must not be lost, so it goes where others go."""
    try:
        return await _write(places.place(origin), job_id, text, make, version)
    except QuireError as error:
        if error.info.reason != "S3_DENIED" or not origin.startswith("s3://"):
            raise
        note = f"{error.info.message} The result is not beside its source."

        def noted(local_path: str | None, url: str | None) -> DocumentReport:
            report = make(local_path, url)
            meta = report.metadata
            warned = meta.model_copy(update={"warnings": (*meta.warnings, note)})
            return report.model_copy(update={"metadata": warned})

        return await _write(places.place(""), job_id, text, noted, version)


async def _write(
    store: Store, job_id: str, text: Path, make: MakeReport, version: int
) -> DocumentReport:
    target = result_key(job_id, "text.txt")
    await store.put_file(result_key(job_id, "text.txt", version), text, replace=True)
    await store.put_file(target, text, replace=True)
    report = make(*store.describe(target))
    data = report.model_dump_json(indent=2).encode()
    await store.put(result_key(job_id, "result.json", version), data)
    await store.put(result_key(job_id, "result.json"), data)
    return report
