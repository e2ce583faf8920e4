"""A store in a bucket of any S3-compatible server."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from boto3.s3.transfer import TransferConfig

from quire.ports import Entry
from quire.store.cache import FileCache
from quire.store.s3_client import NoSuchObject, ObjectExists, s3_client, s3_errors

T = TypeVar("T")

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
    """Objects under a prefix of a bucket. boto3 blocks, so every call runs in a thread."""

    def __init__(self, bucket: str, prefix: str, files: FileCache) -> None:
        self.bucket = bucket
        self._prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        self._files = files

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        return await self._run(self._get, key)

    def _get(self, key: str) -> bytes | None:
        try:
            with s3_errors(self.bucket):
                answer = s3_client().get_object(
                    Bucket=self.bucket, Key=self._prefix + key, ChecksumMode="ENABLED"
                )
                return bytes(answer["Body"].read())
        except NoSuchObject:
            return None

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object; False when it exists and `replace` is off."""
        return await self._run(self._put, key, data, replace)

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
        return await self._run(self._age_s, key) is not None

    def _age_s(self, key: str) -> float | None:
        try:
            with s3_errors(self.bucket):
                head = s3_client().head_object(Bucket=self.bucket, Key=self._prefix + key)
                return time.time() - float(head["LastModified"].timestamp())
        except NoSuchObject:
            return None

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Upload a file; an existing object that may stay only counts as used again."""
        await self._run(self._put_file, key, path, replace)

    def _put_file(self, key: str, path: Path, replace: bool) -> None:
        age_s = None if replace else self._age_s(key)
        if age_s is not None:
            if age_s > _REFRESH_AFTER_S:
                self._refresh(key)
            return
        if path.stat().st_size < _MULTIPART_FROM:
            with path.open("rb") as file:
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
            )

    def _refresh(self, key: str) -> None:
        name = self._prefix + key
        with s3_errors(self.bucket):
            s3_client().copy(
                {"Bucket": self.bucket, "Key": name},
                self.bucket,
                name,
                ExtraArgs={"MetadataDirective": "REPLACE", "ContentType": _content_type(key)},
            )

    async def local_path(self, key: str) -> Path | None:
        """The object as a file in the cache, or None."""
        return await self._run(self._files.get, key, lambda part: self._download(key, part))

    def _download(self, key: str, part: Path) -> bool:
        try:
            with s3_errors(self.bucket):
                s3_client().download_file(
                    self.bucket, self._prefix + key, str(part), Config=_TRANSFER
                )
        except NoSuchObject:
            return False
        return True

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """No path, and the URL of the object."""
        return None, f"s3://{self.bucket}/{self._prefix}{key}"

    async def link(self, key: str, seconds: int) -> str | None:
        """A URL that reads the object without credentials for this long."""
        return await self._run(self._link, key, seconds)

    def _link(self, key: str, seconds: int) -> str:
        with s3_errors(self.bucket):
            signed = s3_client().generate_presigned_url(
                "get_object",
                Params={"Bucket": self.bucket, "Key": self._prefix + key},
                ExpiresIn=seconds,
            )
        return str(signed)

    async def entries(self) -> AsyncIterator[Entry]:
        """Every object under the prefix, in no order."""
        token: dict[str, Any] = {}
        while True:
            page = await self._run(self._list, token)
            for found in page.get("Contents", []):
                key = found["Key"].removeprefix(self._prefix)
                yield Entry(key, found["Size"], found["LastModified"].timestamp())
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def _list(self, token: dict[str, Any]) -> Any:
        with s3_errors(self.bucket):
            return s3_client().list_objects_v2(Bucket=self.bucket, Prefix=self._prefix, **token)

    async def delete(self, key: str) -> None:
        """Remove the object."""
        await self._run(self._delete, key)

    def _delete(self, key: str) -> None:
        with s3_errors(self.bucket):
            s3_client().delete_object(Bucket=self.bucket, Key=self._prefix + key)

    async def _run(self, call: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(_threads(), call, *args)


@cache
def _threads() -> ThreadPoolExecutor:
    """One pool of threads for all stores: results may go to many buckets."""
    return ThreadPoolExecutor(32, thread_name_prefix="quire-s3")


def _content_type(key: str) -> str:
    if key.endswith(".json"):
        return "application/json"
    return "text/plain; charset=utf-8" if key.endswith(".txt") else "application/octet-stream"
