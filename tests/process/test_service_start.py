"""A service that cannot start says why; its Web UI; and clients and commands that do without."""

import asyncio
import json
import os
import shutil
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

import quire
from quire.domain.errors import QuireError
from quire.service.link import ServiceLink
from quire.service.note import Note
from quire.settings import Settings
from quire.temporal.seats import Seats
from testing.service import notes_of, service_of, serviced
from testing.tool import Tool, own_environment
from testing.wait import wait_until


def test_it_says_why_it_cannot_start(lone_tool: Tool, one_page: Path) -> None:
    """In one line with what to do, as without a service."""
    with serviced(lone_tool) as tool:
        tool.state.mkdir()
        (tool.state / "temporal.db").mkdir()
        ran = tool.run("process", one_page, "--json")
        assert ran.code == 1
        assert ran.json["error"]["message"] == "The embedded Temporal server did not start."
        assert "server.log" in ran.json["error"]["remedy"]
        assert "Traceback" not in ran.err
        wait_until(lambda: not notes_of(tool))
        (tool.state / "temporal.db").rmdir()
        # A folder of another kind in the way, as a broken copy of a state folder has.
        (tool.state / "service/seat-1.users").unlink()
        (tool.state / "service/seat-1.users").mkdir()
        ran = tool.run("process", one_page, "--json")
        assert ran.code == 1
        assert "seat-1.users" in ran.err
        (tool.state / "service/seat-1.users").rmdir()
        assert tool.process(one_page).code == 0


def test_a_death_before_it_is_ready_is_told_by_the_last_line_of_its_log(tmp_path: Path) -> None:
    seats = Seats(tmp_path)
    seats.make_folder()
    seats.path(1, "log").write_text("first\nout of luck\n")
    settings = Settings(state_dir=tmp_path)
    link = ServiceLink(settings)
    with seats.locked():
        seat = seats.take()
        Note.starting(settings).write(seats.path(seat.number, "json"))
    assert link.begin(), "it is being started"
    seat.release()
    with pytest.raises(QuireError) as caught:
        asyncio.run(link.ready())
    assert caught.value.message == "The background service did not start: out of luck."
    assert "seat-1.log" in caught.value.remedy
    link.close()


def test_ui_has_one_address(lone_tool: Tool) -> None:
    port = free_port()
    with serviced(lone_tool, UI_PORT_NUMBER=str(port)) as tool:
        showing = tool.start("ui")
        assert showing.stderr is not None
        assert f"http://127.0.0.1:{port} (until Ctrl-C)" in showing.stderr.readline()
        page = urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=20).read()
        assert b"<!doctype html>" in page
        settings = urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/settings", timeout=20)
        assert "DefaultNamespace" in json.loads(settings.read())
        taken = tool.run("ui")
        assert taken.code == 2
        assert "UI_PORT_NUMBER: nothing can listen" in taken.err
        showing.send_signal(signal.SIGINT)
        _, err = showing.communicate(timeout=30)
        assert (showing.returncode, err) == (0, "")
        assert service_of(tool)["state"] == "ready"
    cluster = lone_tool.run("ui", TEMPORAL_ADDRESS="127.0.0.1:9")
    assert cluster.code in (1, 2)
    assert lone_tool.run("service", "stop", TEMPORAL_ADDRESS="127.0.0.1:9").code == 2


def test_a_service_that_dies_every_time_is_not_started_without_end(lone_tool: Tool) -> None:
    """Those who follow it try some times, then say where its log is."""
    with serviced(lone_tool, UI_PORT_NUMBER=str(free_port())) as tool:
        showing = tool.start("ui")
        assert showing.stderr is not None
        assert "until Ctrl-C" in showing.stderr.readline()
        pid = service_of(tool)["pid"]
        # No server can open this; the service that runs has its own open already.
        (tool.state / "temporal.db").unlink()
        (tool.state / "temporal.db").mkdir()
        os.kill(pid, signal.SIGKILL)
        _, err = showing.communicate(timeout=120)
        assert showing.returncode == 1
        assert "The background service ends again and again" in err
        assert "seat-1.log" in err
        wait_until(lambda: not notes_of(tool))


def test_who_follows_a_service_ends_with_its_state_folder(lone_tool: Tool) -> None:
    """As where a test was killed, and its folder was removed later: nothing is left behind."""
    with serviced(lone_tool, UI_PORT_NUMBER=str(free_port())) as tool:
        showing = tool.start("ui")
        assert showing.stderr is not None
        assert "until Ctrl-C" in showing.stderr.readline()
        pid = service_of(tool)["pid"]
        tool.state.rename(tool.state.with_name("moved"))
        shutil.rmtree(tool.state.with_name("moved"))
        assert showing.wait(timeout=60) == 1
        assert not tool.state.exists()
        wait_until(lambda: not Path(f"/proc/{pid}").exists())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_the_python_client_shares_it(
    lone_tool: Tool, one_page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in os.environ.keys() - own_environment().keys():
        # What the tool's commands do not have would be a difference.
        monkeypatch.delenv(name)
    with serviced(lone_tool) as tool:
        assert tool.process(one_page).code == 0
        pid = service_of(tool)["pid"]
        with quire.Client(state_dir=tool.state) as client:
            result = client.process(one_page, force=True)
            assert result.pages
            listed = tool.run("list", "--json").json["documents"]
            assert result.job_id in [row["job_id"] for row in listed]
        assert [note["pid"] for note in notes_of(tool)] == [pid]
        with quire.Client(state_dir=tool.state, service_mode="off") as client:
            assert client.process(one_page, force=True).pages, "on a seat of its own"
        assert service_of(tool)["pid"] == pid


def test_commands_at_once_start_one(lone_tool: Tool, one_page: Path) -> None:
    with serviced(lone_tool) as tool:
        starts = [tool.start("process", one_page, "--json", "--force") for _ in range(4)]
        said = [start.communicate(timeout=150) for start in starts]
        assert [start.returncode for start in starts] == [0] * 4, said
        wait_until(lambda: len(notes_of(tool)) == 1)
        assert service_of(tool)["pid"]
