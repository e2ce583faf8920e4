"""Ties the life of a child to that of the process that starts it."""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1
# Looked up before a fork: a child of a program with threads must not load anything.
_prctl = ctypes.CDLL(None, use_errno=True).prctl if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Called in a child before its program: SIGKILL once the thread that started it has ended,
    which must be one that lives as long as its process."""
    if _prctl is not None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
