"""Cleaning the store never costs an open document anything."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from testing import pdfs
from testing.damage import objects
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers, vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until
from testing.worker import fetch, free_port, running_worker

pytestmark = pytest.mark.servers
OLD_S = 40 * 86400


def age(paths: Iterable[Path]) -> None:
    old = time.time() - OLD_S
    for path in paths:
        os.utime(path, (old, old))


def old_object(store: Path, name: str, size: int = 1000) -> Path:
    path = store / "answers" / "zz" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    age([path])
    return path


def test_open_document_keeps_what_it_needs(
    shared_tool: Tool, shared_vendor: StandIn, tmp_path: Path
) -> None:
    document = pdfs.mixed_pdf(tmp_path / "open.pdf", 2, 5)
    document.write_bytes(document.read_bytes() + f"\n% {tmp_path}\n".encode())
    store = Path(shared_tool.settings["STORE_URL"])
    other = old_object(store, "of-no-one.json")
    before = {*objects(store, ".")}
    shared_vendor.behave(vendor_answers_late(8.0))
    shared_vendor.behave(vendor_answers(), first=2)
    running = shared_tool.start("process", document, "--json", "--job-id", "open-while-cleaned")
    wait_until(lambda: len({*objects(store, "answers")} - before) >= 2)
    mine = {*objects(store, ".")} - before - {store / "keys" / "signing"}
    assert {path.relative_to(store).parts[0] for path in mine} >= {"sources", "surveys", "briefs"}
    age(mine)
    cleaned = shared_tool.run("clean", "--older-than", "2h", "--json")
    assert cleaned.code == 0, cleaned.err
    assert not other.exists()
    assert [str(path) for path in mine if not path.exists()] == [], cleaned.out
    assert cleaned.json["spared"]["objects"] == len(mine)
    out, err = running.communicate(timeout=90)
    ran = Ran(running.returncode, out, err, 0.0)
    assert ran.sources() == {"mupdf": 2, "ai": 5}, err
    age(mine)
    closed = shared_tool.run("clean", "--older-than", "2h", "--json")
    assert [path for path in mine if path.exists()] == [], "done, they are nobody's"
    assert closed.json["spared"]["objects"] == 0


def test_without_the_server_nothing_is_removed_unless_wished(lone_tool: Tool) -> None:
    path = old_object(lone_tool.state / "store", "old.json")
    away = lone_tool.also(TEMPORAL_ADDRESS=f"127.0.0.1:{free_port()}")
    refused = away.run("clean", "--older-than", "30d", "--json")
    assert refused.code == 1
    assert refused.json["error"]["reason"] == "TEMPORAL"
    assert path.exists()
    assert away.run("clean", "--older-than", "30d", "--offline", "--json").json["objects"] == 1
    assert not path.exists()


def test_worker_keeps_the_store_small(lone_tool: Tool) -> None:
    store, port = lone_tool.state / "store", free_port()
    larger = old_object(store, "a.json", 5000)
    smaller = old_object(store, "b.json", 500)
    os.utime(smaller)
    metrics = {"METRICS_ADDRESS": f"127.0.0.1:{port}", "LOG_LEVEL": "info"}
    with running_worker(lone_tool, STORE_LIMIT="2KB", **metrics) as worker:
        worker.wait_for("store_tended")
        assert not larger.exists()
        assert smaller.exists()
        page = fetch(f"http://127.0.0.1:{port}/metrics")
        assert 'quire_store_removed_bytes_total{kind="answers"' in page
        assert "quire_store_bytes" in page
    assert len(objects(store, "leases")) == 1


def test_command_of_a_single_machine_keeps_the_store_small(lone_tool: Tool, one_page: Path) -> None:
    old = old_object(lone_tool.state / "store", "old.json")
    ran = lone_tool.process(one_page, STORE_KEEP="30d")
    assert ran.code == 0, ran.err
    assert not old.exists()
    assert len(objects(lone_tool.state / "store", "sources")) == 1
