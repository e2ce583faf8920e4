"""The log of a service: all that it and its children write, in two files of bounded size."""

import os
from pathlib import Path

LARGEST = 2 * 1024 * 1024
_STREAMS = (1, 2)


class LogFile:
    """The file that standard output and error go to."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def keep_small(self) -> None:
        """Begin a new file once this one is large; the one before it is kept."""
        if os.fstat(_STREAMS[-1]).st_size <= LARGEST:
            return
        self._path.replace(self._path.with_suffix(".log.1"))
        handle = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        for stream in _STREAMS:
            os.dup2(handle, stream)
        os.close(handle)
