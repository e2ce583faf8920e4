"""The parts of batches in the store: lists of sources, and rows as documents end."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from pydantic import ValidationError

from quire.contracts.batch import DocumentRow, SourceItem, SourcePage
from quire.domain import errors
from quire.domain.batch.keys import (
    SOURCES_A_PAGE,
    page_of,
    rows_folder,
    source_page_key,
)
from quire.domain.batch.rows import latest_rows
from quire.ports import Store

PAGES_KEPT = 16
AT_ONCE = 16


class BatchStore:
    """Reads and writes them; the pages of sources that were read last are kept in memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: OrderedDict[str, SourcePage] = OrderedDict()

    async def write_sources(self, batch_id: str, items: Sequence[SourceItem]) -> None:
        """Write the list, before the batch is started."""
        for start in range(0, len(items), SOURCES_A_PAGE):
            page = SourcePage(items=tuple(items[start : start + SOURCES_A_PAGE]))
            key = source_page_key(batch_id, start // SOURCES_A_PAGE)
            await self._store.put(key, page.model_dump_json().encode())

    async def item(self, batch_id: str, number: int) -> SourceItem:
        """One source; one that is lost is refused."""
        page = await self._page(source_page_key(batch_id, page_of(number)))
        place = (number - 1) % SOURCES_A_PAGE
        if page is None or place >= len(page.items):
            return SourceItem(error=errors.sources_lost().info)
        return page.items[place]

    async def _page(self, key: str) -> SourcePage | None:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        data = await self._store.get(key)
        if data is None:
            return None
        try:
            page = SourcePage.model_validate_json(data)
        except ValidationError:
            return None
        self._kept[key] = page
        while len(self._kept) > PAGES_KEPT:
            self._kept.popitem(last=False)
        return page

    async def write_rows(self, key: str, rows: Sequence[DocumentRow]) -> None:
        """Write the rows of documents that ended; nothing where none did."""
        if rows:
            lines = [row.model_dump_json(exclude_defaults=True) for row in rows]
            await self._store.put(key, ("\n".join(lines) + "\n").encode())

    async def rows(self, batch_id: str) -> list[DocumentRow]:
        """One row a document that has ended, in their order."""
        keys = sorted([entry.key async for entry in self._store.entries(rows_folder(batch_id))])
        found: list[DocumentRow] = []
        for start in range(0, len(keys), AT_ONCE):
            several = (self._store.get(key) for key in keys[start : start + AT_ONCE])
            for data in await asyncio.gather(*several):
                found += _parse(data or b"")
        return latest_rows(found)


def _parse(data: bytes) -> list[DocumentRow]:
    """The rows of an object; a line that was changed is left out, and its document is read again
    by a retry."""
    rows: list[DocumentRow] = []
    for line in data.splitlines():
        try:
            rows.append(DocumentRow.model_validate_json(line))
        except ValidationError:
            continue
    return rows
