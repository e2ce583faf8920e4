"""Real documents of other projects, where they are at hand: labels, passwords, hostile files."""

import contextlib
import csv
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from quire.contracts.codes import Code
from quire.contracts.page import Classification
from quire.contracts.reading import ImageOptions
from quire.domain.errors import AttemptFailed, DocumentRefused
from quire.pdf.reader import Documents

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
needs_corpus = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="needs the corpus of real documents beside this project"
)
pytestmark = needs_corpus


def table(name: str) -> list[dict[str, str]]:
    if not CORPUS.is_dir():
        return []
    with (CORPUS / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def password_of(row: dict[str, str]) -> str | None:
    value = row["password_json"]
    return None if value in ("", "unknown") else str(json.loads(value))


PDFS = {row["file"]: row for row in table("manifest.tsv") if row["file"].endswith(".pdf")}
REFUSED = {
    "corrupt_or_hostile/corrupted.pdf": (Code.NOT_PDF, "NO_PAGES"),
    "corrupt_or_hostile/file1.pdf": (Code.NOT_PDF, "NOT_PDF"),
    "corrupt_or_hostile/issue9418.pdf": (Code.NOT_PDF, "NO_PAGES"),
    "encrypted/AESkeylength256.pdf": (Code.IO_ERROR, "PUBLIC_KEY"),
    "encrypted/encryption_openpassword.pdf": (Code.IO_ERROR, "PASSWORD_MISSING"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def documents() -> AsyncIterator[Documents]:
    reader = Documents(processes=2)
    yield reader
    reader.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_at_least_nine_of_ten_labels_are_met(documents: Documents) -> None:
    labels = table("page_labels.tsv")
    misses = []
    for row in labels:
        number = int(row["page"])
        (page,) = await documents.survey(CORPUS / row["file"], number, number)
        assert page.page == number
        if page.classification != Classification(row["label"]):
            misses.append(f"{row['file']} {number}: {page.classification} ({page.reason})")
    score = 1 - len(misses) / len(labels)
    assert score >= 0.9, "\n".join(misses)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.asyncio(loop_scope="module")
async def test_refused_with_a_reason_and_a_remedy(documents: Documents, name: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        await documents.inspect(CORPUS / name)
    info = refused.value.info
    assert (info.code, info.reason) == REFUSED[name]
    assert info.message
    assert info.remedy


@pytest.mark.parametrize("name", [name for name in PDFS if name not in REFUSED])
@pytest.mark.asyncio(loop_scope="module")
async def test_every_other_file_is_read_and_soon(documents: Documents, name: str) -> None:
    path, password = CORPUS / name, password_of(PDFS[name])
    began = time.monotonic()
    count = await documents.inspect(path, password)
    pages = await documents.survey(path, 1, count, password)
    assert [page.page for page in pages] == list(range(1, count + 1))
    assert all(page.reason for page in pages)
    # A hostile page may be beyond drawing, but only in the way that callers expect.
    hostile = name.startswith("corrupt_or_hostile/")
    with contextlib.suppress(*([AttemptFailed] if hostile else [])):
        assert (await documents.render(path, count, ImageOptions(), password)).data
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", [n for n, row in PDFS.items() if password_of(row)])
@pytest.mark.asyncio(loop_scope="module")
async def test_locked_files_want_exactly_their_password(documents: Documents, name: str) -> None:
    path, password = CORPUS / name, password_of(PDFS[name])
    assert password is not None
    with pytest.raises(DocumentRefused) as missing:
        await documents.inspect(path)
    assert missing.value.info.reason == "PASSWORD_MISSING"
    for wrong in (password + " ", password[1:] + "x"):
        with pytest.raises(DocumentRefused) as refused:
            await documents.inspect(path, wrong)
        assert (refused.value.info.code, refused.value.info.reason) == (
            Code.IO_ERROR,
            "PASSWORD_WRONG",
        )
    assert await documents.inspect(path, password) >= 1


@pytest.mark.parametrize("name", ["images/2206.01062.tif", "images/double-column-A.jpg"])
@pytest.mark.asyncio(loop_scope="module")
async def test_an_image_is_not_a_pdf(documents: Documents, name: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        await documents.inspect(CORPUS / name)
    assert refused.value.info.reason == "NOT_PDF"
