"""Prices come from the list in the package, or not at all."""

import socket

import pytest

from quire.providers.pricing import cost_usd
from quire.providers.tokens import Tokens, whole


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a price was looked for on the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-6.1-sol"),
        ("openai", "gpt-6.1-terra"),
        ("openai", "gpt-6-luna"),
        ("anthropic", "claude-sonnet-5-5"),
        ("anthropic", "claude-opus-5-5"),
        ("anthropic", "claude-haiku-5-5"),
    ],
)
def test_default_models_have_prices(provider: str, model: str) -> None:
    cost = cost_usd(provider, model, Tokens(read=1000, written=1000))
    assert cost is not None
    assert cost > 0


@pytest.mark.parametrize(
    ("provider", "model", "url"),
    [
        ("openai", "my-own-model", None),
        ("openai", "qwen2-vl", "http://localhost:8000/v1"),
        ("my-server", "gpt-6-luna", "http://localhost:8000/v1"),
        ("", "", ""),
    ],
)
def test_unknown_is_none(provider: str, model: str, url: str | None) -> None:
    assert cost_usd(provider, model, Tokens(read=10, written=10), url) is None


def test_gateway_in_front_of_a_vendor_is_priced_as_the_vendor() -> None:
    tokens = Tokens(read=1000, written=100)
    direct = cost_usd("openai", "gpt-6-luna", tokens)
    assert cost_usd("openai", "gpt-6-luna", tokens, "https://gateway.example/v1") == direct


def test_cached_tokens_are_cheaper() -> None:
    plain = cost_usd("anthropic", "claude-sonnet-5-5", Tokens(read=1000))
    cached = cost_usd("anthropic", "claude-sonnet-5-5", Tokens(read=1000, cache_read=900))
    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain


def test_nonsense_does_not_raise() -> None:
    # More from the cache than was read at all: the price list refuses it.
    assert cost_usd("openai", "gpt-6-luna", Tokens(read=5, cache_read=50)) is None


def test_tokens_add_up() -> None:
    total = Tokens(1, 2, 3, 4) + Tokens(10, 20, 30, 40)
    assert total == Tokens(11, 22, 33, 44)
    assert (total.read, total.written) == (11, 22)


def test_odd_count_is_none() -> None:
    assert [whole(odd) for odd in (None, "12", -3, 1.5, [7])] == [0] * 5
    assert whole(7) == 7
