"""A store in a bucket of any S3-compatible server."""

import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from boto3.s3.transfer import TransferConfig

from quire.domain.errors import BucketDenied
from quire.ports import Entry
from quire.store.cache import FileCache
from quire.store.s3_body import WatchedFile, pieces, save_body, sent_checksum
from quire.store.s3_client import NoSuchObject, ObjectExists, s3_client, s3_errors
from quire.store.shared_calls import SharedCalls
from quire.threads import Dependency, TimeLimit, store_threads

# Below this size one conditional request is quicker than a multipart upload.
_MULTIPART_FROM = 8 * 1024**2
_TRANSFER = TransferConfig(
    multipart_threshold=_MULTIPART_FROM, multipart_chunksize=_MULTIPART_FROM, max_concurrency=4
)
# Lifecycle rules and `clean` go by age: an object used again after a day gets a new age.
_REFRESH_AFTER_S = 86_400.0
# The server verifies uploads by it, and boto3 downloads.
_CHECKSUM = "SHA256"


class S3Store:
    """Objects under a prefix of a bucket. boto3 blocks, so every call runs in a thread, within a
    total time: a base, and what the bytes take at the slowest rate that is waited for."""

    def __init__(
        self,
        bucket: str,
        prefix: str,
        files: FileCache,
        dependency: Dependency = Dependency.STORE,
    ) -> None:
        self.bucket = bucket
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._files = files
        self._threads, self._file_threads = store_threads(dependency)
        self._downloads = SharedCalls[Path | None]()

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        limit = TimeLimit()
        return await self._threads.run(self._get, key, limit, True, limit=limit)

    async def peek(self, key: str) -> bytes | None:
        """The object, or None; this does not count as a use."""
        limit = TimeLimit()
        return await self._threads.run(self._get, key, limit, False, limit=limit)

    def _get(self, key: str, limit: TimeLimit, use: bool) -> bytes | None:
        try:
            with s3_errors(self.bucket):
                answer = self._answer(key, limit)
                data = b"".join(pieces(answer, limit))
        except NoSuchObject:
            return None
        if use:
            self._note_use(key, answer["LastModified"].timestamp())
        return data

    def _answer(self, key: str, limit: TimeLimit) -> Any:
        answer = s3_client().get_object(
            Bucket=self.bucket, Key=self._prefix + key, ChecksumMode="ENABLED"
        )
        limit.allow_bytes(answer.get("ContentLength", 0))
        return answer

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object; False when it exists and `replace` is off."""
        limit = TimeLimit()
        limit.allow_bytes(len(data))
        return await self._threads.run(self._put, key, data, replace, limit=limit)

    def _put(self, key: str, body: Any, replace: bool) -> bool:
        condition: dict[str, Any] = {} if replace else {"IfNoneMatch": "*"}
        try:
            with s3_errors(self.bucket):
                s3_client().put_object(
                    Bucket=self.bucket,
                    Key=self._prefix + key,
                    Body=body,
                    ContentType=_content_type(key),
                    ChecksumAlgorithm=_CHECKSUM,
                    **condition,
                )
        except ObjectExists:
            return False
        return True

    async def exists(self, key: str) -> bool:
        """Whether there is such an object."""
        return await self.look(key) is not None

    async def look(self, key: str) -> Entry | None:
        """The object as a listing shows it, or None."""
        return await self._threads.run(self._look, key)

    def _look(self, key: str) -> Entry | None:
        try:
            with s3_errors(self.bucket):
                head = s3_client().head_object(Bucket=self.bucket, Key=self._prefix + key)
        except NoSuchObject:
            return None
        return Entry(key, int(head["ContentLength"]), head["LastModified"].timestamp())

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Upload a file; an existing object that may stay only counts as used again."""
        limit = TimeLimit()
        await self._file_threads.run(self._put_file, key, path, replace, limit, limit=limit)

    def _put_file(self, key: str, path: Path, replace: bool, limit: TimeLimit) -> None:
        size = path.stat().st_size
        limit.allow_bytes(size)
        found = None if replace else self._look(key)
        if found is not None:
            self._note_use(key, found.modified)
            return
        if size < _MULTIPART_FROM:
            with WatchedFile(path, limit) as file:
                self._put(key, file, replace)
            return
        # A multipart upload appears whole at its end. It is not conditional, and need not be: two
        # uploads of one key at once hold the same bytes.
        with s3_errors(self.bucket):
            s3_client().upload_file(
                str(path),
                self.bucket,
                self._prefix + key,
                ExtraArgs={"ChecksumAlgorithm": _CHECKSUM, "ContentType": _content_type(key)},
                Config=_TRANSFER,
                # Called for every piece; what it raises ends the upload.
                Callback=lambda sent: limit.check(),
            )

    async def holds(self, key: str, path: Path) -> bool:
        """Whether the server's checksum of the object is that of this file, sent as we send it."""
        limit = TimeLimit()
        return await self._file_threads.run(self._holds, key, path, limit, limit=limit)

    def _holds(self, key: str, path: Path, limit: TimeLimit) -> bool:
        size = path.stat().st_size
        limit.allow_bytes(size)
        try:
            with s3_errors(self.bucket):
                head = s3_client().head_object(
                    Bucket=self.bucket, Key=self._prefix + key, ChecksumMode="ENABLED"
                )
        except NoSuchObject:
            return False
        part = _MULTIPART_FROM if size >= _MULTIPART_FROM else None
        return bool(head.get("ChecksumSHA256") == sent_checksum(path, part))

    def _note_use(self, key: str, modified: float) -> None:
        if time.time() - modified <= _REFRESH_AFTER_S:
            return
        name = self._prefix + key
        # It may have been removed, or be somebody else's to write, or the server fails: what was
        # read is good all the same.
        with suppress(NoSuchObject, BucketDenied, OSError), s3_errors(self.bucket):
            s3_client().copy(
                {"Bucket": self.bucket, "Key": name},
                self.bucket,
                name,
                ExtraArgs={"MetadataDirective": "REPLACE", "ContentType": _content_type(key)},
            )

    async def local_path(self, key: str) -> Path | None:
        """The object as a file in the cache, or None."""
        # Most calls find the file here, and must not wait for others' downloads.
        found = await self._threads.run(self._files.find, key)
        return found or await self._downloads.run(key, lambda: self._fetch(key))

    async def _fetch(self, key: str) -> Path | None:
        limit = TimeLimit()
        return await self._file_threads.run(
            self._files.get, key, lambda part: self._download(key, part, limit), limit=limit
        )

    def _download(self, key: str, part: Path, limit: TimeLimit) -> bool:
        try:
            with s3_errors(self.bucket):
                save_body(self._answer(key, limit), part, limit)
        except NoSuchObject:
            return False
        return True

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """No path, and the URL of the object."""
        return None, f"s3://{self.bucket}/{self._prefix}{key}"

    async def link(self, key: str, seconds: int) -> str | None:
        """A URL that reads the object without credentials for this long."""
        return await self._threads.run(self._link, key, seconds)

    def _link(self, key: str, seconds: int) -> str:
        with s3_errors(self.bucket):
            signed = s3_client().generate_presigned_url(
                "get_object",
                Params={"Bucket": self.bucket, "Key": self._prefix + key},
                ExpiresIn=seconds,
            )
        return str(signed)

    async def entries(self, folder: str = "") -> AsyncIterator[Entry]:
        """Every object under the prefix, or in a folder there, in no order."""
        token: dict[str, Any] = {}
        while True:
            page = await self._threads.run(self._list, folder, token)
            for found in page.get("Contents", []):
                key = found["Key"].removeprefix(self._prefix)
                yield Entry(key, found["Size"], found["LastModified"].timestamp())
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def _list(self, folder: str, token: dict[str, Any]) -> Any:
        with s3_errors(self.bucket):
            return s3_client().list_objects_v2(
                Bucket=self.bucket, Prefix=self._prefix + folder, **token
            )

    async def delete(self, key: str) -> None:
        """Remove the object."""
        await self._threads.run(self._delete, key)

    def _delete(self, key: str) -> None:
        with s3_errors(self.bucket):
            s3_client().delete_object(Bucket=self.bucket, Key=self._prefix + key)


def _content_type(key: str) -> str:
    if key.endswith(".json"):
        return "application/json"
    return "text/plain; charset=utf-8" if key.endswith(".txt") else "application/octet-stream"
