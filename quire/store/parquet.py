"""Writes rows of a batch as Parquet, by DuckDB where it is installed."""

import importlib.util
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from quire.contracts.batch import DocumentRow
from quire.contracts.page import TextSource

# It has all it needs for this: nothing is fetched.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "memory_limit": "256MB",
    "autoinstall_known_extensions": False,
}
# Every column has its type whatever the rows hold: a batch without a failure has the same table.
COLUMNS = {
    "number": "INTEGER",
    "source": "VARCHAR",
    "job_id": "VARCHAR",
    "status": "VARCHAR",
    "code": "VARCHAR",
    "reason": "VARCHAR",
    "message": "VARCHAR",
    "remedy": "VARCHAR",
    "pages": "INTEGER",
    "degraded_pages": "INTEGER",
    "input_tokens": "BIGINT",
    "output_tokens": "BIGINT",
    "cost_usd": "DOUBLE",
    "milliseconds": "BIGINT",
    "text_path": "VARCHAR",
    "sha256": "VARCHAR",
    "same_as": "INTEGER",
    "value": "VARCHAR",
    "due": "VARCHAR",
    "started_at": "TIMESTAMPTZ",
    "completed_at": "TIMESTAMPTZ",
    "take": "INTEGER",
}


def parquet_missing() -> str:
    """Why there can be no Parquet file; empty where there can be one."""
    if importlib.util.find_spec("duckdb") is not None:
        return ""
    return "documents.parquet is not written: install 'quire[parquet]' for it"


def write_parquet(rows: Sequence[DocumentRow], target: Path) -> None:
    """Write a row a document; pages by source are a column a source."""
    import duckdb

    sources = sorted({*TextSource, *(name for row in rows for name in row.pages_by_source)})
    columns = COLUMNS | {f"pages_{name}": "INTEGER" for name in sources}
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        lines = Path(folder) / "rows.jsonl"
        with lines.open("w", encoding="utf-8") as file:
            for row in rows:
                counts = {f"pages_{name}": row.pages_by_source.get(name, 0) for name in sources}
                fields = row.model_dump(mode="json", include={*COLUMNS})
                file.write(json.dumps(fields | counts) + "\n")
        with duckdb.connect(config=CONFIG) as database:
            found = database.read_json(
                str(lines), columns=columns, format="newline_delimited", maximum_object_size=2**24
            )
            found.write_parquet(str(target), compression="zstd")
