"""What `doctor` says of vendors' addresses, whatever they answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from quire.jobs.doctor import check_engines
from quire.jobs.finding import Finding
from quire.settings import load_settings

ENDLESS = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
Probe = Callable[[str], Awaitable[Finding]]
REDIRECT = b"HTTP/1.1 307 Go\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"


@asynccontextmanager
async def address(head: bytes, then: Callable[[], bytes]) -> AsyncIterator[str]:
    """A server that sends a head, and then this for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head)
        try:
            while piece := then():
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)
            await writer.drain()
            await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@pytest.fixture
def openai_at(monkeypatch: pytest.MonkeyPatch) -> Probe:
    async def check(url: str) -> Finding:
        monkeypatch.setenv("QUIRE_CONFIG", "none")
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        async with asyncio.timeout(20):
            findings = await check_engines(load_settings())
        return next(finding for finding in findings if finding.name == "openai")

    return check


async def test_a_list_of_models_without_end_is_not_read(openai_at: Probe) -> None:
    async with address(ENDLESS, lambda: b"4000\r\n" + b"x" * 0x4000 + b"\r\n") as url:
        assert (await openai_at(url)).ok


async def test_a_dripping_head_is_not_waited_for(
    openai_at: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quire.jobs.doctor.PROBE_S", 0.5)
    async with address(b"HTTP/1.1 200 OK\r\nx: ", lambda: b"y") as url:
        found = await openai_at(url)
    assert (found.ok, found.detail) == (False, f"{url}: TimeoutError")


async def test_a_redirect_is_no_answer(openai_at: Probe) -> None:
    async with address(REDIRECT, lambda: b"") as url:
        found = await openai_at(url)
    assert (found.ok, found.detail) == (False, f"{url} redirects to another address")
    assert "OPENAI_BASE_URL" in found.remedy
