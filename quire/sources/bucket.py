"""Documents in a bucket: `s3://bucket/key`."""

import asyncio
from pathlib import Path

from quire.domain import errors
from quire.store.s3_client import NoSuchObject, s3_client, s3_errors, split_url

_PIECE = 1024 * 1024


async def download_object(url: str, target: Path, max_bytes: int) -> None:
    """Download the object into the file `target`, in pieces."""
    bucket, key = split_url(url)
    if not bucket or not key:
        raise errors.url_without_object()
    await asyncio.to_thread(_download, bucket, key, target, max_bytes)


def _download(bucket: str, key: str, target: Path, max_bytes: int) -> None:
    try:
        with s3_errors(bucket):
            answer = s3_client().get_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
            size = int(answer["ContentLength"])
            if size > max_bytes:
                answer["Body"].close()
                raise errors.too_many_bytes(f"The document has {size:,} bytes", allowed=max_bytes)
            with target.open("wb") as file:
                for piece in answer["Body"].iter_chunks(_PIECE):
                    file.write(piece)
    except NoSuchObject:
        raise errors.no_such_object(bucket, key.rpartition("/")[2]) from None
