"""The S3 client and its errors; address and credentials are boto3's own settings (`AWS_*`)."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from quire.domain import errors
from quire.store.s3_access import s3_access

# boto3 retries through short outages; Temporal retries through longer ones, where they are visible.
_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 4},
    connect_timeout=5,
    read_timeout=30,
    # As many as there are threads that may use them.
    max_pool_connections=96,
    # The default signs links the old way, which newer regions and servers refuse.
    signature_version="s3v4",
)
# What boto3 calls those settings that it lets a program set.
_VARIABLES = {
    "profile": "AWS_PROFILE",
    "ca_bundle": "AWS_CA_BUNDLE",
    "config_file": "AWS_CONFIG_FILE",
    "credentials_file": "AWS_SHARED_CREDENTIALS_FILE",
}
_DENIED = {
    "403", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken",
    "InvalidToken", "AllAccessDisabled",
}  # fmt: skip


class NoSuchObject(Exception):
    """There is no object under this key."""


class ObjectExists(Exception):
    """A conditional write found an object that another process wrote first."""


def split_url(url: str) -> tuple[str, str]:
    """`s3://bucket/some/key` as bucket and key."""
    bucket, _, key = url.removeprefix("s3://").partition("/")
    return bucket, key


@cache
def s3_client() -> Any:
    """The one client of this process, created at first use, which takes a tenth of a second."""
    session, endpoint = _session()
    client = session.client("s3", config=_CONFIG, endpoint_url=endpoint)
    host = urlsplit(client.meta.endpoint_url).hostname or ""
    if not host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        # Other servers rarely have a host name for each bucket.
        by_path = _CONFIG.merge(Config(s3={"addressing_style": "path"}))
        client = session.client("s3", config=by_path, endpoint_url=endpoint)
    return client


def _session() -> tuple[boto3.session.Session, str | None]:
    """boto3's session and the server's address; None where boto3 finds its own."""
    given = s3_access()
    if not given:
        return boto3.session.Session(), None
    core = botocore.session.Session()
    for variable, name in _VARIABLES.items():
        if name in given:
            core.set_config_variable(variable, given[name])
    if "AWS_ACCESS_KEY_ID" in given:
        core.set_credentials(
            given["AWS_ACCESS_KEY_ID"],
            given.get("AWS_SECRET_ACCESS_KEY", ""),
            given.get("AWS_SESSION_TOKEN"),
        )
    endpoint = given.get("AWS_ENDPOINT_URL_S3") or given.get("AWS_ENDPOINT_URL")
    region = given.get("AWS_DEFAULT_REGION") or given.get("AWS_REGION")
    return boto3.session.Session(botocore_session=core, region_name=region), endpoint


@contextmanager
def s3_errors(bucket: str) -> Iterator[None]:
    """Turn boto3's errors into ours by their codes; an OSError is one that may pass by itself."""
    try:
        yield
    except (NoCredentialsError, PartialCredentialsError):
        raise errors.no_s3_credentials() from None
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
        return errors.no_such_bucket(bucket)
    if code in _DENIED or status in (401, 403):
        return errors.bucket_denied(bucket, code=code)
    return OSError(errno.EIO, f"S3 failed ({code or status})")
