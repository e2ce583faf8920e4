"""The service of a tool's state folder, as tests see it and end it."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from quire.service.link import running_services
from quire.temporal.seats import Seats
from testing.tool import Tool
from testing.wait import wait_until


def with_service(tool: Tool, **settings: str) -> Tool:
    """The tool as people have it: its commands share a service."""
    return tool.also(**{"SERVICE_MODE": "auto", "SERVICE_IDLE": "1m", **settings})


def notes_of(tool: Tool) -> list[dict[str, Any]]:
    """What the services that run say of themselves."""
    seats = Seats(tool.state)
    return [json.loads(seats.path(one, "json").read_text()) for one in running_services(seats)]


def service_of(tool: Tool) -> dict[str, Any]:
    """The only service that runs, which is ready."""
    wait_until(lambda: [note["state"] for note in notes_of(tool)] == ["ready"])
    [note] = notes_of(tool)
    return note


def kill_services(tool: Tool) -> None:
    """Kill them, whatever they do; their server dies with them."""
    seats = Seats(tool.state)
    while running := running_services(seats):
        for note in running.values():
            if note.pid:
                with suppress(ProcessLookupError):
                    os.kill(note.pid, signal.SIGKILL)
        wait_until(lambda: not any(note.pid for note in running_services(seats).values()))


@contextmanager
def serviced(tool: Tool, **settings: str) -> Iterator[Tool]:
    """The tool with a service, of which nothing is left afterwards."""
    try:
        yield with_service(tool, **settings)
    finally:
        kill_services(tool)
