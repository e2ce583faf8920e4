"""The stand-in is a measuring instrument: it is tested like one."""

import asyncio
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from testing.vendor import (
    BEHAVIOURS,
    Asked,
    Behaviour,
    Rule,
    StandIn,
    StandInProcess,
    vendor_answers,
    vendor_answers_late,
    vendor_fails,
    vendor_hangs,
    vendor_rate_limits,
)
from testing.vendor.performance import Performance
from testing.vendor.process import ROOT


@pytest.fixture
def vendor() -> Iterator[StandIn]:
    with StandIn() as vendor:
        yield vendor


def _picture(data: str) -> list[dict[str, Any]]:
    return [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]


def _ask(
    url: str, model: str = "m", user: str | list[dict[str, Any]] = "Read marker-3 and marker-12."
) -> tuple[int, str]:
    """One chat completion, without any SDK: the status and the text or error."""
    body = {"model": model, "messages": [{"role": "user", "content": user}]}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            answer: dict[str, Any] = json.load(response)
            return response.status, answer["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_same_question_same_answer(vendor: StandIn) -> None:
    answers = {_ask(vendor.url) for _ in range(3)}
    assert answers == {(200, "Read by m: marker-3 marker-12")}


def test_latest_rule_that_matches_decides(vendor: StandIn) -> None:
    vendor.behave(vendor_answers("default"))
    vendor.behave(vendor_fails(503), model="sick")
    vendor.behave(vendor_fails(400), marker=r"page 3\b")
    assert _ask(vendor.url) == (200, "default")
    assert _ask(vendor.url, "sick")[0] == 503
    assert _ask(vendor.url, "sick", "page 3 of 40")[0] == 400
    assert _ask(vendor.url, "sick", "page 30 of 40")[0] == 503


def test_first_calls_then_recovery(vendor: StandIn) -> None:
    vendor.behave(vendor_fails(500), first=2, skip=1)
    assert [_ask(vendor.url)[0] for _ in range(5)] == [200, 500, 500, 200, 200]


def test_rule_for_a_while(vendor: StandIn) -> None:
    """Its time begins with the first call."""
    vendor.behave(vendor_fails(500), until_s=0.4)
    vendor.behave(vendor_fails(503), from_s=0.8)
    time.sleep(0.5)
    assert _ask(vendor.url)[0] == 500
    time.sleep(0.5)
    assert _ask(vendor.url)[0] == 200
    time.sleep(0.4)
    assert _ask(vendor.url)[0] == 503


def test_rule_that_spares_some_calls_of_each_model(vendor: StandIn) -> None:
    vendor.behave(vendor_rate_limits(5), spares=2, spares_per_s=4)
    for model in ("one", "other"):
        assert [_ask(vendor.url, model)[0] for _ in range(4)] == [200, 200, 429, 429]
    time.sleep(0.3)
    assert [_ask(vendor.url, "one")[0] for _ in range(2)] == [200, 429]


def test_late_answers_can_be_released(vendor: StandIn) -> None:
    vendor.behave(vendor_answers_late(60, "late"))
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(_ask, vendor.url)
        vendor.wait_for_calls(1)
        assert not asked.done()
        vendor.release()
        assert asked.result(timeout=10) == (200, "late")
    assert _ask(vendor.url) == (200, "late"), "until the next reset"
    vendor.reset()
    vendor.behave(vendor_answers_late(0.3))
    began = time.monotonic()
    _ask(vendor.url)
    assert time.monotonic() - began >= 0.3


def test_answer_hook_and_predicate() -> None:
    def shout(asked: Asked) -> str:
        return asked.user.upper()

    with StandIn(answer=shout) as vendor:
        vendor.behave(vendor_fails(500), where=lambda asked: "bad" in asked.user)
        assert _ask(vendor.url, user="good")[1] == "GOOD"
        assert _ask(vendor.url, user="bad")[0] == 500


def test_many_at_once(vendor: StandIn) -> None:
    vendor.behave(vendor_answers_late(0.5))
    with ThreadPoolExecutor(64) as pool:
        statuses = [status for status, _ in pool.map(lambda _: _ask(vendor.url), range(64))]
    assert statuses == [200] * 64
    assert vendor.max_concurrent("m") >= 32  # as many as this client's threads can start in time
    assert vendor.max_concurrent("other") == 0


def test_serving_costs_next_to_nothing(vendor: StandIn) -> None:
    for _ in range(100):
        _ask(vendor.url)
    seconds = sorted(call.seconds or 0 for call in vendor.calls())
    assert seconds[50] < 0.005


def test_stops_at_once_with_hanging_calls(vendor: StandIn) -> None:
    vendor.behave(vendor_hangs())
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(_ask, vendor.url) for _ in range(8)]
        vendor.wait_for_calls(8)
        began = time.monotonic()
        vendor.stop()
        assert time.monotonic() - began < 0.5
        assert all(future.exception() is not None for future in asked)


def test_reset_forgets(vendor: StandIn) -> None:
    vendor.behave(vendor_fails(500))
    _ask(vendor.url)
    vendor.reset()
    assert vendor.calls() == []
    assert _ask(vendor.url)[0] == 200


def test_every_third_call(vendor: StandIn) -> None:
    vendor.behave(vendor_fails(429), every=3)
    assert [_ask(vendor.url)[0] for _ in range(7)] == [200, 200, 429, 200, 200, 429, 200]
    vendor.reset()
    vendor.behave(vendor_fails(429), skip=1, every=2, first=4)
    assert [_ask(vendor.url)[0] for _ in range(7)] == [200, 200, 429, 200, 429, 200, 200]


def test_answer_tells_pictures_apart(vendor: StandIn) -> None:
    vendor.behave(vendor_answers("I saw {image}."))
    said = {_ask(vendor.url, user=_picture(data))[1] for data in ("AAAA", "AAAB", "AAAA")}
    assert said == {f"I saw {call.image_mark}." for call in vendor.calls()}
    assert len(said) == 2
    assert _ask(vendor.url)[1] == "I saw ."


def test_models_are_listed(vendor: StandIn) -> None:
    with urllib.request.urlopen(f"{vendor.url}/v1/models", timeout=5) as response:
        assert [model["object"] for model in json.load(response)["data"]] == ["model"]
    assert vendor.calls() == []


def test_malformed_request_and_path_are_told_apart(vendor: StandIn) -> None:
    for path, status in (("/v1/messages", 400), ("/v1/nothing", 404)):
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(vendor.url + path, b"{}", timeout=5)
        assert caught.value.code == status
        caught.value.close()
    assert vendor.calls() == []


def test_every_behaviour_can_be_performed_and_sent() -> None:
    for name, build in BEHAVIOURS.items():
        assert hasattr(Performance, f"_{name}")
        behaviour = build(1.0) if name == "vendor_answers_late" else build()
        rule = Rule(behaviour, model="m", first=2)
        assert Rule.from_json(json.loads(json.dumps(rule.to_json()))).behaviour == behaviour


@pytest.mark.parametrize("wrong", ["vendor_sleeps", {"name": "vendor_fails", "stats": 3}])
def test_misspelt_behaviour_is_refused(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Behaviour.from_json(wrong)


def test_process_is_programmed_over_http() -> None:
    with StandInProcess() as vendor:
        vendor.behave(vendor_fails(503), model="sick", first=1)
        assert [_ask(vendor.url, "sick")[0] for _ in range(2)] == [503, 200]
        (first, _) = vendor.wait_for_calls(2, ended=True)
        assert (first.behaviour, first.status, first.model) == ("vendor_fails", 503, "sick")
        assert vendor.max_concurrent("sick") == 1
        assert vendor.calls("other") == []
        with pytest.raises(urllib.error.HTTPError) as caught:
            vendor.behave(Behaviour("vendor_sleeps"))
        caught.value.close()
        vendor.reset()
        assert vendor.calls() == []
        process = vendor._process
    assert process.returncode is not None


def test_script_file(tmp_path: Path) -> None:
    script = tmp_path / "faults.json"
    rules = [{"behaviour": {"name": "vendor_fails", "status": 418}, "model": "teapot"}]
    script.write_text(json.dumps({"rules": rules}))
    command = [sys.executable, "-m", "testing.vendor", "--port", "0", "--script", str(script)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert _ask(url, "teapot")[0] == 418
        assert _ask(url)[0] == 200
    finally:
        process.kill()
        process.communicate()


async def test_abort_is_noticed(vendor: StandIn) -> None:
    vendor.behave(vendor_hangs())
    port = int(vendor.url.rsplit(":", 1)[1])
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    body = b'{"model": "m", "messages": []}'
    head = f"POST /v1/chat/completions HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await asyncio.to_thread(vendor.wait_for_calls, 1)
    writer.close()
    await writer.wait_closed()
    (call,) = await asyncio.to_thread(vendor.wait_for_calls, 1, 2, True)
    assert call.aborted
