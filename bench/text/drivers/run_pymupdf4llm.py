"""pymupdf4llm as a script uses it, in its own environment: a JSON list of the pages' Markdown."""

import json
import sys
from pathlib import Path

import pymupdf4llm  # type: ignore[import-not-found]


def main(pdf: str, out: str) -> None:
    pages = pymupdf4llm.to_markdown(pdf, page_chunks=True, show_progress=False)
    Path(out).write_text(json.dumps([page["text"] for page in pages]), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
