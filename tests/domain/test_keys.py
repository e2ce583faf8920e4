"""Names in the store: same content same name, and every ingredient counts."""

from typing import Any

import pytest

from quire.contracts.document import ReplacedRun
from quire.contracts.reading import ImageOptions, ReadingOptions, TextOptions
from quire.contracts.stored import Brief
from quire.domain.document.keys import (
    SURVEY_CHUNK,
    answer_key,
    brief_id,
    brief_key,
    chunk_of,
    chunk_pages,
    hyphens_of,
    reading_id,
    result_key,
    source_key,
    survey_key,
)

SHA = "ab" * 32
READING = ReadingOptions(system_prompt="read")


def key(reading: ReadingOptions = READING, **fields: Any) -> str:
    whole = {"sha256": SHA, "page": 1, "provider": "openai", "model": "big", **fields}
    return answer_key(reading=reading_id(reading), **whole)


def test_same_ingredients_same_key() -> None:
    again = ReadingOptions.model_validate_json(READING.model_dump_json())
    assert key(again) == key()
    assert key(ReadingOptions(image=ImageOptions(), system_prompt="read")) == key()


@pytest.mark.parametrize(
    "change",
    [
        {"image": ImageOptions(dpi=101)},
        {"image": ImageOptions(color="gray")},
        {"image": ImageOptions(format="png")},
        {"image": ImageOptions(jpeg_quality=71)},
        {"image": ImageOptions(min_pixels=1)},
        {"image": ImageOptions(max_pixels=1)},
        {"system_prompt": "read well"},
        {"instructions": "ISO dates"},
        {"context_radius": 2},
        {"context_bytes": 3001},
        {"salt": "run"},
        {"prompt_version": 2},
    ],
    ids=str,
)
def test_every_reading_option_changes_the_answer_key(change: dict[str, Any]) -> None:
    assert key(READING.model_copy(update=change)) != key()


def test_no_reading_option_is_forgotten_here() -> None:
    tested = {
        "image", "system_prompt", "instructions", "context_radius", "context_bytes", "salt",
        "prompt_version", "text",
    }  # fmt: skip
    assert set(ReadingOptions.model_fields) == tested
    assert set(ImageOptions.model_fields) == {
        "dpi", "color", "format", "jpeg_quality", "min_pixels", "max_pixels",
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"sha256": "cd" * 32},
        {"page": 2},
        {"provider": "anthropic"},
        {"model": "small"},
        {"take": 1},
    ],
    ids=str,
)
def test_document_page_and_route_change_the_answer_key(change: dict[str, Any]) -> None:
    assert key(**change) != key()


def test_names_cannot_be_shifted_into_each_other() -> None:
    assert key(provider="a", model="b:c") != key(provider="a:b", model="c")
    assert key(provider='a", "b', model="c") != key(provider="a", model='b", "c')


def test_keys_are_plain_paths() -> None:
    for name in (key(model="../../etc/passwd"), source_key(SHA), survey_key(SHA, 3)):
        assert ".." not in name
        assert not name.startswith("/")
        assert name.isascii()


def test_briefs_are_named_by_their_content() -> None:
    brief = Brief(
        job_id="job", sha256=SHA, page_count=3, reading=READING, routes=(("a", "m", 60.0),)
    )
    assert brief_id(brief) == brief_id(Brief.model_validate_json(brief.model_dump_json()))
    changes: list[dict[str, Any]] = [
        {"job_id": "other"},
        {"sha256": "cd" * 32},
        {"page_count": 4},
        {"reading": READING.model_copy(update={"salt": "x"})},
        {"routes": (("a", "m", 9.0),)},
        {"stand_down": False},
        {"kind": "images"},
        {"sealed_password": "token"},
        {"adaptive": True},
        {"replaced": (ReplacedRun(salt="run"),)},
    ]
    names = {brief_id(brief.model_copy(update=change)) for change in changes}
    assert len(names | {brief_id(brief)}) == len(changes) + 1
    assert {name for change in changes for name in change} == set(Brief.model_fields)
    assert brief_key("0123") == "briefs/0123.json"


@pytest.mark.parametrize("page_count", [1, 49, 50, 51, 100, 101, 5000])
def test_chunks_cover_every_page_once(page_count: int) -> None:
    covered: list[int] = []
    for chunk in range(chunk_of(page_count) + 1):
        first, last = chunk_pages(chunk, page_count)
        assert 0 < last - first + 1 <= SURVEY_CHUNK
        assert all(chunk_of(page) == chunk for page in range(first, last + 1))
        covered.extend(range(first, last + 1))
    assert covered == list(range(1, page_count + 1))


def test_results_stand_under_their_job() -> None:
    assert result_key("job-1", "text.txt") == "job-1/text.txt"
    assert result_key("job-1", "text.txt", 2) == "job-1/v2/text.txt"


def test_only_local_answers_depend_on_how_text_is_written() -> None:
    """A vendor's answer is not bought again because the order of local text has changed."""
    written = [
        READING.model_copy(update={"text": options})
        for options in (
            TextOptions(),
            TextOptions(version=2, hyphens="join"),
            TextOptions(version=2, hyphens="keep"),
            TextOptions(version=3, hyphens="join"),
        )
    ]
    assert len({key(reading) for reading in written}) == 1
    assert key(written[0]) == key()
    assert len({key(reading, provider="local") for reading in written}) == 4
    assert [hyphens_of(reading_id(reading)) for reading in written] == [
        "keep", "join", "keep", "join",
    ]  # fmt: skip
