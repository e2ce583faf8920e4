"""Documents in a bucket: `s3://bucket/key`."""

from pathlib import Path

from quire.domain import errors
from quire.store.s3_body import save_body
from quire.store.s3_client import NoSuchObject, s3_client, s3_errors, split_url
from quire.threads import STALL_S, Dependency, TimeLimit, TooSlow, threads_of


async def download_object(url: str, target: Path, max_bytes: int, time_limit_s: float) -> None:
    """Download the object into the file `target`, in pieces and within the time."""
    bucket, key = split_url(url)
    if not bucket or not key:
        raise errors.url_without_object()
    limit = TimeLimit(time_limit_s)
    try:
        await threads_of(Dependency.ORIGINS).run(
            _download, bucket, key, target, max_bytes, limit, limit=limit
        )
    except TooSlow:
        if limit.stalled:
            raise errors.download_stalls(STALL_S) from None
        raise errors.download_too_slow(time_limit_s) from None


def _download(bucket: str, key: str, target: Path, max_bytes: int, limit: TimeLimit) -> None:
    try:
        with s3_errors(bucket):
            answer = s3_client().get_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
            size = int(answer["ContentLength"])
            if size > max_bytes:
                answer["Body"].close()
                raise errors.too_many_bytes(f"The document has {size:,} bytes", allowed=max_bytes)
            save_body(answer, target, limit)
    except NoSuchObject:
        raise errors.no_such_object(bucket, key.rpartition("/")[2]) from None
