"""Lends settings to a library that reads the environment while it is set up, and only then."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def lend_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Have these values in the environment for the moment.

    A process that is started meanwhile would inherit them, so nothing may be started inside.
    """
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, text in before.items():
            if text is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = text
