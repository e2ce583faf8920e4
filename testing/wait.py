"""Waiting for what other processes bring about."""

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object], *, timeout: float = 60.0) -> None:
    """Return once this is so; fail when it never comes."""
    end = time.monotonic() + timeout
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
