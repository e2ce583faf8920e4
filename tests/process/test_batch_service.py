"""Batches in the background service: the command that starts one may end at once."""

import signal
from pathlib import Path

from testing.service import notes_of, service_of, serviced
from testing.tool import Tool
from testing.vendor.behaviours import vendor_hangs
from testing.vendor.standin import StandIn
from tests.process.test_batches import folder_of


def test_a_detached_batch_goes_on_in_the_service(
    tool: Tool, vendor: StandIn, one_page: Path, tmp_path: Path
) -> None:
    """Other commands see it, read a document beside it, and have its result."""
    folder = folder_of(tmp_path / "in", 5, vision=1)
    vendor.behave(vendor_hangs())
    with serviced(tool) as shared:
        begun = shared.run("batch", "start", folder, "--batch-id", "night", "--detach", "--json")
        assert begun.code == 0, begun.err
        assert "goes on while any command" not in begun.err
        vendor.wait_for_calls(1, timeout=60)
        status = shared.run("batch", "status", "night", "--json")
        assert (status.code, status.json["status"]) == (0, "running")
        pid = service_of(shared)["pid"]
        single = shared.process(one_page)
        assert single.code == 0, single.err
        early = shared.run("batch", "result", "night", "--partial", "--json")
        assert early.json["counts"]["done"] == 0, "the single document did not wait for the batch"
        listed = shared.run("batch", "list", "--json").json["batches"]
        assert [row["batch_id"] for row in listed] == ["night"]
        follower = shared.start("batch", "watch", "night")
        assert follower.stderr is not None
        follower.stderr.readline()
        follower.send_signal(signal.SIGINT)
        _, err = follower.communicate(timeout=60)
        assert follower.returncode == 130
        assert "The batch goes on in the background: `starter.py batch watch night`" in err
        vendor.reset()
        watched = shared.run("batch", "watch", "night", "--json")
        assert watched.code == 0, watched.err
        assert watched.json["counts"]["done"] == 5
        shown = shared.run("batch", "result", "night", "--json")
        assert (shown.code, shown.json["counts"]) == (0, watched.json["counts"])
        assert [note["pid"] for note in notes_of(shared)] == [pid], "one service did it all"


def test_a_batch_of_other_settings_is_read_under_its_own(
    tool: Tool, vendor: StandIn, tmp_path: Path
) -> None:
    """Beside a service at work a second one stands, and reads the batch's documents itself."""
    vendor.behave(vendor_hangs(), model="gpt-6.1-sol")
    with serviced(tool) as shared:
        first = folder_of(tmp_path / "first", 1, vision=1)
        begun = shared.run("batch", "start", first, "--batch-id", "first", "--detach")
        assert begun.code == 0, begun.err
        vendor.wait_for_calls(1, timeout=60)
        other = folder_of(tmp_path / "second", 2, vision=1)
        ran = shared.run(
            "batch", "start", other, "--batch-id", "second", "--json",
            OPENAI_PRIMARY_MODEL="gpt-other",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        assert "a second one stands beside it" in ran.err
        assert ran.json["counts"]["done"] == 2
        assert [call.model for call in vendor.calls()].count("gpt-other") == 2
