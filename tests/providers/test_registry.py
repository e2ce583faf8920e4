"""A vendor is one file and one entry in the registry; nothing else knows its name."""

import ast
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.app.parts import build_parts, plan_defaults
from quire.contracts.codes import FailureKind
from quire.contracts.document import DocumentRequest
from quire.domain.document.plan import make_plan
from quire.domain.document.transcription import PageQuestion
from quire.domain.errors import AttemptFailed, SettingsError
from quire.jobs import doctor
from quire.providers.errors import classify
from quire.providers.registry import PROVIDERS, spec_of
from quire.settings import Settings, load_settings
from testing.vendor import StandIn
from tests.providers.made_up import MADE_UP, OutOfInk

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    """The settings of a machine on which the made-up vendor has a key."""
    for name in PROVIDERS:  # the machine's own keys must not send anything anywhere
        monkeypatch.delenv(f"{name.upper()}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name.upper()}_BASE_URL", raising=False)
    monkeypatch.setitem(PROVIDERS, MADE_UP.name, MADE_UP)
    monkeypatch.setenv("MADE_UP_API_KEY", "key")
    monkeypatch.setenv("MADE_UP_FAST_MODEL", "pencil")
    monkeypatch.setenv("PRIMARY_ENGINE", MADE_UP.name)
    monkeypatch.setenv("STATE_DIR", str(tmp_path))
    return load_settings()


def test_settings_know_a_new_vendor(made_up: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made_up.providers["made_up"].models == {
        "primary": "quill",
        "secondary": "brush",
        "fast": "pencil",
    }
    monkeypatch.setenv("EXTRA_PROVIDERS", "made_up")
    with pytest.raises(SettingsError, match="EXTRA_PROVIDERS"):
        load_settings()


def test_plan_knows_a_new_vendor(made_up: Settings) -> None:
    request = DocumentRequest(job_id="job", source="/a.pdf")
    routes = make_plan(request, plan_defaults(made_up)).chain.routes
    assert [route.key for route in routes][:2] == ["made_up:quill", "made_up:brush"]


async def test_app_builds_a_new_vendor(made_up: Settings, question: PageQuestion) -> None:
    parts = build_parts(made_up)
    try:
        provider = parts.providers["made_up"]
        answer = await provider.read_page("quill", question, 5)
        assert (answer.text, answer.usage.input_tokens) == ("Read by quill.", 10)
        with pytest.raises(AttemptFailed, match="made_up:dry") as caught:
            await provider.read_page("dry", question, 5)
        assert caught.value.kind is FailureKind.QUOTA
        assert logging.getLogger("made_up_sdk").level == logging.WARNING
    finally:
        await parts.close()


def test_errors_know_a_new_vendor(made_up: Settings) -> None:
    assert classify(OutOfInk()) is FailureKind.QUOTA


async def test_doctor_knows_a_new_vendor(
    made_up: Settings, vendor: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {finding.name: finding for finding in await doctor.check_engines(made_up)}
    assert found["made_up"].ok is False
    assert found["made_up"].remedy == "Check the network and MADE_UP_BASE_URL."
    monkeypatch.setenv("MADE_UP_BASE_URL", vendor.url)
    found = {finding.name: finding for finding in await doctor.check_engines(load_settings())}
    assert (found["made_up"].ok, found["made_up"].detail) == (True, vendor.url)


def test_extra_provider_speaks_as_the_compatible_vendor_under_its_own_name() -> None:
    extra = spec_of("deepinfra")
    assert extra.name == "deepinfra"
    assert extra.build is spec_of("openai").build
    assert (extra.models, extra.public_url) == ({}, "")


# --- where vendors may be named --------------------------------------------------------------

VENDOR_WORDS = re.compile(r"open_?ai|anthropic|claude|gpt-", re.I)
# What may name a vendor in its code, and why. Docstrings and comments may do so anywhere.
MAY_NAME = {
    "quire/providers/openai.py": "the vendor's own file",
    "quire/providers/anthropic.py": "the vendor's own file",
    "quire/providers/registry.py": "the list of vendors",
    "quire/providers/rate_headers.py": "headers as each vendor spells them",
    "quire/settings/settings.py": "the defaults of PRIMARY_ENGINE and SECONDARY_ENGINE",
    "quire/cli/options.py": "the help of --engine, printed before any provider is imported",
}


def _words(tree: ast.Module) -> Iterator[str]:
    """Every name, module and text of a file, without its docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield getattr(node, "module", None) or ""
            yield from (alias.name for alias in node.names)


def _naming() -> dict[str, list[str]]:
    files = [
        *(path for folder in ("quire", "workflows", "activities") for path in
          sorted((ROOT / folder).rglob("*.py"))),
        ROOT / "worker.py",
        ROOT / "starter.py",
    ]  # fmt: skip
    found = {
        path.relative_to(ROOT).as_posix(): [
            word
            for word in _words(ast.parse(path.read_text(encoding="utf-8")))
            if VENDOR_WORDS.search(word)
        ]
        for path in files
    }
    return {name: words for name, words in found.items() if words}


def test_vendors_are_named_only_where_they_may_be() -> None:
    assert set(_naming()) == set(MAY_NAME)


def test_settings_name_vendors_only_as_default_engines() -> None:
    assert sorted(_naming()["quire/settings/settings.py"]) == ["anthropic", "openai"]
