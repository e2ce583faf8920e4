"""Whatever a vendor's address answers, it is read within bounds and sent nowhere else."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import FailureKind
from quire.domain.document.transcription import PageQuestion
from quire.domain.errors import AttemptFailed
from quire.providers import bounded_body
from quire.providers.bounded_body import bound_body
from quire.providers.clean_text import clean_text
from quire.providers.model_provider import ModelProvider
from quire.providers.tokens import MOST_TOKENS, whole
from testing.vendor import StandIn, vendor_redirects, vendor_sends_surrogates


class Stream:
    """A body in pieces, which notes how much of it was read and whether it was closed."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces
        self.read = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            self.read += len(piece)
            yield piece

    async def aclose(self) -> None:
        self.closed = True


class Answer(SimpleNamespace):
    """As much of an HTTP client's response as is used."""

    def __init__(self, status: int, content: bytes = b"", **more: Any) -> None:
        super().__init__(status_code=status, stream=Stream(content), headers={}, **more)


async def read(stream: Stream, packing: str = "", status: int = 200) -> bytes:
    answer = Answer(status)
    answer.stream = stream
    answer.headers = {"content-encoding": packing} if packing else {}
    await bound_body(answer)
    assert stream.closed
    assert "content-encoding" not in answer.headers, "it is unpacked already"
    return b"".join([piece async for piece in answer.stream])


@pytest.mark.parametrize(
    ("packing", "packed"),
    [
        ("", lambda body: body),
        ("identity", lambda body: body),
        ("gzip", gzip.compress),
        ("X-GZIP", gzip.compress),
        ("deflate", zlib.compress),
    ],
)
async def test_a_good_body_arrives_unpacked(packing: str, packed: Callable[[bytes], bytes]) -> None:
    body = json.dumps({"text": "grüße" * 1000}).encode()
    data = packed(body)
    pieces = [data[place : place + 7] for place in range(0, len(data), 7)]
    assert await read(Stream(*pieces), packing) == body


async def test_reading_ends_at_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_body, "MAX_BYTES", 10_000)
    monkeypatch.setattr(bounded_body, "MAX_ERROR_BYTES", 1_000)
    endless = Stream(*[b"x" * 1000] * 10_000)
    with pytest.raises(AttemptFailed, match="over 10,000 bytes"):
        await read(endless)
    assert endless.read <= 11_000
    with pytest.raises(AttemptFailed, match="over 10,000 bytes"):
        await read(Stream(gzip.compress(bytes(50_000))), "gzip")
    # A header of gzip may be as long as it likes, and unpacks to nothing.
    silent = Stream(b"\x1f\x8b\x08\x08\0\0\0\0\0\3", *[b"name" * 250] * 10_000)
    with pytest.raises(AttemptFailed, match="over 10,000 bytes"):
        await read(silent, "gzip")
    assert silent.read <= 12_000
    # The status of an error says enough.
    assert await read(Stream(*[b"x" * 1000] * 10_000), status=500) == b""
    assert await read(Stream(b"what went wrong"), status=500) == b"what went wrong"
    assert await read(Stream(b"?"), "br", status=401) == b""


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip", "\ud800"])
async def test_other_packings_are_refused(packing: str) -> None:
    with pytest.raises(AttemptFailed, match="compressed in an unknown way"):
        await read(Stream(b"?"), packing)


@pytest.mark.parametrize(
    "body", [b"not packed at all", gzip.compress(b"[]", mtime=0)[:-4] + b"oops"]
)
async def test_broken_packing_is_a_bad_body(body: bytes) -> None:
    with pytest.raises(AttemptFailed) as caught:
        await read(Stream(body), "gzip")
    assert caught.value.kind is FailureKind.BAD_BODY


async def test_neither_page_nor_key_goes_elsewhere(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    with StandIn() as other:
        for path in ("/v1/chat/completions", "/v1/messages"):
            vendor.behave(vendor_redirects(other.url + path), marker="marker-7")
            with pytest.raises(AttemptFailed, match=r"redirects \(307\) to another address"):
                await provider.read_page("m", question, 10)
        assert other.calls() == []


async def test_odd_characters_are_cleaned_before_anything_else(
    vendor: StandIn, provider: ModelProvider, question: PageQuestion
) -> None:
    vendor.behave(vendor_sends_surrogates())
    answer = await provider.read_page("m", question, 10)
    assert answer.text == "Total\ufffd 17[31m\n EUR\ufffd"
    vendor.behave(vendor_sends_surrogates("```\n\x00Total \ud83d\ude00\r\nof it\n```\x1a"))
    assert (await provider.read_page("m", question, 10)).text == "Total 😀\nof it"


@given(st.text(st.characters()) | st.text(st.characters(categories=["Cc", "Cs", "Cn"])))
def test_cleaned_text_can_go_anywhere(text: str) -> None:
    clean = clean_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert not [c for c in clean if (c < " " and c not in "\n\t") or "\x7f" <= c <= "\x9f"]
    assert not [c for c in clean if ord(c) & 0xFFFE == 0xFFFE or "\ufdd0" <= c <= "\ufdef"]
    assert clean_text(clean) == clean
    assert len(clean) <= len(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"])))
def test_good_text_stays_as_it_is(text: str) -> None:
    assert clean_text(text) == text


def test_line_ends_and_tabs_stay() -> None:
    assert clean_text("a\tb\r\nc\rd\x0ce\x85f\n") == "a\tb\nc\nd\ne\nf\n"


def test_counts_beyond_reason_are_bounded() -> None:
    assert whole(10**400) == MOST_TOKENS
    assert [whole(odd) for odd in (-1, 1.5, "7", None, float("inf"))] == [0] * 5
