"""Quire against its peers: time and memory with a vendor that is well; `faults` has the rest."""

import tempfile
from pathlib import Path

from bench.findings import Part
from bench.peers.budget import Budget
from bench.peers.contest import SLOTS, Contestant
from bench.peers.contestants import find_peers
from bench.peers.quire_variants import as_it_comes, fastest, large_pictures
from bench.peers.report import part
from bench.peers.speed import compare
from testing.vendor.process import StandInProcess

PAGES = 200
# The quick set has five minutes for all parts, and these must do also where every peer is at hand.
QUICK_EACH_S, QUICK_IN_ALL_S = 40.0, 45.0


def measure(full: bool, pages: int = PAGES) -> Part:
    """Full: 200 pages twice; quick: 24 pages once."""
    peers, skipped = find_peers(install=full)
    ours: list[Contestant] = [fastest(SLOTS)]
    if full:
        ours += [large_pictures(SLOTS), as_it_comes("quire, defaults", "10m")]
    else:
        skipped.append("Quire with pictures like the peers', and as it comes: only in the full set")
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        speeds, failed = compare(
            ours,
            peers,
            vendor,
            Path(name),
            min(pages, PAGES if full else 24),
            SLOTS,
            rounds=2 if full else 1,
            budget=Budget() if full else Budget(QUICK_EACH_S, QUICK_IN_ALL_S),
        )
    return part(speeds, SLOTS, [*skipped, *failed])
