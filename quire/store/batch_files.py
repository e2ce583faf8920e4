"""The files of a batch's result: `batch.json`, `documents.jsonl`, `documents.parquet`."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from quire.contracts.batch import BatchResult, DocumentRow
from quire.domain.batch.keys import batch_file
from quire.domain.batch.rows import json_lines
from quire.ports import Store
from quire.store.parquet import parquet_missing, write_parquet
from quire.threads import Dependency, TimeLimit, threads_of

SUMMARY, LINES, PARQUET = "batch.json", "documents.jsonl", "documents.parquet"
# A hundred thousand rows take a few seconds.
WRITE_S = 600.0


async def write_batch_files(
    place: Store, result: BatchResult, rows: Sequence[DocumentRow]
) -> BatchResult:
    """Write all files of a batch, each whole or not at all; the summary is the last one."""
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        lines = Path(folder) / LINES
        lines.write_text(json_lines(rows), encoding="utf-8")
        key = batch_file(result.batch_id, LINES)
        await place.put_file(key, lines, replace=True)
        found = {"documents_path": _shown(place, key)}
        if missing := parquet_missing():
            result = result.model_copy(update={"warnings": (*result.warnings, missing)})
        else:
            table, key = Path(folder) / PARQUET, batch_file(result.batch_id, PARQUET)
            limit = TimeLimit(WRITE_S)
            await threads_of(Dependency.RESULTS).run(write_parquet, rows, table, limit=limit)
            await place.put_file(key, table, replace=True)
            found["parquet_path"] = _shown(place, key)
    result = result.model_copy(update=found)
    await place.put(batch_file(result.batch_id, SUMMARY), result.model_dump_json(indent=2).encode())
    return result


async def read_batch(place: Store, batch_id: str) -> BatchResult | None:
    """The summary of a finished batch, or None."""
    data = await place.get(batch_file(batch_id, SUMMARY))
    try:
        return None if data is None else BatchResult.model_validate_json(data)
    except ValidationError:
        return None


async def read_rows(place: Store, batch_id: str) -> list[DocumentRow] | None:
    """The rows of a finished batch as they were written, or None."""
    data = await place.get(batch_file(batch_id, LINES))
    try:
        if data is None:
            return None
        return [DocumentRow.model_validate_json(line) for line in data.splitlines()]
    except ValidationError:
        return None


def _shown(place: Store, key: str) -> str | None:
    path, url = place.describe(key)
    return url or path
