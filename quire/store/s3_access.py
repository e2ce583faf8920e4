"""How this process reaches S3 where the environment does not say it.

Apart from the client, which imports boto3: most processes never need it.
"""

from collections.abc import Mapping

_values: dict[str, str] = {}


def set_s3_access(values: Mapping[str, str]) -> None:
    """Use these of boto3's settings (`AWS_*`), for every client of this process from now on."""
    _values.clear()
    _values.update(values)


def s3_access() -> Mapping[str, str]:
    """The settings to use; empty where boto3 reads its own."""
    return _values
