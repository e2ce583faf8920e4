"""What vendors say of the rate that is left becomes a pause before the next call."""

import pytest

from quire.domain.document.transcription import PageQuestion
from quire.providers.model_provider import ModelProvider
from quire.providers.rate_headers import LONGEST_PAUSE_S, pause_s
from testing.vendor.behaviours import vendor_says_what_is_left
from testing.vendor.standin import StandIn

NOW = 1_800_000_000.0
OPENAI = ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
ANTHROPIC = ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset")


def pause(remaining: str | None, reset: str | None, *, under_way: int = 0) -> float | None:
    given = zip(OPENAI, (remaining, reset), strict=True)
    headers = {name: value for name, value in given if value is not None}
    return pause_s(headers, under_way=under_way, tokens=1000, now=NOW)


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [("2s", 2.0), ("1.5s", 1.5), ("20ms", 0.02), ("0m3s", 3.0), ("4", 4.0)],
)
def test_every_spelling_of_a_time_is_understood(reset: str, seconds: float) -> None:
    assert pause("0", reset) == pytest.approx(seconds)


def test_what_is_left_counts_only_when_it_is_no_more_than_is_under_way() -> None:
    assert pause("5", "2s", under_way=4) is None
    assert pause("4", "2s", under_way=4) == 2.0
    assert pause("1", "2s", under_way=4) == 2.0


@pytest.mark.parametrize("reset", ["0", "0s", "-3", "", "soon", "nan", None])
def test_a_time_that_is_none_asks_for_nothing(reset: str | None) -> None:
    assert pause("0", reset) is None


@pytest.mark.parametrize("remaining", ["-1", "", "many", "nan", None])
def test_what_is_no_number_of_calls_asks_for_nothing(remaining: str | None) -> None:
    assert pause(remaining, "2s") is None


def test_nobody_waits_for_a_whole_bucket() -> None:
    assert pause("0", "6m0s") == LONGEST_PAUSE_S
    assert pause("0", "inf") == LONGEST_PAUSE_S


def test_anthropic_names_a_moment() -> None:
    headers = dict(zip(ANTHROPIC, ("0", "2027-01-15T08:00:03Z"), strict=True))
    assert pause_s(headers, under_way=0, tokens=0, now=NOW) == pytest.approx(3.0)
    assert pause_s(headers, under_way=0, tokens=0, now=NOW + 60) is None, "it is over"


def test_tokens_are_measured_by_what_this_call_took() -> None:
    headers = {"x-ratelimit-remaining-tokens": "3000", "x-ratelimit-reset-tokens": "2s"}
    assert pause_s(headers, under_way=2, tokens=1000, now=NOW) is None
    assert pause_s(headers, under_way=3, tokens=1000, now=NOW) == 2.0


async def test_answer_of_either_vendor_carries_its_pause(
    provider: ModelProvider, vendor: StandIn, question: PageQuestion
) -> None:
    vendor.behave(vendor_says_what_is_left(0, 5))
    answer = await provider.read_page("m", question, 30.0)
    assert answer.pause_s == pytest.approx(5.0, abs=1.0)
    vendor.reset()
    vendor.behave(vendor_says_what_is_left(9, 5))
    assert (await provider.read_page("m", question, 30.0)).pause_s is None
    vendor.reset()
    assert (await provider.read_page("m", question, 30.0)).pause_s is None, "not the one before's"
