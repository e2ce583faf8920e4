"""The worker as an operator meets it: health, readiness, registration, versions."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
from pathlib import Path

import pytest

from quire.temporal.embedded import find_binary
from quire.temporal.search_attributes import SEARCH_ATTRIBUTES
from testing.embedded import server_of
from testing.tool import ROOT, Tool
from testing.worker import fetch, free_port, running_worker


def temporal(tool: Tool, *arguments: str) -> str:
    ran = subprocess.run(
        [find_binary(), *arguments, "--address", server_of(tool).address],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_health_and_readiness(lone_tool: Tool) -> None:
    address = f"127.0.0.1:{free_port()}"
    with running_worker(lone_tool, HEALTH_ADDRESS=address):
        assert json.loads(fetch(f"http://{address}/healthz")) == {"status": "alive"}
        assert _ready(address) == {"status": "ready"}
        # A server that stands still is no server; the worker lives and is not ready.
        os.kill(server_of(lone_tool).pid, signal.SIGSTOP)
        try:
            _wait_until_unready(address)
            assert json.loads(fetch(f"http://{address}/healthz")) == {"status": "alive"}
        finally:
            os.kill(server_of(lone_tool).pid, signal.SIGCONT)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetch(f"http://{address}/else")


def _wait_until_unready(address: str) -> None:
    """A process of many threads does not stand still at once."""
    for _ in range(20):
        try:
            fetch(f"http://{address}/readyz")
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return
        time.sleep(0.2)
    pytest.fail("ready without a server")


def _ready(address: str) -> object:
    """A worker says it has started a moment before its last queue is polled."""
    for _ in range(50):
        try:
            return json.loads(fetch(f"http://{address}/readyz"))
        except urllib.error.HTTPError:
            time.sleep(0.1)
    raise AssertionError("never ready")


def test_versioned_worker_serves_once_it_is_current_and_registers(
    tool: Tool, mixed: Path, tmp_path: Path
) -> None:
    with running_worker(tool, WORKER_BUILD_ID="one") as worker:
        client = worker.client(tmp_path / "client")
        process = client.start("process", mixed, "--json")
        version = ["--deployment-name", "quire", "--build-id", "one"]
        for _ in range(20):
            try:
                temporal(tool, "worker", "deployment", "describe-version", *version)
                break
            except AssertionError:
                time.sleep(0.5)
        assert process.poll() is None, "nobody works on it yet"
        temporal(tool, "worker", "deployment", "set-current-version", *version, "--yes")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert json.loads(out)["metadata"]["ai_pages_succeeded"] == 8

        remove = ["operator", "search-attribute", "remove", "--yes", "--name", "QuireCostUsd"]
        temporal(tool, *remove)
        registered = subprocess.run(
            [sys.executable, str(ROOT / "worker.py"), "--register"],
            env=client.environment({}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert registered.returncode == 0, registered.stderr
        assert "QuireCostUsd" in registered.stderr
        listed = temporal(tool, "operator", "search-attribute", "list")
        assert all(name in listed for name in SEARCH_ATTRIBUTES)


def test_namespace_that_was_never_prepared(lone_tool: Tool, one_page: Path, tmp_path: Path) -> None:
    """A document that sets an attribute which its namespace lacks could never end."""
    with running_worker(lone_tool) as worker:
        client = worker.client(tmp_path / "client").also(TEMPORAL_NAMESPACE="bare")
        ran = client.process(one_page)
        assert ran.code == 1
        assert ran.json["error"]["reason"] == "TEMPORAL", "there is no such namespace"
        in_bare = ("--namespace", "bare")
        temporal(lone_tool, "operator", "namespace", "create", *in_bare, "--retention", "24h")
        end = time.monotonic() + 30
        # The server learns of a new namespace a few seconds late.
        while (ran := client.process(one_page)).json["error"]["reason"] == "TEMPORAL":
            assert time.monotonic() < end
        assert ran.code == 1
        assert ran.json["error"]["reason"] == "SEARCH_ATTRIBUTES"
        assert "`worker.py --register`" in ran.err
        assert "Traceback" not in ran.err
        checked = client.run("doctor", "--json")
        assert "`worker.py --register`" in checked.out

        create = ("operator", "search-attribute", "create", *in_bare, "--type", "Int", "--name")
        for name in ("Theirs1", "Theirs2", "Theirs3"):
            temporal(lone_tool, *create, name)
        refused = subprocess.run(
            [sys.executable, str(ROOT / "worker.py")],
            env=client.environment({}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert refused.returncode == 2, "there is no room left for ours"
        assert len(refused.stderr.splitlines()) == 1, refused.stderr
        line = refused.stderr
        assert all(word in line for word in ("'bare'", "QuirePages", "Int", "of its own"))


@pytest.mark.parametrize("setting", ["METRICS_ADDRESS", "HEALTH_ADDRESS"])
def test_address_that_is_none_is_refused_by_name(lone_tool: Tool, setting: str) -> None:
    for value in ("nowhere", "1.2.3.4:99999"):
        assert "an address such as" in refusal(lone_tool, setting, value)


@pytest.mark.parametrize("setting", ["METRICS_ADDRESS", "HEALTH_ADDRESS"])
def test_address_in_use_is_refused_by_name(lone_tool: Tool, setting: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        line = refusal(lone_tool, setting, address)
    assert "nothing can listen there" in line
    assert "in use" in line
    note = lone_tool.state / "server.json"
    assert not note.exists() or not Path(f"/proc/{server_of(lone_tool).pid}").exists(), (
        "no server is left behind"
    )


def test_namespace_that_is_not_there_is_refused_in_one_line(lone_tool: Tool) -> None:
    line = refused_line(lone_tool, TEMPORAL_NAMESPACE="nix")
    assert all(word in line for word in ("TEMPORAL", "no namespace 'nix'", "TEMPORAL_NAMESPACE"))
    assert not (lone_tool.state / "server.json").exists(), "no server is left behind"


def test_nothing_to_register_with(lone_tool: Tool) -> None:
    assert "TEMPORAL_ADDRESS: it is not set" in refused_line(lone_tool, "--register")


def refusal(tool: Tool, setting: str, value: str) -> str:
    """The line with which a worker refuses a setting."""
    line = refused_line(tool, **{setting: value})
    assert f"{setting}: " in line
    return line


def refused_line(tool: Tool, *arguments: str, **settings: str) -> str:
    """The one line with which a worker refuses to start."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "worker.py"), *arguments],
        env=tool.environment({**settings, "LOG_LEVEL": "error"}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 2, ran.stderr
    [line] = ran.stderr.splitlines()
    return line
