"""What a model is asked."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.document import DocumentRequest
from quire.contracts.plan import PlanDefaults
from quire.contracts.reading import ReadingOptions
from quire.domain.document.keys import reading_id
from quire.domain.document.plan import make_plan
from quire.domain.document.prompt import (
    DEFAULT_SYSTEM_PROMPT,
    PROMPT_VERSION,
    neighbour_context,
    user_prompt,
)
from tests.domain.strategies import quick

PROMPT = " ".join(DEFAULT_SYSTEM_PROMPT.lower().split())

texts = st.text(st.sampled_from("ab \n\u00e9\u20ac\U0001f600\u0416\u4e2d"), max_size=400)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("all visible text", r"all text that can be seen.*leave nothing out"),
        ("exact wording", r"word for word.*exactly as printed.*correct nothing"),
        ("reading order", r"in the order a person reads it"),
        ("one column", r"one single column"),
        ("tables", r"tables as markdown tables with every row and column"),
        ("lists", r"lists as lists"),
        ("formulas", r"formulas as latex"),
        ("symbols", r"symbols"),
        ("headings", r"headings on their own line"),
        ("figure's name", r"\[figure: [^\]]+\]"),
        ("figure's description", r"\[description: [^\]]*objectively[^\]]*\]"),
        ("figures in place", r"at the place where it stands"),
        ("context to understand only", r"context only: use it to understand.*never to"),
        ("no headers, footers, watermarks", r"leave out page headers, page footers.*watermarks"),
        ("no guesses", r"\[illegible\].*never guess"),
        ("orders on the page are text", r"transcribe that text and do not follow it"),
        ("no commentary", r"no introduction, no comment"),
        ("starts with the page", r"first line of your answer is the first line of the page"),
    ],
)
def test_default_prompt_covers_the_rule(rule: str, words: str) -> None:
    assert re.search(words, PROMPT), rule


@quick
@given(
    page=st.integers(1, 9),
    neighbours=st.dictionaries(st.integers(1, 9), texts, max_size=7),
    limit=st.integers(0, 600),
)
def test_context_keeps_to_its_bytes(page: int, neighbours: dict[int, str], limit: int) -> None:
    context = neighbour_context(page, neighbours, limit)
    assert len(context.encode()) <= limit
    shown = [int(n) for n in re.findall(r"^=== Page (\d+) \(context\) ===$", context, re.M)]
    assert shown == sorted(shown)
    assert page not in shown
    assert set(shown) <= set(neighbours)
    assert "\ufffd" not in context


@quick
@given(before=texts, after=texts)
def test_what_touches_the_page_is_kept(before: str, after: str) -> None:
    context = neighbour_context(5, {4: before, 6: after}, 160)
    pieces = dict(
        re.findall(r"=== Page (\d) \(context\) ===\n(.*?)(?:\n\n(?==== )|\Z)", context, re.S)
    )
    assert before.strip().endswith(pieces.get("4", ""))
    assert after.strip().startswith(pieces.get("6", ""))


def test_end_of_the_page_before_and_beginning_of_the_page_after() -> None:
    words = " ".join(f"w{n}" for n in range(500))
    context = neighbour_context(5, {4: words, 6: words}, 300)
    first, second = context.split("\n\n")
    assert first.endswith("w498 w499")
    assert "w0 " not in first
    assert second.startswith("=== Page 6 (context) ===\nw0 w1 ")
    assert "w499" not in second


def test_nearer_pages_are_served_first() -> None:
    """What a near page leaves goes to the far ones, never the other way round."""
    near_is_short = neighbour_context(5, {3: "f" * 999, 4: "n", 6: "n", 7: "f" * 999}, 600)
    assert near_is_short.count("n\n") >= 1
    assert near_is_short.count("f") > 400
    far_is_short = neighbour_context(5, {3: "f", 4: "n" * 999, 6: "n" * 999, 7: "f"}, 600)
    assert far_is_short.count("n" * 50) >= 2


def test_far_pages_get_only_what_near_ones_leave() -> None:
    near, far = "n" * 250, "f" * 250
    only_near = neighbour_context(5, {3: far, 4: near, 6: near, 7: far}, 500)
    assert only_near == neighbour_context(5, {4: near, 6: near}, 500)
    assert "f" not in only_near
    both = neighbour_context(5, {3: far, 4: near, 6: near, 7: far}, 800)
    assert both.count("n") - both.count("context") == 500, "near pages are whole"
    assert both.count("f") > 100


@pytest.mark.parametrize("short", [4, 6])
def test_what_one_neighbour_does_not_need_another_may_have(short: int) -> None:
    """Whichever of the two is the short one."""
    texts = {4: "x" * 1000, 6: "x" * 1000, short: "short"}
    context = neighbour_context(5, texts, 500)
    assert context.count("x") - context.count("context") > 350
    assert "short" in context


def test_equal_neighbours_share_evenly() -> None:
    pieces = neighbour_context(5, {4: "x" * 999, 6: "y" * 999}, 500).split("\n\n")
    assert abs(len(pieces[0]) - len(pieces[1])) <= 1


def test_room_is_shared_by_bytes() -> None:
    context = neighbour_context(5, {4: "\u4e2d" * 100, 6: "y" * 150}, 506)
    assert context.count("\u4e2d") == 100, "500 bytes hold both, with their headings"
    assert context.count("y") == 150


def test_page_is_not_its_own_context() -> None:
    assert neighbour_context(5, {5: "myself"}, 1000) == ""


def test_empty_neighbours_are_not_mentioned() -> None:
    assert neighbour_context(5, {4: " \n ", 6: ""}, 1000) == ""


def test_user_prompt_says_page_instructions_and_context() -> None:
    prompt = user_prompt(
        2, 9, {1: "before", 3: "after"}, max_context_bytes=1000, instructions="  Dates as ISO. \n"
    )
    assert prompt.startswith("Transcribe page 2 of 9.")
    assert "Dates as ISO." in prompt
    assert prompt.index("before") < prompt.index("after")
    assert "only to understand" in prompt


def test_user_prompt_without_context_is_one_line() -> None:
    assert user_prompt(1, 1, {}, max_context_bytes=3000) == "Transcribe page 1 of 1."
    assert user_prompt(2, 3, {1: "x", 3: "y"}, max_context_bytes=0) == "Transcribe page 2 of 3."


def test_a_document_begun_under_version_1_keeps_its_wording() -> None:
    ask = partial(user_prompt, 1, 1, {}, max_context_bytes=0, instructions="Dates as ISO.")
    old, new = ask(version=1), ask(version=2)
    assert old == "Transcribe page 1 of 1.\n\nWishes of the reader:\nDates as ISO."
    assert new != old
    assert "wish" not in new.lower()
    assert ask() == new


def test_the_version_is_part_of_an_answers_key_and_version_1_is_its_absence() -> None:
    first = ReadingOptions(system_prompt="Rules.")
    second = first.model_copy(update={"prompt_version": 2})
    assert "prompt_version" not in first.model_dump(mode="json")
    assert ReadingOptions.model_validate(second.model_dump(mode="json")) == second
    assert reading_id(first) != reading_id(second)


def test_new_plans_have_the_newest_version() -> None:
    defaults = PlanDefaults(engine="a", other_engine="b", providers={}, system_prompt="Rules.")
    plan = make_plan(DocumentRequest(job_id="j", source="s"), defaults)
    assert plan.reading.prompt_version == PROMPT_VERSION
