"""The documents under a prefix of a bucket: `s3://bucket/prefix/`."""

from collections.abc import Iterator

from quire.domain import errors
from quire.sources.listing import Found
from quire.store.s3_client import NoSuchObject, s3_client, s3_errors, split_url


def list_prefix(url: str) -> Iterator[Found]:
    """Every object that is called a PDF, in the order of the bucket. Whether an object may be
    read is known only when it is: one that is denied is refused by itself."""
    bucket, prefix = split_url(url)
    if not bucket:
        raise errors.url_without_object()
    empty = True
    try:
        with s3_errors(bucket):
            pages = s3_client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=bucket, Prefix=prefix):
                for entry in page.get("Contents", ()):
                    key = str(entry["Key"])
                    if key.lower().endswith(".pdf"):
                        empty = False
                        found = f"s3://{bucket}/{key}"
                        # Objects with the same tag and size have the same bytes.
                        tag = f"{entry.get('ETag', '')}:{entry.get('Size', '')}"
                        yield Found(found, found, content=tag)
    except NoSuchObject:
        raise errors.no_such_bucket(bucket) from None
    if empty:
        yield Found.refused(url, url, errors.nothing_found(url))
