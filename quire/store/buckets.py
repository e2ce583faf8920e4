"""S3 as boto3 speaks it: where it is and who we are come from boto3's own settings (`AWS_*`)."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from quire.contracts.codes import Code
from quire.domain.errors import QuireError

# Short outages are boto3's to bridge; longer ones are Temporal's, where they can be seen.
_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=32,
    # Links are else signed the old way, which newer regions and servers refuse.
    signature_version="s3v4",
)
_DENIED = {
    "403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken",
    "InvalidToken", "AllAccessDisabled",
}  # fmt: skip


class NoSuchObject(Exception):
    """There is nothing under this key."""


class ObjectExists(Exception):
    """A conditional write found that another was first."""


def split_url(url: str) -> tuple[str, str]:
    """`s3://bucket/some/key` as bucket and key."""
    bucket, _, key = url.removeprefix("s3://").partition("/")
    return bucket, key


@cache
def s3_client() -> Any:
    """The process's one client, made at its first use: making one takes a tenth of a second."""
    session = boto3.session.Session()
    client = session.client("s3", config=_CONFIG)
    host = urlsplit(client.meta.endpoint_url).hostname or ""
    if not host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        # Other servers rarely have a host name for each bucket.
        by_path = _CONFIG.merge(Config(s3={"addressing_style": "path"}))
        client = session.client("s3", config=by_path)
    return client


@contextmanager
def s3_errors(bucket: str) -> Iterator[None]:
    """What boto3 raises becomes ours, by its code: OSError for what may pass by itself."""
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError):
        raise QuireError(
            Code.IO_ERROR,
            "S3_CREDENTIALS",
            "There are no S3 credentials.",
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else boto3 reads.",
        ) from None
    except ClientError as error:
        raise _meaning(error, bucket) from error
    except BotoCoreError as error:
        raise OSError(errno.EIO, f"S3 does not answer ({type(error).__name__})") from error


def _meaning(error: ClientError, bucket: str) -> Exception:
    code = error.response.get("Error", {}).get("Code", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in ("NoSuchKey", "404", "NotFound"):
        return NoSuchObject()
    if code in ("PreconditionFailed", "ConditionalRequestConflict") or status == 412:
        return ObjectExists()
    if code == "NoSuchBucket":
        return QuireError(
            Code.IO_ERROR,
            "NO_BUCKET",
            f"There is no bucket {bucket!r}.",
            "Check the name and AWS_ENDPOINT_URL, or create the bucket.",
        )
    if code in _DENIED or status in (401, 403):
        return QuireError(
            Code.IO_ERROR,
            "S3_DENIED",
            f"S3 denies access to the bucket {bucket!r} ({code}).",
            "Check the credentials and what they may do with this bucket.",
        )
    return OSError(errno.EIO, f"S3 failed ({code or status})")
