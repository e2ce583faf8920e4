"""Fetches a document from any origin."""

from collections.abc import Sequence
from pathlib import Path

from quire.domain.document.origin import Fetched
from quire.sources.file_kind import check_file
from quire.sources.files import hash_file
from quire.sources.roots import under_roots
from quire.sources.web import WebOrigin
from quire.threads import Dependency, TimeLimit, threads_of


class OriginFetcher:
    """Fetches a document as a file on this machine."""

    def __init__(
        self,
        *,
        max_bytes: int,
        time_limit_s: float,
        allow_private: bool,
        roots: Sequence[str] | None = None,
    ) -> None:
        self._max_bytes = max_bytes
        self._time_limit_s = time_limit_s
        # The folders whose files may be read; None for all.
        self._roots = roots
        self._web = WebOrigin(
            max_bytes=max_bytes, time_limit_s=time_limit_s, allow_private=allow_private
        )

    async def fetch(self, source: str, name: str, folder: Path) -> Fetched:
        """The file of a path, or a download in `folder`; refused under its name when it cannot be
        a document."""
        path = await self._download(source, folder) if is_remote(source) else self._local(source)
        kind = check_file(path, self._max_bytes, name or None)
        limit = TimeLimit()
        limit.allow_bytes(self._max_bytes)
        sha256 = await threads_of(Dependency.ORIGINS).run(hash_file, path, limit=limit)
        return Fetched(str(path), kind, sha256)

    def _local(self, source: str) -> Path:
        return Path(source) if self._roots is None else under_roots(Path(source), self._roots)

    async def _download(self, origin: str, folder: Path) -> Path:
        target = folder / "document"
        if origin.startswith("s3://"):
            # Imported late: boto3 takes a quarter of a second.
            from quire.sources.bucket import download_object

            await download_object(origin, target, self._max_bytes, self._time_limit_s)
        else:
            await self._web.download(origin, target)
        return target


def is_remote(origin: str) -> bool:
    """Whether the origin is a URL rather than a path on this machine."""
    return origin.lower().startswith(("http://", "https://", "s3://"))
