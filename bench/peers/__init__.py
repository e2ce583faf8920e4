"""Quire against its peers: time, memory, and what is left after faults."""

import tempfile
from pathlib import Path

from bench.findings import Part
from bench.peers.contest import Contestant
from bench.peers.environments import CannotInstall
from bench.peers.faults import FAULTS, THIRD_429, suffer
from bench.peers.field import PEERS, Peer, installed
from bench.peers.ours import as_it_comes, counting, fastest, holding
from bench.peers.report import part
from bench.peers.speed import compare
from tests.vendor.process import StandInProcess

SLOTS = 8
# Within the limit of a call that hangs, with time to start and to end.
DEADLINE = "100s"


def measure(full: bool, only: str | None = None) -> Part:
    """All of it, in about half an hour; or what can be had in a minute and a half."""
    peers, skipped = _field(full, only)
    if not full:
        names = ", ".join(fault.name for fault in FAULTS if fault is not THIRD_429)
        skipped.append(f"{names}: only with make bench-full")
    ours: list[Contestant] = [as_it_comes(DEADLINE), counting(DEADLINE), holding(DEADLINE)]
    with tempfile.TemporaryDirectory() as name, StandInProcess() as vendor:
        folder = Path(name)
        pages = 200 if full else 24
        speeds = compare(fastest(SLOTS), peers, vendor, folder, pages, SLOTS)
        faults = suffer(
            FAULTS if full else [THIRD_429],
            [*ours, *peers] if full else [*ours[:1], *peers],
            vendor,
            folder,
            40 if full else 12,
            SLOTS,
        )
    return part(speeds, SLOTS, faults, skipped)


def _field(full: bool, only: str | None) -> tuple[list[Peer], list[str]]:
    peers: list[Peer] = []
    skipped: list[str] = []
    for peer in PEERS:
        if only not in (None, peer.name):
            continue
        try:
            peers.append(installed(peer, install=full))
        except CannotInstall as reason:
            skipped.append(f"{peer.name} {peer.version}: {reason}")
    return peers, skipped
