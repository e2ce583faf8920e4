"""A store that gives out only what was written: everything is verified when it is read.

Documents and texts are named by the hash of their bytes; JSON objects carry a checksum
(`quire/store/seal.py`). A damaged object is moved into quarantine, reported, and from then on is
missing: whoever needs it makes it again.
"""

import hashlib
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from quire.contracts.stored import Brief, PageSurvey, StoredAnswer, StoredResult
from quire.domain.document.keys import chunk_of
from quire.domain.errors import QuireError
from quire.ports import Damage, Entry, Store
from quire.store.file_checks import FileChecks
from quire.store.quarantine import set_aside
from quire.store.seal import Damaged, seal, unseal

BY_HASH = ("sources", "texts")
# What objects without a checksum, as versions from before wrote them, must be.
SHAPES: dict[str, TypeAdapter[Any]] = {
    "surveys": TypeAdapter(list[PageSurvey]),
    "answers": TypeAdapter(StoredAnswer),
    "briefs": TypeAdapter(Brief),
    "finished": TypeAdapter(StoredResult),
}
DAMAGED_KEPT = 1000


class VerifiedStore:
    """Another store, verified. What is of no known kind passes as it is."""

    def __init__(self, store: Store, report: Callable[[Damage], None]) -> None:
        self._store = store
        self._report = report
        self._files = FileChecks()
        # A file of a store elsewhere is only a copy here.
        self._is_near = store.describe("")[0] is not None
        # Objects that could not be moved away, where deleting is not allowed: to be overwritten.
        self._damaged: OrderedDict[str, None] = OrderedDict()

    async def get(self, key: str) -> bytes | None:
        """The object as it was written, or None."""
        data = await self._store.get(key)
        if data is None:
            return None
        try:
            return _verify(key, data)
        except Damaged as error:
            return await self._get_again(key, data, str(error))

    async def peek(self, key: str) -> bytes | None:
        """The object as it was written, or None; this does not count as a use, and leaves a
        damaged one where it is."""
        data = await self._store.peek(key)
        try:
            return None if data is None else _verify(key, data)
        except Damaged:
            return None

    async def _get_again(self, key: str, damaged: bytes, why: str) -> bytes | None:
        """Set the object aside, unless another process has just replaced it by a good one."""
        data = await self._store.get(key)
        if data is not None and data != damaged:
            with suppress(Damaged):
                return _verify(key, data)
        if data is not None:
            with tempfile.TemporaryDirectory(prefix="quire-") as folder:
                path = Path(folder) / "damaged"
                path.write_bytes(data)
                await self._remove(key, path, why)
        return None

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object with its checksum; a damaged one does not count as the first."""
        sealed = seal(key, data) if _kind(key) in SHAPES else data
        replace = replace or key in self._damaged
        written = await self._store.put(key, sealed, replace=replace)
        self._damaged.pop(key, None)
        return written

    async def exists(self, key: str) -> bool:
        """Whether there is such an object, good or not."""
        return await self._store.exists(key)

    async def look(self, key: str) -> Entry | None:
        """The object as a listing shows it, or None."""
        return await self._store.look(key)

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Copy a file in; an existing object may stay if it is whole. Where the store cannot tell
        that, the object is read."""
        await self._store.put_file(key, path, replace=replace or key in self._damaged)
        self._damaged.pop(key, None)
        if replace or _kind(key) not in BY_HASH or await self.holds(key, path):
            return
        if not self._is_near and (copy := await self._store.local_path(key)) is not None:
            # A good copy here says nothing of the object there, which others read.
            copy.unlink(missing_ok=True)
        if await self.local_path(key) is None:
            await self._store.put_file(key, path, replace=key in self._damaged)
            self._damaged.pop(key, None)

    async def holds(self, key: str, path: Path) -> bool:
        """Whether the store knows that the object has the bytes of this file."""
        return await self._store.holds(key, path)

    async def local_path(self, key: str) -> Path | None:
        """The file of the object if it is whole, or None."""
        path = await self._store.local_path(key)
        if path is None or _kind(key) not in BY_HASH:
            return path
        if await self._files.is_whole(path, _hash_in(key)):
            return path
        if not self._is_near:
            # Perhaps only the copy on this machine is damaged.
            path.unlink(missing_ok=True)
            path = await self._store.local_path(key)
            if path is None or await self._files.is_whole(path, _hash_in(key)):
                return path
        await self._remove(key, path, "its bytes have another hash")
        if not self._is_near:
            path.unlink(missing_ok=True)
        return None

    async def _remove(self, key: str, copy: Path, why: str) -> None:
        """Move a damaged object away. A store that does not allow it must not stop the document."""
        moved = False
        try:
            await set_aside(self._store, key, copy)
            # Another process may have replaced it while it was copied.
            if _kind(key) not in BY_HASH or not await self._files.is_whole(copy, _hash_in(key)):
                await self._store.delete(key)
            moved = True
        except (OSError, QuireError):
            self._damaged[key] = None
            while len(self._damaged) > DAMAGED_KEPT:
                self._damaged.popitem(last=False)
        self._report(Damage(key=key, kind=_kind(key), why=why, set_aside=moved))

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """Where a person finds the object."""
        return self._store.describe(key)

    async def link(self, key: str, seconds: int) -> str | None:
        """A URL that reads the object without credentials, where there are such."""
        return await self._store.link(key, seconds)

    def entries(self, folder: str = "") -> AsyncIterator[Entry]:
        """Every object, or those of a folder, in no order."""
        return self._store.entries(folder)

    async def delete(self, key: str) -> None:
        """Remove the object."""
        await self._store.delete(key)


def _verify(key: str, data: bytes) -> bytes:
    """The object without its checksum; raises `Damaged`."""
    kind = _kind(key)
    if kind in BY_HASH and hashlib.sha256(data).hexdigest() != _hash_in(key):
        raise Damaged("its bytes have another hash")
    if kind not in SHAPES:
        return data
    body = unseal(key, data)
    if body is None:
        _check_shape(key, SHAPES[kind], data)
        return data
    return body


def _check_shape(key: str, shape: TypeAdapter[Any], data: bytes) -> None:
    try:
        found = shape.validate_json(data)
    except ValidationError:
        raise Damaged("it is not an object of its kind") from None
    if isinstance(found, list):
        chunks = {chunk_of(page.page) for page in found}
        if chunks != {int(key.rpartition("/")[2].partition(".")[0])}:
            raise Damaged("it is the survey of other pages")


def _kind(key: str) -> str:
    return key.partition("/")[0]


def _hash_in(key: str) -> str:
    return key.rpartition("/")[2].removesuffix(".txt")
