"""Where the parts of a batch are: its sources and rows in the store, its files among results."""

from quire.domain.document.keys import BATCHES

# Of the list of sources, in one object: few objects for a long list, small ones to read.
SOURCES_A_PAGE = 200


def source_page_key(batch_id: str, page: int) -> str:
    """A part of the list of sources; pages count from 0."""
    return f"{sources_folder(batch_id)}{page:05d}.json"


def sources_folder(batch_id: str) -> str:
    """The whole list of sources."""
    return f"{BATCHES}/{batch_id}/sources/"


def page_of(number: int) -> int:
    """The page that lists a document."""
    return (number - 1) // SOURCES_A_PAGE


def rows_folder(batch_id: str) -> str:
    """All rows of a batch."""
    return f"{BATCHES}/{batch_id}/rows/"


def rows_key(batch_id: str, run: str, step: str, group: int) -> str:
    """The rows that one activity wrote: repeated, it writes the same object."""
    return f"{rows_folder(batch_id)}{run}-{step}-{group:06d}.jsonl"


def batch_file(batch_id: str, name: str) -> str:
    """`batch.json`, `documents.jsonl` or `documents.parquet` in the place of results."""
    return f"{BATCHES}/{batch_id}/{name}"
