"""Documents in a bucket: `s3://bucket/key`."""

import asyncio
from pathlib import Path

from quire.contracts.codes import Code
from quire.domain.errors import DocumentRefused
from quire.sources.sniff import too_large
from quire.store.buckets import NoSuchObject, s3_client, s3_errors, split_url

_PIECE = 1024 * 1024


async def download_object(url: str, target: Path, max_bytes: int) -> None:
    """Put the object into `target`, streaming."""
    bucket, key = split_url(url)
    if not bucket or not key:
        raise DocumentRefused(
            Code.IO_ERROR,
            "BAD_URL",
            "The URL names no object.",
            "Write s3://bucket/key.",
        )
    await asyncio.to_thread(_download, bucket, key, target, max_bytes)


def _download(bucket: str, key: str, target: Path, max_bytes: int) -> None:
    try:
        with s3_errors(bucket):
            answer = s3_client().get_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
            size = int(answer["ContentLength"])
            if size > max_bytes:
                answer["Body"].close()
                raise too_large(f"The document has {size:,} bytes", max_bytes)
            with target.open("wb") as file:
                for piece in answer["Body"].iter_chunks(_PIECE):
                    file.write(piece)
    except NoSuchObject:
        raise DocumentRefused(
            Code.EXPIRED,
            "SOURCE_GONE",
            f"There is no object {key.rpartition('/')[2]!r} in the bucket {bucket!r}.",
            "Check the URL, or upload the document again.",
        ) from None
