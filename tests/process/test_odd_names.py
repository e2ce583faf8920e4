"""Files whose names are bytes that no UTF-8 text has."""

import json
import os
from pathlib import Path

import quire
from testing import pdfs
from testing.tool import Tool

CAFE = b"caf\xe9"
SHOWN = "caf\ufffd"


def odd(folder: Path, name: bytes) -> Path:
    return folder / os.fsdecode(name)


def test_such_a_document_is_read_shown_and_listed(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    document, out = odd(tmp_path, CAFE + b".pdf"), odd(tmp_path, CAFE + b"-out")
    document.write_bytes(one_page.read_bytes())
    ran = lone_tool.process(document, "--job-id", "odd", "--out", out)
    assert ran.code == 0, ran.err
    assert ran.json["source"] == SHOWN + ".pdf"
    assert ran.json["metadata"]["result_local_path"].endswith(f"{SHOWN}-out/text.txt")
    report = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert report == ran.json
    assert "page-001" in (out / "text.txt").read_text(encoding="utf-8")
    for_people = lone_tool.run("process", document, "--job-id", "odd", "--out", out)
    assert for_people.code == 0, for_people.err
    [row] = lone_tool.run("list", "--json").json["documents"]
    assert row["source_name"] == SHOWN + ".pdf"
    assert SHOWN in lone_tool.run("list").out
    assert lone_tool.run("estimate", document, "--json").json["source"] == SHOWN + ".pdf"

    missing = lone_tool.process(odd(tmp_path, b"no-" + CAFE))
    assert (missing.code, missing.json["error"]["reason"]) == (3, "NOT_FOUND"), missing.out
    for option in ("--prompt", "--user", "--password"):
        refused = lone_tool.process(document, option, os.fsdecode(CAFE))
        assert refused.code == 2, "that is a text, and no name"
        assert "Unicode" in refused.json["error"]["message"]
    for command in ("status", "result", "cancel"):
        asked = lone_tool.run(command, os.fsdecode(CAFE), "--json")
        assert (asked.code, asked.json["error"]["reason"]) == (4, "NO_SUCH_JOB"), asked.err
    listed = lone_tool.cold().run("list", PYTHONIOENCODING="ascii")
    assert listed.code == 0, "a terminal that has no such letter shows another: " + listed.err
    assert "caf\\ufffd.pdf" in listed.out


def test_a_folder_of_such_images_and_the_python_api(
    lone_tool: Tool, one_page: Path, tmp_path: Path
) -> None:
    folder = odd(tmp_path, CAFE)
    folder.mkdir()
    for number in (2, 1):
        odd(folder, CAFE + b"-%d.png" % number).write_bytes(pdfs.picture_of(f"page {number}"))
    document = odd(tmp_path, CAFE + b".pdf")
    document.write_bytes(one_page.read_bytes())
    settings = {"state_dir": lone_tool.state, "local_ocr": "never"}
    with os.scandir(os.fsencode(tmp_path)) as found:
        [entry] = [one for one in found if one.name == CAFE + b".pdf"]
    with quire.Client(**settings) as client:
        names = [
            client.process(source).report.source for source in (document, str(document), entry)
        ]
        assert names == [SHOWN + ".pdf"] * 3
        images = client.process(folder, text_only=True)
        assert (images.report.source, images.metadata.total_pages) == (SHOWN, 2)
        listed = client.process([*folder.iterdir()], text_only=True)
        assert listed.report.source == f"{SHOWN}-1.png and 1 more"
        named = client.process(document, name=os.fsdecode(CAFE), job_id="named")
        assert named.report.source == SHOWN
        assert images.report.sha256 == listed.report.sha256
    ran = lone_tool.process(folder, "--text-only")
    assert (ran.code, ran.json["source"]) == (0, SHOWN), ran.err
