"""SASLprep by the examples of RFC 4013, and in a file that was locked with its outcome."""

from pathlib import Path

import pytest

from quire.domain.errors import DocumentRefused
from quire.pdf.passwords import password_forms, saslprep
from quire.pdf.reader import Documents
from testing import pdfs


@pytest.mark.parametrize(
    ("given", "prepared"),
    [
        ("I\u00adX", "IX"),
        ("user", "user"),
        ("USER", "USER"),
        ("\u00aa", "a"),
        ("\u2168", "IX"),
        ("a\u00a0b", "a b"),
        ("    ", "    "),
        ("\u0007", None),
        ("\u06271", None),
    ],
)
def test_examples(given: str, prepared: str | None) -> None:
    assert saslprep(given) == prepared


def test_as_given_comes_first() -> None:
    assert password_forms("\u2168") == ["\u2168", "IX"]
    assert password_forms(" plain ") == [" plain "]
    assert password_forms("\u0007") == ["\u0007"]


async def test_prepared_form_opens_a_file(tmp_path: Path) -> None:
    locked = pdfs.locked_pdf(tmp_path / "l.pdf", "IX", "Boss")
    documents = Documents(processes=1)
    try:
        for password in ("IX", "\u2168", "I\u00adX", "Boss"):
            assert await documents.inspect(locked, password) == 1
        for password in ("IX ", "ix"):
            with pytest.raises(DocumentRefused) as caught:
                await documents.inspect(locked, password)
            assert caught.value.info.reason == "PASSWORD_WRONG"
    finally:
        documents.close()
