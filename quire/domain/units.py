"""Durations, sizes, lists and addresses as people write them."""

import re
from datetime import timedelta

from quire.contracts.names import LONGEST_DEADLINE_S

# A running document needs what is younger.
SHORTEST_AGE_S = 3600.0
MOST_CALLS = 1000
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30,
}  # fmt: skip


def parse_age(value: object) -> float:
    """`30d` as seconds: how long something unused is kept, an hour at least."""
    text = str(value).strip()
    days = re.fullmatch(r"([0-9]{1,4})d", text)
    seconds = int(days[1]) * 86400.0 if days else parse_duration(text)
    if seconds < SHORTEST_AGE_S:
        raise ValueError("an age such as 30d, 1h at least")
    return seconds


def parse_duration(value: object) -> float:
    """`3m`, `60s`, `500ms`, `1h30m` as seconds."""
    text = str(value).strip()
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("a duration such as 3m, 60s or 500ms")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds <= LONGEST_DEADLINE_S:
        raise ValueError("a duration above zero, up to 30d")
    return seconds


def parse_pause(value: object) -> float:
    """A duration that may be zero."""
    return (
        0.0 if re.fullmatch(r"0+(\.0+)?(ms|s|m|h|d)", str(value).strip()) else parse_duration(value)
    )


def parse_window(value: object) -> int | timedelta:
    """`20` as a number of calls, `2m` as a time."""
    if isinstance(value, timedelta):
        return value
    text = str(value).strip()
    if re.fullmatch(r"[0-9]{1,4}", text) and 1 <= int(text) <= MOST_CALLS:
        return int(text)
    if _DURATION.match(text):
        return timedelta(seconds=parse_duration(text))
    raise ValueError(f"a whole number of calls from 1 to {MOST_CALLS}, or a time such as 2m")


def parse_size(value: object) -> int:
    """`200MB` as bytes."""
    match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", str(value).strip())
    if not match or match[2].upper() not in _BYTES:
        raise ValueError("a size such as 200MB")
    size = int(match[1]) * _BYTES[match[2].upper()]
    if size == 0:
        raise ValueError("a size above zero")
    return size


def parse_list(value: object) -> tuple[str, ...]:
    """`a, b` as its parts."""
    if isinstance(value, (tuple, list)):
        return tuple(value)
    return tuple(part.strip() for part in str(value).split(",") if part.strip())


def parse_address(value: object) -> str:
    """`127.0.0.1:9464`, or nothing."""
    host, _, port = str(value).strip().rpartition(":")
    if str(value).strip() and not (host and port.isdigit() and int(port) < 65536):
        raise ValueError("an address such as 127.0.0.1:9464")
    return str(value).strip()
