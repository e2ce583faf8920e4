"""One way to every source."""

import asyncio
from pathlib import Path

from quire.domain.document.origin import Fetched
from quire.sources.files import hash_file
from quire.sources.sniff import check_file
from quire.sources.web import WebSource


class Sources:
    """Fetches a document as a file on this machine."""

    def __init__(self, *, max_bytes: int, time_limit_s: float, allow_private: bool) -> None:
        self._max_bytes = max_bytes
        self._web = WebSource(
            max_bytes=max_bytes, time_limit_s=time_limit_s, allow_private=allow_private
        )

    async def fetch(self, source: str, name: str, folder: Path) -> Fetched:
        """The file itself for a path; for anything else, a new file in `folder`. Checked, and
        refused under its name if it cannot be a document."""
        path = await self._bring(source, folder) if is_remote(source) else Path(source)
        kind = check_file(path, self._max_bytes, name or None)
        return Fetched(str(path), kind, await asyncio.to_thread(hash_file, path))

    async def _bring(self, source: str, folder: Path) -> Path:
        target = folder / "document"
        if source.startswith("s3://"):
            # Late, since boto3 takes a quarter of a second to import.
            from quire.sources.bucket import download_object

            await download_object(source, target, self._max_bytes)
        else:
            await self._web.download(source, target)
        return target


def is_remote(source: str) -> bool:
    """A URL rather than a path on this machine."""
    return source.lower().startswith(("http://", "https://", "s3://"))
