"""What is sent, and what becomes of a good answer."""

import asyncio
import contextlib
import socket
import subprocess
import sys
import time

import pytest

from quire.contracts.codes import FailureKind
from quire.domain.document.transcription import PageQuestion
from quire.domain.errors import AttemptFailed
from quire.providers.model_provider import OUTPUT_CAP, ModelProvider, open_provider
from quire.providers.openai import OpenAITransport
from quire.providers.pricing import cost_usd
from quire.providers.tokens import Tokens
from testing.vendor import (
    Asked,
    Behaviour,
    StandIn,
    vendor_answers,
    vendor_answers_late,
    vendor_drips,
    vendor_fails,
    vendor_hangs,
    vendor_refuses,
    vendor_truncates,
)
from tests.providers.conftest import SECRET, Make

PRICED = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5"}


async def test_request_says_all_there_is_to_say(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion, api: str
) -> None:
    answer = await provider.read_page("m", question, 5)
    (call,) = vendor.calls()
    assert (call.api, call.model) == (api, "m")
    assert (call.system, call.user) == (question.system_prompt, question.user_prompt)
    assert (call.image_media_type, call.image_bytes) == ("image/jpeg", 1000)
    assert call.cap == OUTPUT_CAP
    assert call.headers["authorization"] == f"Bearer {SECRET}"
    assert answer.text.startswith("Read by m: marker-7\n")
    assert answer.request_id == "req_standin_1"


async def test_image_arrives_byte_for_byte(make: Make, question: PageQuestion, api: str) -> None:
    seen: list[bytes] = []

    def look(asked: Asked) -> str:
        seen.append(asked.image)
        return "text"

    with StandIn(answer=look) as looking:
        url = looking.openai_url if api == "openai" else looking.anthropic_url
        await make(url=url).read_page("m", question, 5)
    assert seen == [question.image.data]


async def test_usage_and_cost(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion, api: str
) -> None:
    vendor.behave(vendor_answers("word " * 40 + "and more to read. " * 10))
    answer = await provider.read_page(PRICED[api], question, 5)
    assert answer.usage.input_tokens > 1100
    assert answer.usage.output_tokens == (200 + 180) // 4
    assert answer.cost_usd is not None
    assert 0.0001 < answer.cost_usd < 0.01


async def test_cached_tokens_count_as_read_and_cost_less(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion, api: str
) -> None:
    fresh = await provider.read_page(PRICED[api], question, 5)
    vendor.behave(vendor_answers(cached=1000))
    cached = await provider.read_page(PRICED[api], question, 5)
    assert cached.usage == fresh.usage
    assert fresh.cost_usd is not None
    assert cached.cost_usd is not None
    assert cached.cost_usd < fresh.cost_usd


async def test_price_of_an_unknown_model_is_unknown(
    provider: ModelProvider, question: PageQuestion
) -> None:
    assert (await provider.read_page("my-own-model", question, 5)).cost_usd is None


async def test_fence_around_the_answer_goes(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_answers("```markdown\n# Title\n\nText\n```\n"))
    assert (await provider.read_page("m", question, 5)).text == "# Title\n\nText"


async def test_cut_off_by_our_cap_gets_twice_the_room(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_truncates(below=OUTPUT_CAP + 1, text="the whole page"))
    answer = await provider.read_page("m", question, 5)
    assert answer.text == "the whole page"
    assert [call.cap for call in vendor.calls()] == [OUTPUT_CAP, 2 * OUTPUT_CAP]
    # Both calls were paid for.
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == vendor.billed()
    assert answer.usage.output_tokens > OUTPUT_CAP


@pytest.mark.parametrize(
    ("second", "kind"),
    [
        (vendor_hangs(), FailureKind.TIMEOUT),
        (vendor_fails(503), FailureKind.SERVER),
        (vendor_refuses(), FailureKind.CONTENT),
    ],
)
async def test_first_call_is_told_of_when_the_second_fails(
    vendor: StandIn,
    provider: ModelProvider,
    question: PageQuestion,
    api: str,
    second: Behaviour,
    kind: FailureKind,
) -> None:
    vendor.behave(second)
    vendor.behave(vendor_truncates(), first=1)
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page(PRICED[api], question, 1)
    wasted = caught.value.wasted
    assert caught.value.kind is kind
    assert (wasted.input_tokens, wasted.output_tokens) == vendor.billed()
    assert wasted.output_tokens >= OUTPUT_CAP
    tokens = Tokens(read=wasted.input_tokens, written=wasted.output_tokens)
    assert wasted.dollars == pytest.approx(cost_usd(api, PRICED[api], tokens), abs=1e-6)


async def test_second_call_shares_the_time_of_the_first(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_hangs())
    vendor.behave(vendor_truncates(), first=1)
    began = time.monotonic()
    with pytest.raises(AttemptFailed) as caught:
        await provider.read_page("m", question, 0.5)
    assert caught.value.kind is FailureKind.TIMEOUT
    assert time.monotonic() - began < 1.5


async def test_slow_but_good_answer_is_taken(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_drips(seconds=0.3))
    answer = await provider.read_page("m", question, 5)
    assert answer.text.startswith("Read by m: marker-7\n")


async def test_cancellation_passes_and_hangs_up(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_hangs())
    task = asyncio.create_task(provider.read_page("m", question, 60))
    await asyncio.to_thread(vendor.wait_for_calls, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (call,) = await asyncio.to_thread(vendor.wait_for_calls, 1, 2, True)
    assert call.aborted


async def test_timeout_hangs_up_too(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_hangs())
    with pytest.raises(AttemptFailed):
        await provider.read_page("m", question, 0.2)
    (call,) = await asyncio.to_thread(vendor.wait_for_calls, 1, 2, True)
    assert call.aborted


async def test_many_pages_at_once(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_answers_late(0.5))
    await asyncio.gather(*(provider.read_page("m", question, 10) for _ in range(16)))
    assert vendor.max_concurrent("m") == 16


async def test_no_key_but_a_url_sends_a_placeholder(
    vendor: StandIn, make: Make, question: PageQuestion
) -> None:
    await make(key=None).read_page("m", question, 5)
    assert vendor.calls()[0].headers["authorization"] == "Bearer no-key-needed"


async def test_key_with_a_newline_works(
    vendor: StandIn, make: Make, question: PageQuestion
) -> None:
    await make(key=SECRET + "\n").read_page("m", question, 5)


async def test_anthropic_url_may_end_in_v1(vendor: StandIn, question: PageQuestion) -> None:
    provider = open_provider("anthropic", "key", vendor.url + "/v1/")
    assert (await provider.read_page("m", question, 5)).text
    await provider.close()


async def test_environment_is_not_read(
    vendor: StandIn, make: Make, question: PageQuestion, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.setenv(name, "from-the-environment")
    await make().read_page("m", question, 5)
    assert "from-the-environment" not in str(vendor.calls()[0].headers)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (None, "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("http://localhost:11434/v1", "max_tokens"),
        ("https://api.deepinfra.com/v1/openai", "max_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
    ],
)
def test_cap_is_named_as_the_server_knows_it(url: str | None, name: str) -> None:
    assert OpenAITransport("key", url)._cap_name == name


async def test_cap_name_is_learnt_once(vendor: StandIn, question: PageQuestion) -> None:
    provider = open_provider("openai", "key", vendor.openai_url)
    refusal = vendor_fails(400, code="unsupported_parameter", param="max_tokens")
    vendor.behave(refusal, where=lambda asked: asked.cap_name == "max_tokens")
    for _ in range(2):
        await provider.read_page("m", question, 5)
    names = [call.cap_name for call in vendor.calls()]
    assert names == ["max_tokens", "max_completion_tokens", "max_completion_tokens"]
    await provider.close()


async def test_a_connection_may_take_less_than_the_call(make: Make, question: PageQuestion) -> None:
    """The server's queue of connections is full, so that a further one is never answered."""
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(3):
            early = waiting.enter_context(socket.socket())
            early.setblocking(False)
            early.connect_ex(full.getsockname())
        provider = make(url=f"http://127.0.0.1:{full.getsockname()[1]}/v1", connect_s=0.5)
        await provider.warm_up()
        started = time.monotonic()
        with pytest.raises(AttemptFailed):
            await provider.read_page("m", question, 20)
        assert 0.4 < time.monotonic() - started < 5


def test_sdks_are_imported_no_earlier_than_needed() -> None:
    code = (
        "import quire.settings, quire.providers.model_provider, quire.providers.local_ocr, sys;"
        "quire.settings.load_settings();"
        "p = [quire.providers.model_provider.open_provider(name, 'k')"
        " for name in ('openai', 'anthropic', 'extra')];"
        "q = quire.providers.local_ocr.LocalOcrProvider();"
        "heavy = {'openai', 'anthropic', 'genai_prices', 'rapidocr', 'onnxruntime', 'numpy'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_neither_blocks_the_loop_nor_eats_the_time(vendor: StandIn) -> None:
    """In a fresh process; then a client slower to make than the call may take."""
    code = f"""
import asyncio, time
from quire.domain.document.transcription import PageImage, PageQuestion
from quire.providers.model_provider import open_provider
async def main():
    worst = 0.0
    async def watch():
        nonlocal worst
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            worst = max(worst, time.perf_counter() - began)
    watching = asyncio.create_task(watch())
    provider = open_provider("anthropic", "k", "{vendor.anthropic_url}")
    question = PageQuestion(PageImage(b"x", "image/png", 1, 1), "s", "u")
    began = time.perf_counter()
    await provider.warm_up()
    warming = time.perf_counter() - began
    again = open_provider("anthropic", "k", "{vendor.anthropic_url}")
    again._transport.build_client = lambda: time.sleep(1.5) or provider._client
    await again.read_page("m", question, 1.0)
    watching.cancel()
    print(worst, warming)
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    worst, warming = map(float, done.stdout.split())
    assert worst < warming / 2
