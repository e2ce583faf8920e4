"""Downloads end within their limits, say why, and leave nothing half done."""

import asyncio
import ipaddress
import os
import time
from pathlib import Path

import pytest

from quire.contracts.codes import ErrorInfo
from quire.domain.errors import DocumentRefused
from quire.sources import addresses
from quire.sources.addresses import is_public
from quire.sources.fetch import OriginFetcher
from quire.sources.web import name_in_url
from tests.sources.servers import (
    Answer,
    server_drips,
    server_hides_its_length,
    server_never_answers,
    server_promises_more_than_it_sends,
    server_redirects,
    server_sends,
    serving,
)

LIMIT_S = 1.0
MAX_BYTES = 1_000_000
PDF = b"junk before\n%PDF-1.7\n" + b"y" * 1000


def sources(*, allow_private: bool = True) -> OriginFetcher:
    return OriginFetcher(max_bytes=MAX_BYTES, time_limit_s=LIMIT_S, allow_private=allow_private)


async def refusal(answer: Answer, folder: Path, *, allow_private: bool = True) -> ErrorInfo:
    async with serving(answer) as url:
        started = time.monotonic()
        with pytest.raises(DocumentRefused) as caught:
            await sources(allow_private=allow_private).fetch(f"{url}/a.pdf?token=x", "", folder)
        assert time.monotonic() - started < LIMIT_S + 1
    info = caught.value.info
    assert info.remedy
    assert "token" not in info.line()
    return info


async def test_document_arrives_whole(tmp_path: Path) -> None:
    async with serving(server_sends(PDF)) as url:
        fetched = await sources().fetch(f"{url}/a.pdf", "a.pdf", tmp_path)
    assert Path(fetched.path).read_bytes() == PDF
    assert fetched.kind == "pdf", "also when its header comes after junk"


@pytest.mark.parametrize(
    ("answer", "code", "reason"),
    [
        (server_drips(), "IO_ERROR", "TIMEOUT"),
        (server_never_answers(), "IO_ERROR", "TIMEOUT"),
        (server_promises_more_than_it_sends(PDF), "IO_ERROR", "CUT_SHORT"),
        (server_sends(b"%PDF" + b"x" * MAX_BYTES), "TOO_LARGE", "BYTES"),
        (server_hides_its_length(20 * MAX_BYTES), "TOO_LARGE", "BYTES"),
        (server_sends(b"<html>login</html>"), "NOT_PDF", "NOT_PDF"),
        (server_sends(b""), "NOT_PDF", "EMPTY"),
        (server_sends(b"", status="404 Not Found"), "EXPIRED", "SOURCE_GONE"),
        (server_sends(b"", status="410 Gone"), "EXPIRED", "SOURCE_GONE"),
        (server_sends(b"", status="403 Forbidden"), "IO_ERROR", "DENIED"),
        (server_sends(b"", status="503 Busy"), "IO_ERROR", "SERVER"),
        (server_redirects("/again"), "IO_ERROR", "REDIRECT"),
        (server_redirects("file:///etc/passwd"), "IO_ERROR", "BAD_URL"),
        (server_redirects("http://[bad"), "IO_ERROR", "NO_HOST"),
        (server_redirects("http://127.0.0.1:9/"), "IO_ERROR", "CONNECT"),
    ],
    ids=lambda value: getattr(value, "__qualname__", value).partition(".")[0],
)
async def test_refusals(answer: Answer, code: str, reason: str, tmp_path: Path) -> None:
    info = await refusal(answer, tmp_path)
    assert (info.code, info.reason) == (code, reason)


async def test_only_what_may_pass_is_tried_again(tmp_path: Path) -> None:
    drips = await refusal(server_drips(), tmp_path)
    busy = await refusal(server_sends(b"", status="503 Busy"), tmp_path)
    assert (drips.error_type, busy.error_type) == ("terminal", "retryable")


async def test_a_halt_is_noticed_long_before_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.sources.web.STALL_S", 0.5)
    patient = OriginFetcher(max_bytes=MAX_BYTES, time_limit_s=600, allow_private=True)
    async with serving(server_drips()) as url, asyncio.timeout(20):
        with pytest.raises(DocumentRefused, match="next to nothing for") as caught:
            await patient.fetch(f"{url}/a.pdf", "", tmp_path)
    assert caught.value.info.reason == "TIMEOUT"


async def test_private_addresses_are_refused(tmp_path: Path) -> None:
    info = await refusal(server_sends(PDF), tmp_path, allow_private=False)
    assert (info.code, info.reason) == ("IO_ERROR", "PRIVATE_ADDRESS")
    assert "ALLOW_PRIVATE_URLS" in info.remedy
    assert not list(os.scandir(tmp_path))


async def test_redirect_into_a_private_network_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first hop passes for public here; what it redirects to must be checked again."""
    hop, real = "127.0.0.1", is_public
    monkeypatch.setattr(addresses, "is_public", lambda a: str(a) == hop or real(a))
    for inside in ("http://10.0.0.7/", "http://169.254.169.254/meta", "http://[::1]:80/"):
        info = await refusal(server_redirects(inside), tmp_path, allow_private=False)
        assert info.reason == "PRIVATE_ADDRESS", inside


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1",
        "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1",
    ],
)  # fmt: skip
def test_addresses_inside(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_outside(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


async def test_the_checked_address_is_the_one_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that answers differently the second time gains nothing: it is asked only once."""
    asked: list[str] = []

    async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    monkeypatch.setattr(addresses, "resolve", resolve)
    async with serving(server_sends(PDF)) as url:
        port = url.rpartition(":")[2]
        rebinding = f"http://rebinding.example:{port}/a.pdf"
        fetched = await sources(allow_private=False).fetch(rebinding, "", tmp_path)
    assert Path(fetched.path).read_bytes() == PDF
    assert asked == ["rebinding.example"]


def test_names_without_secrets() -> None:
    assert name_in_url("https://me:pw@host/a/Annual%20report.pdf?sig=1#p") == "Annual report.pdf"
    assert name_in_url("https://me:pw@host/") == "host"
    assert name_in_url("s3://bucket/deep/key.pdf") == "key.pdf"
