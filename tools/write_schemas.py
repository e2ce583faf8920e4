"""Writes docs/schemas from the wire types: `python -m tools.write_schemas`."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from quire.contracts.document import CancelRequest, DocumentRequest, RetryRequest, RetryResult
from quire.contracts.results import DocumentReport, DocumentResult
from quire.contracts.status import DocumentStatus, PageRange

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "docs/schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# What clients write: unknown fields are refused, and fields with a default may be left out.
WRITTEN: dict[str, type[BaseModel]] = {
    "request": DocumentRequest,
    "retry": RetryRequest,
    "cancel": CancelRequest,
    "page-range": PageRange,
}
# What clients read: later versions may add fields.
READ: dict[str, type[BaseModel]] = {
    "status": DocumentStatus,
    "retry-result": RetryResult,
    "document-result": DocumentResult,
    "result": DocumentReport,
}


def schemas() -> dict[str, str]:
    """The text of every schema by the name of its file."""
    found = {name: model.model_json_schema(mode="validation") for name, model in WRITTEN.items()}
    for schema in found.values():
        schema["additionalProperties"] = False
    for name, model in READ.items():
        found[name] = model.model_json_schema(mode="serialization")
    return {f"{name}.json": _page(schema) for name, schema in found.items()}


def _page(schema: dict[str, Any]) -> str:
    return json.dumps({"$schema": DIALECT, **schema}, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every schema."""
    folder = ROOT / FOLDER
    folder.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
