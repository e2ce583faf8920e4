"""The deadline of documents that only the engine on this machine reads."""

from typing import Any

import pytest

from quire.contracts.document import DocumentRequest
from quire.contracts.plan import DocumentPlan, PlanDefaults
from quire.contracts.routing import ProviderPlan
from quire.domain.document.deadline import (
    LOCAL_PAGE_S,
    LONGEST_GROWN_S,
    SLACK,
    deadline_words,
    grown_s,
    moved_on,
)
from quire.domain.document.plan import make_plan
from quire.settings import Settings, load_settings
from quire.settings.plan_defaults import defaults_from_settings

OPENAI = ProviderPlan(models={"primary": "m"})
REQUEST = DocumentRequest(job_id="job", source="a.pdf")
THREE_MIN = 180.0


def plan(asked: dict[str, Any] | None = None, **defaults: Any) -> DocumentPlan:
    said = {"engine": "openai", "other_engine": "", "providers": {}, "system_prompt": "read"}
    known = PlanDefaults.model_validate({**said, **defaults})
    return make_plan(REQUEST.model_copy(update=asked or {}), known)


ALONE = plan()


@pytest.mark.parametrize(
    ("asked", "defaults", "page_s"),
    [
        ({}, {}, LOCAL_PAGE_S),
        ({"engine": "local"}, {"providers": {"openai": OPENAI}}, LOCAL_PAGE_S),
        ({}, {"providers": {"openai": OPENAI}}, 0.0),
        ({}, {"route_chain": ("local:rapidocr", "openai:m"), "providers": {"openai": OPENAI}}, 0.0),
        ({"deadline_s": THREE_MIN}, {}, 0.0),
        ({}, {"deadline_given": True}, 0.0),
        ({}, {"local_ocr": "never", "local_missing": "LOCAL_OCR is never"}, 0.0),
    ],
    ids=str,
)
def test_it_may_grow_where_only_the_engine_reads_and_nobody_asked(
    asked: dict[str, Any], defaults: dict[str, Any], page_s: float
) -> None:
    assert plan(asked, **defaults).page_s == page_s
    assert plan(asked, **defaults).deadline_s == THREE_MIN


@pytest.mark.parametrize(("said", "given"), [({}, False), ({"deadline": "3m"}, True)], ids=str)
def test_a_setting_is_asked_for_also_where_it_is_the_default(
    said: dict[str, str], given: bool
) -> None:
    own = {"document_processing_timeout": said["deadline"]} if said else {}
    for settings in (load_settings(own, config="none"), Settings.model_validate(own)):
        defaults = defaults_from_settings(settings, local_missing="", local_limit=1)
        assert (defaults.deadline_given, defaults.deadline_s) == (given, THREE_MIN)


def test_it_grows_with_the_pages() -> None:
    assert grown_s(ALONE, 0) == grown_s(ALONE, 5) == THREE_MIN
    assert grown_s(ALONE, 150) == 150 * LOCAL_PAGE_S * SLACK
    assert grown_s(ALONE, 10**6) == LONGEST_GROWN_S
    fixed = plan({"deadline_s": 60.0})
    assert grown_s(fixed, 150) == 60.0


def test_it_moves_on_while_pages_are_read() -> None:
    def moved(pages: int, read_at: float, now: float = 2000.0) -> float | None:
        return moved_on(ALONE, pages, started=1000.0, read_at=read_at, now=now)

    assert moved(3, 1990.0) == 2000.0 + THREE_MIN
    assert moved(100, 1990.0) == 2000.0 + 100 * LOCAL_PAGE_S * SLACK
    assert moved(0, 1990.0) is None, "nothing is left to read"
    assert moved(3, 2000.0 - THREE_MIN) is None, "nothing is read any more"
    assert moved(3, 0.0) is None
    end = 1000.0 + LONGEST_GROWN_S
    assert moved(3, end - 11, now=end - 10) == end
    assert moved(3, end - 1, now=end) is None, "not for ever"
    fixed = plan({"deadline_s": 60.0})
    assert moved_on(fixed, 3, started=1000.0, read_at=1990.0, now=2000.0) is None


def test_what_reading_takes_is_said_where_it_has_grown() -> None:
    assert deadline_words(ALONE, 150, known=True, allowed_s=1504.0) == (
        "No vendor is asked: local OCR reads 150 pages, at 5 s each in about 12 min. "
        "The deadline has grown to 25 min."
    )
    assert "up to 150 pages" in deadline_words(ALONE, 150, known=False, allowed_s=1504.0)
    assert deadline_words(ALONE, 10, known=True, allowed_s=THREE_MIN) == ""
    fixed = plan({"deadline_s": THREE_MIN})
    assert deadline_words(fixed, 150, known=True, allowed_s=THREE_MIN) == ""
