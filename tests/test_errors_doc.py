"""docs/errors.md lists every error that the code can name, and no other."""

import re
from pathlib import Path

from quire.contracts.codes import Code
from quire.domain.errors import MEANING

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("activities", "quire", "workflows")
# `Code.X, "REASON"` in a call, or `code=Code.X, reason="REASON"`.
NAMED = re.compile(r'Code\.([A-Z0-9_]+),\s*(?:reason=)?"([A-Z0-9_]+)"')
# What quire/pdf/opening.py refuses is always `NOT_PDF`, a failed download always `IO_ERROR`.
REFUSED = re.compile(r'_refuse\("([A-Z0-9_]+)"')
FAILED = re.compile(r'_failed\("([A-Z0-9_]+)"')


def named_in_the_code() -> set[tuple[str, str]]:
    files = [*ROOT.glob("*.py"), *(f for name in FOLDERS for f in (ROOT / name).rglob("*.py"))]
    found = {pair for file in files for pair in NAMED.findall(file.read_text())}
    found |= {("NOT_PDF", reason) for file in files for reason in REFUSED.findall(file.read_text())}
    found |= {("IO_ERROR", reason) for file in files for reason in FAILED.findall(file.read_text())}
    return found | {(meaning.code.value, kind.value) for kind, meaning in MEANING.items()}


def listed_in_the_docs() -> set[tuple[str, str]]:
    text = (ROOT / "docs" / "errors.md").read_text()
    rows = re.findall(r"^\| `([A-Z0-9_]+)` \| `([A-Z0-9_]+)` \|", text, re.MULTILINE)
    return set(rows)


def test_every_error_is_listed() -> None:
    named, listed = named_in_the_code(), listed_in_the_docs()
    assert sorted(named - listed) == [], "in the code and not in docs/errors.md"
    assert sorted(listed - named) == [], "in docs/errors.md and not in the code"


def test_the_search_finds_errors() -> None:
    """Or the test above would prove nothing."""
    assert len(named_in_the_code()) > 30
    assert {code for code, _ in named_in_the_code()} <= set(Code)
