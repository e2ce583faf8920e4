"""Locked documents: opened with their password, which then is nowhere to be found."""

import base64
import csv
import json
import os
from pathlib import Path

import pytest

from quire.contracts.names import workflow_id
from quire.settings import Settings
from quire.temporal.connect import connect
from quire.temporal.embedded import EmbeddedServer
from testing import pdfs
from testing.tool import ROOT, Ran, Tool

CORPUS = ROOT.parent / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason="needs the corpus of real documents beside this project"
)
SECRET = "corréct horse  battery "


def locked_files() -> list[tuple[str, str]]:
    if not CORPUS.exists():
        return []
    with (CORPUS / "manifest.tsv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        (row[0], json.loads(row[7]))
        for row in rows
        if row[0].startswith("encrypted/") and row[7].startswith('"')
    ]


def wrong(ran: Ran, reason: str) -> None:
    assert ran.code == 3, ran.err
    assert ran.json["error"]["code"] == "IO_ERROR"
    assert ran.json["error"]["reason"] == reason


@needs_corpus
def test_real_locked_files_open_with_their_password(lone_tool: Tool) -> None:
    files = locked_files()
    assert len(files) >= 3
    for name, password in files:
        path = CORPUS / name
        ran = lone_tool.process(path, "--password", password, "--text-only")
        assert ran.code == 0, f"{name}: {ran.err}"
        assert ran.text().strip() != "=== Page 1 ===", name
    wrong(lone_tool.process(path, "--password", password + "x"), "PASSWORD_WRONG")
    wrong(lone_tool.process(path), "PASSWORD_MISSING")


@needs_corpus
def test_owner_password_opens_and_a_wrong_one_is_still_wrong(lone_tool: Tool) -> None:
    path = CORPUS / "encrypted" / "r6-owner-password.pdf"
    assert lone_tool.process(path, "--password", "asdfzxcv", "--text-only").code == 0
    ran = lone_tool.process(path, "--password", "nonsense", "--text-only")
    wrong(ran, "PASSWORD_WRONG")
    assert "opens without" in ran.json["error"]["remedy"]


async def test_password_is_nowhere(tool: Tool, tmp_path: Path) -> None:
    document = pdfs.locked_pdf(tmp_path / "locked.pdf", SECRET)
    ran = tool.process(
        document, "--job-id", "locked", QUIRE_PASSWORD=SECRET, LOG_LEVEL="debug",
        IMAGE_SEND_ALL_PAGES="true",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.sources() == {"ai": 1}, "the page was drawn, so the attempt had the password"
    refused = tool.process(
        document, "--job-id", "w", "--password", SECRET.strip(), LOG_LEVEL="debug"
    )
    wrong(refused, "PASSWORD_WRONG")
    server = EmbeddedServer(tool.state)
    try:
        client = await connect(Settings(), (await server.start()).address)
        history = await client.get_workflow_handle(workflow_id("locked")).fetch_history()
    finally:
        server.leave()
    kept = [history.to_json().encode(), ran.out.encode(), ran.err.encode(), refused.err.encode()]
    kept += [path.read_bytes() for path in tool.state.rglob("*") if path.is_file()]
    traces = [SECRET.encode(), base64.b64encode(SECRET.encode()), json.dumps(SECRET)[1:-1].encode()]
    for trace in [*traces, SECRET.strip().encode()]:
        assert not any(trace in data for data in kept)
    assert (tool.state / "encryption.key").stat().st_mode & 0o777 == 0o600


def test_password_file_keeps_blanks(lone_tool: Tool, tmp_path: Path) -> None:
    document = pdfs.locked_pdf(tmp_path / "locked.pdf", "  two before ")
    (tmp_path / "pw").write_text("  two before \n")
    ran = lone_tool.process(document, "--password-file", tmp_path / "pw")
    assert ran.code == 0, ran.err


def test_cluster_without_a_key_refuses(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, "--password", "x", TEMPORAL_ADDRESS="127.0.0.1:9")
    assert ran.code == 2
    assert "ENCRYPTION_KEYS" in ran.err
    assert "base64" in ran.err


def test_a_wrong_key_is_refused_without_showing_it(lone_tool: Tool, one_page: Path) -> None:
    ran = lone_tool.process(one_page, ENCRYPTION_KEYS="k1:c2hvcnQ=")
    assert ran.code == 2
    assert "ENCRYPTION_KEYS" in ran.err
    assert "c2hvcnQ" not in ran.err + ran.out


async def test_encrypted_payloads_say_nothing_and_keys_can_change(
    tool: Tool, tmp_path: Path
) -> None:
    document = pdfs.mixed_pdf(tmp_path / "revealing-name.pdf", 1, 2)
    old = "old:" + base64.b64encode(os.urandom(32)).decode()
    new = "new:" + base64.b64encode(os.urandom(32)).decode()
    sealed = {"ENCRYPT_PAYLOADS": "true", "ENCRYPTION_KEYS": old}
    ran = tool.process(document, "--job-id", "sealed", **sealed)
    assert ran.code == 0, ran.err
    assert ran.sources() == {"mupdf": 1, "ai": 2}
    server = EmbeddedServer(tool.state)
    try:
        client = await connect(Settings(), (await server.start()).address)
        history = await client.get_workflow_handle(workflow_id("sealed")).fetch_history()
    finally:
        server.leave()
    whole = b"".join(event.SerializeToString() for event in history.events)
    assert b"binary/encrypted" in whole
    assert b"revealing-name" not in whole
    assert b'gpt-6.1-sol"' not in whole
    rotated = {**sealed, "ENCRYPTION_KEYS": f"{new},{old}"}
    assert tool.also(**rotated).run("result", "sealed", "--json").json == ran.json
    (row,) = tool.also(**rotated).run("list", "--json").json["documents"]
    assert row["source_name"] == "revealing-name.pdf"
    other_keys = tool.also(**{**sealed, "ENCRYPTION_KEYS": new})
    (row,) = other_keys.run("list", "--json").json["documents"]
    assert row["source_name"] is None, "the name is encrypted as everything else"
    lost = other_keys.run("result", "sealed", "--json")
    assert lost.code == 1
    assert "ENCRYPTION_KEYS" in lost.err
