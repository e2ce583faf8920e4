"""The names under which people call the programs, and the version."""

import sys
from importlib import metadata
from pathlib import Path

# The programs as they are installed, and as a checkout has them.
TOOL, WORKER = "quire", "quire-worker"
_OF_CHECKOUT = {TOOL: "starter.py", WORKER: "worker.py"}


def _in_checkout() -> bool:
    return Path(sys.argv[0]).name in _OF_CHECKOUT.values()


def tool_name() -> str:
    """How people call the tool here: `quire`, or `starter.py` from a checkout."""
    return _OF_CHECKOUT[TOOL] if _in_checkout() else TOOL


def worker_name() -> str:
    """How people call the worker here: `quire-worker`, or `worker.py` from a checkout."""
    return _OF_CHECKOUT[WORKER] if _in_checkout() else WORKER


def as_called(words: str) -> str:
    """The words with the programs' names as people call them here.

    Errors are written by any process, for any caller: they name programs as they are installed,
    in backticks.
    """
    if not _in_checkout():
        return words
    for installed, here in _OF_CHECKOUT.items():
        for end in (" ", "`"):
            words = words.replace(f"`{installed}{end}", f"`{here}{end}")
    return words


def version() -> str:
    """The version of the installed package, or of the checkout that runs without one."""
    try:
        return metadata.version("quire")
    except metadata.PackageNotFoundError:
        return _version_of_checkout()


def _version_of_checkout() -> str:
    import tomllib

    try:
        about = Path(__file__).parents[2].joinpath("pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(about)["project"]["version"])
    except (OSError, KeyError, ValueError):
        return "unknown"
