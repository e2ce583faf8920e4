"""Writes the files of a job's result."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from quire.contracts.results import DocumentReport
from quire.domain.document.keys import result_key
from quire.domain.errors import BucketDenied
from quire.ports import ResultPlaces, Store

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
            meta = report.metadata
            warned = meta.model_copy(update={"warnings": (*meta.warnings, note)})
            return report.model_copy(update={"metadata": warned})

        return await _write(places.place(""), job_id, text, noted, version)


async def _write(
    store: Store, job_id: str, text: Path, make: MakeReport, version: int
) -> DocumentReport:
    def keys(name: str) -> tuple[str, str]:
        return result_key(job_id, name, version), result_key(job_id, name)

    await asyncio.gather(*(store.put_file(k, text, replace=True) for k in keys("text.txt")))
    report = make(*store.describe(result_key(job_id, "text.txt")))
    data = report.model_dump_json(indent=2).encode()
    await asyncio.gather(*(store.put(key, data) for key in keys("result.json")))
    return report
