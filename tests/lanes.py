"""Two lanes of tests: those that start servers, and the others, which `make check` runs.

A test is marked `servers` when it uses a fixture that leads to one, or by hand. A test without
the mark that starts a server fails in either lane, so the mark cannot be forgotten.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import pytest

# Fixtures that start a server, or hand out the tool, whose commands start one.
SERVER_FIXTURES = {"tool", "lone_tool", "_shared", "s3", "cluster"}
# Programs that are servers whatever their arguments; `temporal` is one only as `temporal server`.
SERVERS = {"weed", "prometheus", "chromium", "chromedriver", "postgres"}
# Our own programs start an embedded server, or need one.
PROGRAMS = {"starter.py", "worker.py"}
LEFT_OUT = pytest.StashKey[int]()


class ServerStarted(Exception):
    """A test of the quick lane started a server."""


class _Guard:
    """Sees every process that this one starts; once added, an audit hook stays until the end."""

    def __init__(self) -> None:
        self.armed = False
        self.caught: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed or event not in ("subprocess.Popen", "os.posix_spawn", "os.exec"):
            return
        found = started_server(arguments[0], arguments[1])
        if found:
            # Kept as well as raised: the code under test may catch what is raised.
            self.caught.append(found)
            raise ServerStarted(found)


def started_server(executable: Any, command: Any) -> str:
    """The server that this command starts; empty when it starts none."""
    listed = [command] if isinstance(command, str | bytes | os.PathLike) else [*command]
    words = [os.fsdecode(word) for word in (executable or "", *listed)]
    names = [PurePath(word).name for word in words]
    if names[0] in SERVERS or (names[1:] and names[1] in SERVERS):
        return names[0] if names[0] in SERVERS else names[1]
    if "temporal" in names[:2] and "server" in words:
        return "temporal server"
    return next((name for name in names if name in PROGRAMS), "")


_guard = _Guard()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marks, and look at the processes that tests start."""
    config.addinivalue_line("markers", "servers: starts a server; left to `make test`")
    config.addinivalue_line("markers", "long: takes more than 15 seconds; begun first")
    config.stash[LEFT_OUT] = 0
    sys.addaudithook(_guard)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark by fixture, then put first what takes long, so that nothing long is begun last."""
    for item in items:
        if SERVER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker("servers")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("long"):
        return 0
    return 1 if item.get_closest_marker("servers") else 2


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Watch a test that is not marked, its fixtures included."""
    _guard.armed = item.get_closest_marker("servers") is None
    _guard.caught.clear()
    try:
        return (yield)
    finally:
        _guard.armed = False


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that started a server, also when the code under test took no notice."""
    yield
    if _guard.caught:
        servers = ", ".join(_guard.caught)
        pytest.fail(f"starts {servers}: mark it with pytest.mark.servers", pytrace=False)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what the quick lane leaves out."""
    if items:
        items[0].config.stash[LEFT_OUT] += len(items)
