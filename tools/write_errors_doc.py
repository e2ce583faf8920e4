"""Writes docs/errors.md from the catalogue of errors: `python -m tools.write_errors_doc`."""

from collections.abc import Iterator
from pathlib import Path

from quire.domain import errors

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/errors.md"

INTRODUCTION = """\
# Errors

Everywhere a person or a program sees an error, it has a public `code`, a `reason`, an `error_type`
(`retryable`: trying again may help; `terminal`: something must be changed first), a message and a
remedy. With `--json` they stand under `error`; for pages under `error` of the page and in
`progress_detail.page_errors`.

A document fails only when there is no document. Whatever happens to single pages, the job ends as
a success that says which page came from where.

Written by `make docs` from `quire/domain/errors/`.
"""
AFTER_PAGES = """
Pages that the deadline or a cancel kept from being read carry `GW_TIMEOUT` and `NOT_READY`.
"""
HEAD = "| code | reason | what it means | {last} |\n|---|---|---|---|"


def errors_page() -> str:
    """The text of the page."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield INTRODUCTION
    yield "## The document (exit code 3, or 2 where noted)\n"
    yield from _section("document")
    yield "\n## Pages\n"
    yield HEAD.format(last="what happens")
    for kind, (meaning, effect) in errors.DESCRIBED.items():
        yield _row(errors.MEANING[kind].code, kind, meaning, effect)
    yield AFTER_PAGES
    yield "## The job (exit code 4)\n"
    yield from _section("job")
    yield "\n## The command (exit codes 1 and 2)\n"
    yield from _section("command")
    yield ""


def _section(section: str) -> Iterator[str]:
    yield HEAD.format(last="what to do")
    for entry in errors.entries():
        if entry.section == section:
            yield _row(entry.code, entry.reason, entry.meaning, entry.advice)


def _row(code: str, reason: str, meaning: str, last: str) -> str:
    return f"| `{code}` | `{reason}` | {meaning} | {last} |"


if __name__ == "__main__":
    (ROOT / PAGE).write_text(errors_page(), encoding="utf-8")
