"""Disks that are full, and names that are no text."""

import json
import os
import threading
from pathlib import Path

from bench.faults.line import Line
from testing import pdfs
from testing.small_disk import SmallDisk, can_mount
from testing.tool import Ran, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn
from testing.wait import wait_until

PAGES = 20


def lines(folder: Path) -> list[Line]:
    """Full from the start, full in the middle, and a name that is not UTF-8."""
    source = pdfs.mixed_pdf(folder / "twenty.pdf", 0, PAGES)
    named = [_odd_names(folder, source)]
    if not can_mount():
        return [*named, Line("full disk", 0, 0, 0, 0, "no disk can be mounted here")]
    places = (("STORE_URL", "8m"), ("STATE_DIR", "64m"))
    begun = [_full_at_first(folder, source, setting, size) for setting, size in places]
    return [*named, *begun, _full_meanwhile(folder, source)]


def _odd_names(folder: Path, source: Path) -> Line:
    with StandIn() as vendor:
        odd = folder / os.fsdecode(b"caf\xe9.pdf")
        odd.write_bytes(source.read_bytes())
        ran = Tool(folder / "odd", vendor).process(odd)
    read = _read(ran)
    return Line("name that is not UTF-8", 1, int(read == PAGES), PAGES - read, 0)


def _full_at_first(folder: Path, source: Path, setting: str, size: str) -> Line:
    """Refused with the folder's name, and well once there is room."""
    place = folder / f"full-{setting}"
    with StandIn() as vendor, SmallDisk(place, size) as disk:
        settings = {"STORE_URL": str(folder / f"store-{setting}"), setting: str(place)}
        tool = Tool(folder / f"state-{setting}", vendor).also(**settings).within(*disk.enter)
        disk.fill()
        refused = tool.process(source, "--job-id", "full")
        said = _reason(refused) == "DISK_FULL" and str(place) in refused.err
        disk.make_room()
        read = _read(tool.process(source, "--job-id", "full"))
    return Line(f"disk of {setting} full", 1, int(said and read == PAGES), PAGES - read, 0)


def _full_meanwhile(folder: Path, source: Path) -> Line:
    """The store fills up while pages are read, and has room again after some seconds."""
    place = folder / "meanwhile"
    with StandIn() as vendor, SmallDisk(place, "8m") as disk:
        vendor.behave(vendor_answers_late(0.3))
        tool = Tool(folder / "state", vendor, STORE_URL=str(place)).within(*disk.enter)
        process = tool.start("process", source, "--json")
        assert process.stderr is not None
        assert process.stdout is not None
        said: list[str] = []
        threading.Thread(target=said.extend, args=(process.stderr,), daemon=True).start()
        answers = disk.seen_from_outside / "answers"
        wait_until(lambda: len([*answers.rglob("*.json")]) >= PAGES // 4)
        disk.fill()
        wait_until(lambda: any("is full" in line for line in said))
        disk.make_room()
        ran = Ran(process.wait(180), process.stdout.read(), "", 0.0)
        calls = len(vendor.calls())
    read = _read(ran)
    note = f"{calls} calls for {PAGES} pages"
    survived = int(read == PAGES)
    return Line("disk of the store fills up", 1, survived, PAGES - read, calls - PAGES, note)


def _read(ran: Ran) -> int:
    return ran.sources().get("ai", 0) if ran.code == 0 else 0


def _reason(ran: Ran) -> str:
    return str(json.loads(ran.out)["error"]["reason"])
