"""Quire against its peers: time, memory, and what is left after faults."""

import tempfile
from pathlib import Path

from bench.environments import CannotInstall
from bench.findings import Part
from bench.peers.budget import Budget
from bench.peers.contest import Contestant
from bench.peers.contestants import PEERS, Peer, installed
from bench.peers.faults import FAULTS, THIRD_429, suffer
from bench.peers.quire_variants import (
    as_it_comes,
    counting,
    fastest,
    holding,
    large_pictures,
    one_route,
)
from bench.peers.report import part
from bench.peers.speed import compare
from bench.progress import print_progress
from testing.vendor.process import StandInProcess

SLOTS = 8
PAGES = 200
# Within the limit of a call that hangs, with time to start and to end.
DEADLINE = "100s"
# The quick set has five minutes for all parts, and these must do also where every peer is at hand.
QUICK_EACH_S, QUICK_IN_ALL_S = 40.0, 75.0


def measure(full: bool, pages: int = PAGES) -> Part:
    """Full: 200 pages twice and every fault; quick: 24 pages once and one fault."""
    peers, skipped = _field(full)
    if not full:
        names = ", ".join(fault.name for fault in FAULTS if fault is not THIRD_429)
        skipped.append(f"{names}: only with make bench-full")
        skipped.append("Quire with pictures like the peers', and as it comes: also only there")
    ours: list[Contestant] = [fastest(SLOTS)]
    hurt: list[Contestant] = [as_it_comes("quire", DEADLINE)]
    if full:
        ours += [large_pictures(SLOTS), as_it_comes("quire, defaults", "10m")]
        hurt += [one_route(DEADLINE), counting(DEADLINE), holding(DEADLINE)]
    budget = Budget() if full else Budget(QUICK_EACH_S, QUICK_IN_ALL_S)
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        folder = Path(name)
        speeds, failed = compare(
            ours,
            peers,
            vendor,
            folder,
            min(pages, PAGES if full else 24),
            SLOTS,
            rounds=2 if full else 1,
            budget=budget,
        )
        faults = suffer(
            FAULTS if full else [THIRD_429],
            [*hurt, *peers],
            vendor,
            folder,
            min(pages, 40 if full else 12),
            SLOTS,
            budget,
        )
    return part(speeds, SLOTS, faults, [*skipped, *failed])


def _field(full: bool) -> tuple[list[Peer], list[str]]:
    """The peers that can run here; the full set installs what is missing."""
    peers: list[Peer] = []
    skipped: list[str] = []
    for peer in PEERS:
        print_progress(
            f"{peer.name} {peer.version}: looking for it" + (", or installing it" if full else "")
        )
        try:
            peers.append(installed(peer, install=full))
        except CannotInstall as reason:
            skipped.append(f"{peer.name} {peer.version}: {reason}")
    return peers, skipped
