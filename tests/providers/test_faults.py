"""Every fault of a vendor, through the real SDKs, and what it means to Quire."""

import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from quire.contracts.codes import FailureKind
from quire.domain.document.transcription import PageQuestion
from quire.domain.errors import AttemptFailed
from quire.providers.errors import retry_after
from quire.providers.model_provider import ModelProvider
from testing.vendor import (
    BEHAVIOURS,
    Behaviour,
    StandIn,
    vendor_answers,
    vendor_answers_empty,
    vendor_answers_late,
    vendor_cuts_connection,
    vendor_drips,
    vendor_echoes_secrets,
    vendor_fails,
    vendor_finds_image_too_large,
    vendor_forbids,
    vendor_hangs,
    vendor_ignores_cap,
    vendor_lacks_model,
    vendor_loops,
    vendor_never_ends,
    vendor_out_of_quota,
    vendor_overloads,
    vendor_rate_limits,
    vendor_redirects,
    vendor_refuses,
    vendor_refuses_key,
    vendor_rejects_page,
    vendor_sends_bomb,
    vendor_sends_broken_json,
    vendor_sends_error_body,
    vendor_sends_html,
    vendor_sends_json_beyond_reason,
    vendor_sends_surrogates,
    vendor_truncates,
)
from tests.providers.conftest import SECRET, Make

TIMEOUT_S = 0.6
K = FailureKind

CATALOGUE: list[tuple[Behaviour, FailureKind]] = [
    (vendor_rate_limits(), K.RATE),
    (vendor_out_of_quota(), K.QUOTA),
    (vendor_out_of_quota(status=402), K.QUOTA),
    (vendor_fails(402), K.QUOTA),
    (vendor_refuses_key(), K.AUTH),
    (vendor_forbids(), K.AUTH),
    (vendor_lacks_model(), K.MODEL),
    (vendor_fails(410), K.MODEL),
    (vendor_rejects_page(), K.REQUEST),
    (vendor_echoes_secrets(), K.REQUEST),
    (vendor_fails(422), K.REQUEST),
    (vendor_finds_image_too_large(), K.IMAGE_SIZE),
    (vendor_fails(400, "messages.0: image exceeds 5 MB maximum: 6 MB"), K.IMAGE_SIZE),
    (vendor_fails(408), K.TIMEOUT),
    (vendor_fails(504), K.TIMEOUT),
    (vendor_hangs(), K.TIMEOUT),
    (vendor_hangs(after_headers=True), K.TIMEOUT),
    (vendor_drips(), K.TIMEOUT),
    (vendor_answers_late(TIMEOUT_S + 5), K.TIMEOUT),
    (vendor_fails(409), K.SERVER),
    (vendor_fails(500), K.SERVER),
    (vendor_fails(502), K.SERVER),
    (vendor_fails(503), K.SERVER),
    (vendor_fails(418), K.SERVER),
    (vendor_overloads(), K.SERVER),
    (vendor_sends_html(status=502), K.SERVER),
    (vendor_cuts_connection(), K.CONNECT),
    (vendor_cuts_connection(midway=True), K.CONNECT),
    (vendor_sends_html(), K.BAD_BODY),
    (vendor_sends_error_body(), K.BAD_BODY),
    (vendor_sends_error_body(billed=True), K.BAD_BODY),
    (vendor_sends_broken_json(), K.BAD_BODY),
    (vendor_answers_empty(), K.BAD_BODY),
    (vendor_answers("  \n"), K.BAD_BODY),
    (vendor_answers("```markdown\n```"), K.BAD_BODY),
    (vendor_never_ends(), K.BAD_BODY),
    (vendor_never_ends(status=401), K.AUTH),
    (vendor_never_ends(status=503), K.SERVER),
    (vendor_never_ends(headers=True), K.CONNECT),
    (vendor_sends_bomb(), K.BAD_BODY),
    (vendor_sends_bomb(packing="br"), K.BAD_BODY),
    (vendor_redirects("http://127.0.0.1:9/v1"), K.CONNECT),
    (vendor_redirects("/v1/elsewhere", status=302), K.CONNECT),
    (vendor_sends_surrogates("\x00\x1b\n"), K.BAD_BODY),
    (vendor_ignores_cap(200_000), K.BAD_BODY),
    (vendor_sends_json_beyond_reason("["), K.BAD_BODY),
    (vendor_sends_json_beyond_reason("9"), K.BAD_BODY),
    (vendor_refuses(), K.CONTENT),
    (vendor_refuses(filtered=True), K.CONTENT),
    (vendor_truncates(), K.OUTPUT),
    (vendor_loops(), K.OUTPUT),
]
# What they send takes its time, up to the bound: the clock is not what ends it.
LONG = {"vendor_never_ends", "vendor_sends_bomb", "vendor_ignores_cap"}

# The vendor answered, and its answer did not count.
BILLED = [
    vendor_sends_error_body(billed=True),
    vendor_answers_empty(),
    vendor_answers("  \n"),
    vendor_answers("```markdown\n```"),
    vendor_sends_surrogates("\x00\x1b\n"),
    vendor_ignores_cap(200_000),
    vendor_refuses(),
    vendor_refuses(filtered=True),
    vendor_truncates(),
    vendor_loops(),
]


def _name(case: Behaviour | FailureKind) -> str:
    if isinstance(case, FailureKind):
        return case.value
    options = [str(value)[:20] for value in case.options.values() if value]
    return "-".join([case.name, *options])


@pytest.mark.parametrize(("fault", "kind"), CATALOGUE, ids=_name)
async def test_fault_means(
    vendor: StandIn,
    provider: ModelProvider,
    question: PageQuestion,
    fault: Behaviour,
    kind: FailureKind,
) -> None:
    vendor.behave(fault)
    timeout_s = 30.0 if fault.name in LONG else TIMEOUT_S
    began = time.monotonic()
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, timeout_s)
    assert caught.value.kind is kind
    assert time.monotonic() - began < timeout_s + 1.0
    # Only our own cap is worth a second call; the SDKs' own retries are off.
    assert len(vendor.calls()) == (2 if fault.name == "vendor_truncates" else 1)
    # What was billed is reported, and nothing else; the price of this model is unknown.
    wasted = caught.value.wasted
    assert (wasted.input_tokens, wasted.output_tokens) == vendor.billed()
    assert wasted.microdollars == (None if any(vendor.billed()) else 0)
    assert any(vendor.billed()) == (fault in BILLED)
    message = caught.value.info.message
    assert "\n" not in message
    assert len(message) < 300
    assert SECRET not in message


def test_catalogue_knows_every_behaviour() -> None:
    """But one: that says something beside a good answer."""
    assert {fault.name for fault, _ in CATALOGUE} == set(BEHAVIOURS) - {"vendor_says_what_is_left"}


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("insufficient_quota", 429, K.QUOTA),
        ("billing_hard_limit_reached", 400, K.QUOTA),
        ("content_policy_violation", 400, K.CONTENT),
        ("image_too_large", 400, K.IMAGE_SIZE),
        ("model_not_found", 403, K.MODEL),
        ("unheard_of", 400, K.REQUEST),
    ],
)
@pytest.mark.parametrize("api", ["openai"], indirect=True)
async def test_openai_code_says_more_than_the_status(
    vendor: StandIn,
    provider: ModelProvider,
    question: PageQuestion,
    code: str,
    status: int,
    kind: FailureKind,
) -> None:
    vendor.behave(vendor_fails(status, code=code))
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("fault", "least", "most"),
    [
        (vendor_rate_limits(retry_after=7), 7, 7),
        (vendor_rate_limits(retry_after="2.5"), 2.5, 2.5),
        (vendor_rate_limits(retry_after=1500, ms=True), 1.5, 1.5),
        (vendor_rate_limits(retry_after=9 * 24 * 3600), 3600, 3600),
        (vendor_fails(503, retry_after=12), 12, 12),
    ],
)
async def test_retry_after(
    vendor: StandIn,
    provider: ModelProvider,
    question: PageQuestion,
    fault: Behaviour,
    least: float,
    most: float,
) -> None:
    vendor.behave(fault)
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    assert caught.value.retry_after_s is not None
    assert least <= caught.value.retry_after_s <= most


def test_milliseconds_that_are_none_do_not_hide_the_seconds() -> None:
    assert retry_after({"retry-after-ms": "0", "retry-after": "5"}, 0.0) == 5.0


async def test_retry_after_a_date(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    # The date is made here: a table of cases would be as old as the whole run of the tests.
    vendor.behave(vendor_rate_limits(retry_after=formatdate(time.time() + 900, usegmt=True)))
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    assert caught.value.retry_after_s is not None
    assert 600 <= caught.value.retry_after_s <= 901


async def test_no_retry_after_is_none(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    """Nor is a time that is over, or none at all: it asks for no wait."""
    past = formatdate(0, usegmt=True)
    for odd in (None, "soon", "nan", 0, -5, past):
        vendor.behave(vendor_rate_limits(retry_after=odd))
        with pytest.raises(AttemptFailed) as caught:
            await provider.read_page("m", question, 5)
        assert caught.value.retry_after_s is None


async def test_message_has_status_request_id_and_no_secret(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_refuses_key())  # its message quotes the key
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    message = caught.value.info.message
    assert "401" in message
    assert "req_standin_1" in message
    assert SECRET not in message
    # A cause would carry the vendor's own words into logs and histories.
    assert caught.value.__cause__ is None


async def test_message_repeats_nothing_of_the_question(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_echoes_secrets(503))
    asked = replace(question, user_prompt="=== Page 6 ===\nThe harbour master\nkeeps a log.")
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", asked, 5)
    message = caught.value.info.message
    assert "503: words that repeat the question [req_standin_1]" in message
    assert SECRET not in message


async def test_nobody_listens(make: Make, question: PageQuestion) -> None:
    provider = make(url="http://127.0.0.1:9")
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    assert caught.value.kind is K.CONNECT


async def test_unknown_host(make: Make, question: PageQuestion) -> None:
    provider = make(url="http://no-such-host.invalid/v1")
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 5)
    assert caught.value.kind is K.CONNECT


async def test_our_own_bug_is_called_one(provider: ModelProvider, question: PageQuestion) -> None:
    broken = replace(question, image=None)  # type: ignore[arg-type]
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", broken, 5)
    assert caught.value.kind is K.BUG
    assert isinstance(caught.value.__cause__, AttributeError)
    assert str(caught.value.__cause__) not in caught.value.info.message
