"""The table of faults: 40 pages on 3 routes of 2 calls, answers after 4 s more or less, 180 s.

What is simulated is the vendors and the clock; selection, breakers, books and gate are the real
ones. The seeds are fixed and the numbers are means, so a change of the rule shows here first.
"""

from statistics import mean
from typing import NamedTuple

import pytest

from quire.contracts.page import Classification, TextSource
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, Mode, Trip
from tests.domain import vendors
from tests.domain.gated import Gated
from tests.domain.strategies import NOW
from tests.domain.vendors import ROUTES, Vendors
from workflows.document.dispatch import DispatchState

PAGES = 40
SEEDS = 8
PAIRS: dict[Mode, Trip] = {"adaptive": "adaptive", "hold": "adaptive", "fail_fast": "first"}


class Row(NamedTuple):
    """One document: pages read by a model, seconds to its end, calls that brought nothing."""

    read: float
    seconds: float
    in_vain: float
    hedged: int = 0


def run(seed: int, kind: type[Vendors], mode: Mode = "adaptive", deadline: float = 180.0) -> Row:
    books = DispatchState(
        job_id=f"job {seed}",
        routes=ROUTES,
        dispatch=DispatchPolicy(mode=mode),
        breaker=BreakerPolicy(trip=PAIRS[mode]),
        deadline=NOW + deadline,
        vision=dict.fromkeys(range(1, PAGES + 1), Classification.SCANNED),
    )
    asked = kind(seed)
    ended = Gated(books, asked, NOW).run()
    read = sum(record.source is TextSource.AI for record in books.records.values())
    return Row(read, ended.now - NOW, asked.calls - read, books.times.hedged)


@pytest.mark.parametrize(
    ("kind", "read", "seconds", "in_vain"),
    [
        pytest.param(vendors.Vendors, 40, 33, 0, id="well"),
        pytest.param(vendors.EveryThirdRefused, 40, 35, 19, id="every third 429"),
        pytest.param(vendors.EveryThirdRefusedForTwoSeconds, 40, 42, 19, id="with Retry-After 2"),
        pytest.param(vendors.AllRefusedForTenSeconds, 40, 51, 21, id="all 429 for 10 s"),
        pytest.param(vendors.AllRefused, 0, 20, 27, id="all 429 for ever"),
        pytest.param(vendors.EveryTenthHangs, 40, 58, 4, id="every tenth hangs"),
        pytest.param(vendors.OneDead, 40, 90, 10, id="one vendor dead"),
        pytest.param(vendors.OneHangs, 40, 92, 4, id="one vendor hangs"),
        pytest.param(vendors.AllDead, 0, 1.2, 12, id="all dead"),
        pytest.param(vendors.AllHang, 0, 60, 6, id="all hang"),
        pytest.param(vendors.OneTenTimesSlower, 40, 86, 1, id="one vendor 10 x slow"),
        pytest.param(vendors.BurstThenRefused, 40, 52, 17, id="burst then 429"),
        pytest.param(vendors.OutageFromTenToTwentyFive, 40, 51, 19, id="500 from 10 s to 25 s"),
        pytest.param(vendors.EveryThirdFails, 40, 41, 19, id="every third 500"),
    ],
)
def test_fault_costs_no_more_than_the_table_says(
    kind: type[Vendors], read: int, seconds: float, in_vain: float
) -> None:
    rows = [run(seed, kind) for seed in range(SEEDS)]
    assert [row.read for row in rows] == [read] * SEEDS, "in every document, not on average"
    assert mean(row.seconds for row in rows) <= 1.1 * seconds
    assert mean(row.in_vain for row in rows) <= 1.1 * in_vain + 0.5


def test_well_vendors_are_never_asked_twice() -> None:
    assert not any(run(seed, vendors.Vendors).hedged for seed in range(SEEDS))


def test_few_pages_are_asked_twice_where_calls_hang() -> None:
    hedged = [run(seed, vendors.EveryTenthHangs).hedged for seed in range(SEEDS)]
    assert 0 < max(hedged) <= 1 + PAGES // 10


@pytest.mark.parametrize(
    ("kind", "read", "calls"),
    [
        (vendors.EveryThirdRefused, 6, 3),
        (vendors.AllRefusedForTenSeconds, 0, 6),
        (vendors.AllDead, 0, 6),
        (vendors.OneDead, 40, 8),
    ],
)
def test_fail_fast_is_as_it_was(kind: type[Vendors], read: int, calls: int) -> None:
    rows = [run(seed, kind, "fail_fast") for seed in range(3)]
    assert {row.read for row in rows} == {read}
    assert max(row.in_vain for row in rows) <= calls


@pytest.mark.parametrize(
    "kind",
    [
        vendors.EveryThirdRefused,
        vendors.AllRefusedForTenSeconds,
        vendors.OutageFromTenToTwentyFive,
        vendors.BurstThenRefused,
        vendors.EveryTenthHangs,
    ],
)
def test_hold_reads_all_that_adaptive_reads(kind: type[Vendors]) -> None:
    assert {run(seed, kind, "hold").read for seed in range(3)} == {40}


def test_random_outages_leave_no_page_unread_but_where_all_were_silent() -> None:
    """Of these seeds, none has vendors that are silent for 20 s from the start on."""
    short = [seed for seed in range(24) if run(seed, vendors.RandomOutages).read < PAGES]
    assert short == []
