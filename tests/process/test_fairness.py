"""Owners share the slots, however much one of them has asked for."""

from pathlib import Path

import yaml

from testing import pdfs
from testing.cluster import Cluster
from testing.tool import ROOT, Tool
from testing.vendor.behaviours import vendor_answers_late
from testing.vendor.standin import StandIn

MANY = 6


def test_one_owner_does_not_starve_another(tool: Tool, vendor: StandIn, tmp_path: Path) -> None:
    """With the stack's own dynamic settings, on one slot that seven documents wait for."""
    stack = yaml.safe_load((ROOT / "deploy/temporal/dynamicconfig.yaml").read_text())
    config = {key: str(values[0]["value"]).lower() for key, values in stack.items()}
    vendor.behave(vendor_answers_late(0.1))
    tool = tool.also(ROUTE_CHAIN="openai:gpt-6.1-sol", WHEN_BUSY="wait", MAX_INFLIGHT_PER_MODEL="1")
    with Cluster(tmp_path / "cluster", config) as cluster:
        client = tool.also(TEMPORAL_ADDRESS=cluster.address)
        cluster.start_worker(tool, "--roles", "workflows,documents")
        for number in range(MANY):
            # Of different lengths, or the first one's answers would do for all.
            document = pdfs.mixed_pdf(tmp_path / f"{number}.pdf", number, 6)
            asked = ("--user", "ada", "--detach", "--deadline", "5m")
            started = client.run("process", document, *asked)
            assert started.code == 0, started.err
        small = pdfs.mixed_pdf(tmp_path / "small.pdf", 20, 6)
        last = client.start("process", small, "--json", "--user", "bob", "--deadline", "5m")
        cluster.start_worker(tool, "--roles", "ai")
        _, err = last.communicate(timeout=120)
        assert last.returncode == 0, err
        owners = ["of 26" in call.user for call in vendor.calls()]
    assert owners.count(True) == 6
    until_the_last = len(owners) - owners[::-1].index(True)
    # Every other call is bob's; first come, first served gives him one in seven.
    assert until_the_last <= 3 * 6
