"""Checks whether everything is in place, and says what to do about what is not."""

import asyncio
import secrets
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
from temporalio.service import RPCError

from quire.app.parts import open_cache, open_documents, plan_defaults
from quire.contracts.names import LOCAL_MODEL, LOCAL_PROVIDER
from quire.contracts.reading import ImageOptions
from quire.domain import errors
from quire.domain.errors import QuireError
from quire.jobs.check_queues import check_queues
from quire.jobs.finding import Finding
from quire.providers.registry import spec_of
from quire.settings import ProviderSettings, Settings, setting_name
from quire.store.cache import FileCache
from quire.store.places import open_place
from quire.temporal.connect import connect, refused_by_temporal
from quire.temporal.embedded import EmbeddedServer
from quire.temporal.search_attributes import absent_search_attributes

ONE_PAGE = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>endobj
trailer<</Root 1 0 R>>
"""
# A vendor may answer a byte at a time.
PROBE_S = 10.0


async def examine(settings: Settings) -> list[Finding]:
    """All checks; none of them costs money."""
    checks: list[Callable[[Settings], Awaitable[list[Finding]]]] = [
        _temporal, _store, _mupdf, check_engines,
    ]  # fmt: skip
    findings = [_settings(settings)]
    for found in await asyncio.gather(*(check(settings) for check in checks)):
        findings += found
    return findings


def _settings(settings: Settings) -> Finding:
    """Their values were checked when they were read; what remains is where they came from."""
    read = ", ".join(map(str, settings.files)) or "no file"
    detail = f"all values are allowed; read from the environment and {read}"
    if not settings.exposed_files:
        return Finding("settings", True, detail)
    exposed = " ".join(map(str, settings.exposed_files))
    remedy = f"(every user here may read its secrets: chmod 600 {exposed})"
    return Finding("settings", True, detail, remedy)


async def _temporal(settings: Settings) -> list[Finding]:
    try:
        if settings.temporal_address:
            client = await connect(settings)
            absent = await absent_search_attributes(client)
            if absent:
                raise errors.search_attributes_missing(client.namespace, absent)
            found = Finding("temporal", True, f"cluster at {settings.temporal_address}")
            return [found, *await check_queues(client, settings), *_starts(settings)]
        server = EmbeddedServer(settings.state_dir)
        info = await server.start()
        await connect(settings, info.address)
        server.leave()
        return [Finding("temporal", True, "embedded server starts and answers")]
    except RPCError as refusal:
        said = refused_by_temporal(refusal).info
        return [Finding("temporal", False, said.message, said.remedy)]
    except QuireError as error:
        return [Finding("temporal", False, error.info.message, error.info.remedy)]


def _starts(settings: Settings) -> list[Finding]:
    """With what jobs are signed, and what else workers with these settings take up."""
    keyed = bool(settings.encryption_keys.get_secret_value())
    signed = "signed with " + ("ENCRYPTION_KEYS" if keyed else "the key in the store")
    if settings.accept_unsigned:
        signed += "; unsigned ones are accepted (ACCEPT_UNSIGNED)"
    absent = [root for root in settings.source_roots if not Path(root).is_dir()]
    return [
        Finding("starts", True, signed),
        *(
            Finding("starts", False, f"{root} is no folder here", "Correct SOURCE_ROOTS.")
            for root in absent
        ),
    ]


async def _store(settings: Settings) -> list[Finding]:
    cache = open_cache(settings)
    return [
        await _writable("store", settings.store_place, cache, "STORE_URL"),
        await _writable("results", settings.results_place, cache, "RESULTS_URL"),
    ]


async def _writable(name: str, place: str, cache: FileCache, setting: str) -> Finding:
    probe = f"probe-{secrets.token_hex(4)}"
    try:
        store = open_place(place, cache)
        await store.put(probe, b"written by doctor")
        await store.delete(probe)
        return Finding(name, True, place)
    except QuireError as error:
        return Finding(name, False, error.info.message, error.info.remedy)
    except OSError as error:
        remedy = f"Make it reachable and writable, or change {setting}."
        return Finding(name, False, f"{place}: {error.strerror}", remedy)


async def _mupdf(settings: Settings) -> list[Finding]:
    documents = open_documents(1)
    try:
        with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
            file.write(ONE_PAGE)
            file.flush()
            await documents.render(Path(file.name), 1, ImageOptions())
        return [Finding("mupdf", True, "draws a page in a child process")]
    except QuireError as error:
        return [Finding("mupdf", False, error.info.message, "Reinstall pymupdf and pillow.")]
    finally:
        documents.close()


async def check_engines(settings: Settings) -> list[Finding]:
    """Whether each provider with a key answers, and whether any model can read a page."""
    defaults = plan_defaults(settings)
    findings = [
        Finding(name, None, defaults.providers[name].missing)
        if defaults.providers[name].missing
        else await _probe(name, own)
        for name, own in settings.providers.items()
    ]
    lacking = defaults.local_missing
    findings.append(Finding(LOCAL_PROVIDER, None if lacking else True, lacking or LOCAL_MODEL))
    if not any(finding.ok for finding in findings):
        findings.append(
            Finding(
                "engines",
                False,
                "no model can read a page",
                "Set a vendor's API key, or pip install 'quire[ocr]'.",
            )
        )
    return findings


async def _probe(name: str, own: ProviderSettings) -> Finding:
    """A listing of models is free, and proves both the address and the key."""
    spec = spec_of(name)
    base = (own.base_url or spec.public_url).rstrip("/")
    key = own.api_key.get_secret_value() if own.api_key else "none"
    request = spec.probe(base, key)
    try:
        async with (
            asyncio.timeout(PROBE_S),
            httpx.AsyncClient(timeout=5.0) as http,
            # The status says it all: the body, which may have no end, is not read.
            http.stream("GET", request.url, headers=dict(request.headers)) as answer,
        ):
            pass
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        remedy = f"Check the network and {setting_name(name, 'base_url')}."
        return Finding(name, False, f"{base}: {type(error).__name__}", remedy)
    if answer.status_code in (401, 403):
        remedy = f"Correct {setting_name(name, 'api_key')}."
        return Finding(name, False, f"{base} refuses the key", remedy)
    if answer.is_redirect:
        remedy = f"Correct {setting_name(name, 'base_url')}: pages are never sent elsewhere."
        return Finding(name, False, f"{base} redirects to another address", remedy)
    if answer.status_code >= 500:
        return Finding(name, False, f"{base} answers {answer.status_code}", "Try again later.")
    return Finding(name, True, base)
