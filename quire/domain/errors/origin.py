"""Errors of a document's origin: a path, a URL, a bucket, our own store."""

from functools import partial

from quire.contracts.codes import Code, ErrorType
from quire.domain.errors.catalogue import Kind
from quire.domain.errors.document import SECTION
from quire.domain.errors.tree import DocumentRefused, QuireError

_kind = partial(Kind, SECTION, DocumentRefused)


class BucketDenied(QuireError):
    """S3 denies access to a bucket."""


_NOT_FOUND = _kind(Code.IO_ERROR, "NOT_FOUND", "there is no such file", "check the path")
_NOT_A_FILE = _kind(Code.IO_ERROR, "NOT_A_FILE", "the path is a folder or a device", "name a file")
_NOT_PERMITTED = _kind(
    Code.IO_ERROR, "UNREADABLE", "the file may not be read", "check its permissions"
)
_VANISHED = _kind(
    Code.IO_ERROR,
    "SOURCE_GONE",
    "the stored file vanished while it was read",
    "submit it again",
)
_GONE = _kind(
    Code.EXPIRED,
    "SOURCE_GONE",
    "the document (or the result a retry builds on) is no longer in the store",
    "submit it again",
)
_BAD_URL = _kind(
    Code.IO_ERROR,
    "BAD_URL",
    "the URL cannot be understood, or names no object",
    "correct it",
)
_NO_HOST = _kind(Code.IO_ERROR, "NO_HOST", "there is no such host", "check the URL")
_PRIVATE_ADDRESS = _kind(
    Code.IO_ERROR,
    "PRIVATE_ADDRESS",
    "the URL, or a redirect, leads into a private network",
    "give a public URL, or set `ALLOW_PRIVATE_URLS=true` where that is intended",
)
_REDIRECT = _kind(
    Code.IO_ERROR, "REDIRECT", "too many redirects, or one without a location", "give the final URL"
)
_CONNECT = _kind(
    Code.IO_ERROR, "CONNECT", "the server cannot be reached", "try again later", "retryable"
)
_TIMEOUT = _kind(
    Code.IO_ERROR,
    "TIMEOUT",
    "the download took longer than `SOURCE_TIMEOUT`, or came to a halt",
    "download it and give its path, or raise the limit",
)
_CUT_SHORT = _kind(
    Code.IO_ERROR,
    "CUT_SHORT",
    "the server closed the connection early, or sent less than it announced",
    "try again",
    "retryable",
)
_TRANSFER = _kind(Code.IO_ERROR, "TRANSFER", "the transfer failed", "try again", "retryable")
_DENIED = _kind(Code.IO_ERROR, "DENIED", "the server denies access", "check the link")
_SERVER = _kind(Code.IO_ERROR, "SERVER", "the server failed", "try again later")
_NO_BUCKET = Kind(
    SECTION,
    QuireError,
    Code.IO_ERROR,
    "NO_BUCKET",
    "there is no such bucket",
    "check its name and `AWS_ENDPOINT_URL`",
)
_NO_CREDENTIALS = Kind(
    SECTION,
    QuireError,
    Code.IO_ERROR,
    "S3_CREDENTIALS",
    "there are no S3 credentials",
    "set them as boto3 reads them",
)
_BUCKET_DENIED = Kind(
    SECTION,
    BucketDenied,
    Code.IO_ERROR,
    "S3_DENIED",
    "S3 denies access",
    "check what the credentials may do",
)

_CHECK_THE_URL = "Check the URL, or download the document and give its path."


def file_not_found(name: str) -> DocumentRefused:
    """There is no such file."""
    return _NOT_FOUND(f"There is no file {name}.", "Check the path.")


def not_a_file(name: str) -> DocumentRefused:
    """The path is a folder or a device."""
    return _NOT_A_FILE(f"{name} is not a file.", "Name one PDF file.")


def file_not_permitted(name: str) -> DocumentRefused:
    """The file exists, but reading it is not permitted."""
    return _NOT_PERMITTED(f"{name} may not be read.", "Check its permissions.")


def stored_file_vanished(why: str) -> DocumentRefused:
    """The stored file can no longer be read."""
    return _VANISHED(
        f"The document cannot be read: {why}.",
        "Check that the file is still there and readable, then send it again.",
    )


def document_gone() -> DocumentRefused:
    """The document is no longer in the store."""
    return _GONE("The document is no longer in the store.", "Submit it again.")


def previous_result_gone() -> DocumentRefused:
    """A retry builds on the earlier result, which is gone."""
    return _GONE("The result of the job is gone.", "Submit the document again.")


def no_such_object(bucket: str, name: str) -> DocumentRefused:
    """The bucket has no object of this name."""
    return _GONE(
        f"There is no object {name!r} in the bucket {bucket!r}.",
        "Check the URL, or upload the document again.",
    )


def not_on_server(status: int) -> DocumentRefused:
    """The web server has no such document."""
    return _GONE(
        f"The server has no such document ({status}).",
        "Check the URL; ask for a new link if this one had a time limit.",
    )


def url_not_understood() -> DocumentRefused:
    """The URL cannot be parsed."""
    return _BAD_URL("The URL cannot be understood.", _CHECK_THE_URL)


def url_not_of_web() -> DocumentRefused:
    """The URL, or one it redirects to, is not of a web server."""
    return _BAD_URL("The URL does not lead to a web server.", _CHECK_THE_URL)


def url_without_object() -> DocumentRefused:
    """An `s3://` URL that names a bucket only."""
    return _BAD_URL("The URL names no object.", "Write s3://bucket/key.")


def no_such_host(host: str) -> DocumentRefused:
    """The name of the host does not resolve."""
    return _NO_HOST(f"There is no host {host!r}.", "Check the URL.")


def private_address(host: str) -> DocumentRefused:
    """The host is inside a private network, which a URL must not reach."""
    return _PRIVATE_ADDRESS(
        f"The host {host!r} is inside a private network.",
        "Give a public URL, or set ALLOW_PRIVATE_URLS=true where that is intended.",
    )


def redirect_to_nowhere() -> DocumentRefused:
    """The server redirects without a location."""
    return _REDIRECT("The server redirects without a location.", _CHECK_THE_URL)


def too_many_redirects(*, allowed: int) -> DocumentRefused:
    """The server redirects too often, perhaps in a circle."""
    return _REDIRECT(f"The server redirects more than {allowed} times.", _CHECK_THE_URL)


def server_unreachable() -> DocumentRefused:
    """No connection to the document's server."""
    return _CONNECT("The server cannot be reached.", _CHECK_THE_URL)


def server_too_slow() -> DocumentRefused:
    """The document's server did not answer in time."""
    return _TIMEOUT("The server did not answer in time.", _CHECK_THE_URL, "retryable")


def download_too_slow(limit_s: float) -> DocumentRefused:
    """The whole document did not arrive within `SOURCE_TIMEOUT`."""
    return _TIMEOUT(
        f"The document did not arrive within {limit_s:g} seconds.",
        "Download it and give its path, or raise SOURCE_TIMEOUT.",
    )


def download_stalls(seconds: float) -> DocumentRefused:
    """The document arrives a few bytes at a time."""
    return _TIMEOUT(
        f"The server sent next to nothing for {seconds:g} seconds.",
        "Download it and give its path, or try again later.",
    )


def download_cut_short() -> DocumentRefused:
    """The server closed the connection early, or sent less than it announced."""
    return _CUT_SHORT("The server sent only a part of the document.", _CHECK_THE_URL)


def transfer_failed(why: str) -> DocumentRefused:
    """The transfer failed."""
    return _TRANSFER(f"The transfer failed ({why}).", _CHECK_THE_URL)


def server_denies(status: int) -> DocumentRefused:
    """The document's server denies access."""
    return _DENIED(f"The server denies access ({status}).", _CHECK_THE_URL)


def server_answers(status: int, *, passing: bool) -> DocumentRefused:
    """The document's server failed; `passing` if another attempt may succeed."""
    kind: ErrorType = "retryable" if passing else "terminal"
    return _SERVER(f"The server answers {status}.", _CHECK_THE_URL, kind)


def no_such_bucket(bucket: str) -> QuireError:
    """There is no bucket of this name."""
    return _NO_BUCKET(
        f"There is no bucket {bucket!r}.",
        "Check the name and AWS_ENDPOINT_URL, or create the bucket.",
    )


def no_s3_credentials() -> QuireError:
    """Boto3 finds no credentials."""
    return _NO_CREDENTIALS(
        "There are no S3 credentials.",
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or another of boto3's settings.",
    )


def bucket_denied(bucket: str, *, code: str) -> BucketDenied:
    """S3 denies access to the bucket."""
    return _BUCKET_DENIED(
        f"S3 denies access to the bucket {bucket!r} ({code}).",
        "Check the credentials and what they may do with this bucket.",
    )
