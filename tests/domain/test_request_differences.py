"""Which requests ask for the same text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.document import DocumentRequest, ReplacedRun, RetryRequest
from quire.domain.document.request_differences import NOT_DECIDING, differences

SHA = "0123456789abcdef" * 4
DECIDING: dict[str, st.SearchStrategy[Any]] = {
    "source": st.sampled_from(
        ["store:" + SHA, "store:" + SHA[::-1], "https://a.b/c?d=1", "s3://b/k"]
    ),
    "user_id": st.sampled_from(["", "ana"]),
    "engine": st.sampled_from([None, "openai", "local"]),
    "tier": st.sampled_from(["primary", "secondary", "fast"]),
    "instructions": st.sampled_from(["", "Keep the stamps."]),
    "text_only": st.booleans(),
    "pages": st.sampled_from([None, "1", "2-", "1,3"]),
    "one_model": st.booleans(),
}
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "job_id": st.sampled_from(["a", "b"]),
    "source_name": st.sampled_from(["", "a.pdf", "b.pdf"]),
    "deadline_s": st.sampled_from([None, 5.0, 60.0]),
    "mode": st.sampled_from([None, "adaptive", "fail_fast", "hold"]),
    "force": st.booleans(),
    "sealed_password": st.sampled_from([None, "sealed"]),
    "retry": st.sampled_from([None, RetryRequest(pages="1")]),
    "replaced": st.sampled_from([(), (ReplacedRun(salt="run"),)]),
}


def asked(**fields: Any) -> DocumentRequest:
    first = {"job_id": "job", "source": "store:" + SHA, "source_name": "a.pdf"}
    return DocumentRequest(**{**first, **fields})


def test_every_field_of_a_request_decides_or_does_not() -> None:
    """A new field needs a decision, and a line above."""
    assert OTHERS.keys() == NOT_DECIDING
    assert DECIDING.keys() | OTHERS.keys() == DocumentRequest.model_fields.keys()


@given(
    own=st.fixed_dictionaries(DECIDING),
    given_=st.fixed_dictionaries(DECIDING),
    others=st.tuples(st.fixed_dictionaries(OTHERS), st.fixed_dictionaries(OTHERS)),
)
def test_requests_are_the_same_if_and_only_if_what_decides_is(
    own: dict[str, Any], given_: dict[str, Any], others: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    found = differences(DocumentRequest(**own, **others[0]), DocumentRequest(**given_, **others[1]))
    assert len(found) == len([name for name in DECIDING if own[name] != given_[name]])
    assert all(one.own != one.given for one in found)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (None, "1-", True),
        ("1-3,5", "5,3,1,2", True),
        ("1-2,3-", "1-", True),
        ("2-,4", "2-", True),
        ("1-3", "1,3", False),
        ("1-3", "1-", False),
    ],
)
def test_pages_may_be_written_in_more_than_one_way(
    one: str | None, other: str | None, same: bool
) -> None:
    assert (differences(asked(pages=one), asked(pages=other)) == ()) is same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://s/a.pdf?X-Amz-Date=1&X-Amz-Signature=2", "https://s/a.pdf?X-Amz-Date=3", True),
        ("https://s/a?v=1&Signature=a&Expires=1", "https://s/a?v=1&Signature=b&Expires=2", True),
        ("https://s/a.pdf#page=2", "https://s/a.pdf", True),
        ("https://s/a?v=1&X-Amz-Signature=a", "https://s/a?v=2&X-Amz-Signature=a", False),
        ("https://s/a?Expires=1", "https://s/a?Expires=2", False),
        ("https://s/a.pdf", "https://s/b.pdf", False),
        ("https://[s/a.pdf", "https://[s/a.pdf", True),
        ("s3://b/a.pdf", "s3://c/a.pdf", False),
    ],
)
def test_a_link_that_was_signed_again_is_the_same_origin(one: str, other: str, same: bool) -> None:
    assert (differences(asked(source=one), asked(source=other)) == ()) is same


def test_a_job_of_an_older_version_is_known_by_its_name() -> None:
    """It was started with a path, and the file is no longer there to be compared."""
    old = asked(source="/in/caf\udce9.pdf", source_name="")
    assert differences(old, asked(source_name="caf\ufffd.pdf")) == ()
    assert differences(old, asked(source_name="tea.pdf"))


def test_only_what_differs_is_named_in_one_line_and_without_secrets() -> None:
    own = asked(source="https://u:pw@a.b/c.pdf?token=t", pages="1-3", instructions="a\nb")
    other = asked(pages=None, text_only=True)
    [source, prompt, only, pages] = map(str, differences(own, other))
    assert source == "source 'https://a.b/c.pdf', not 'a.pdf' (0123456789ab)"
    assert (pages, only) == ("pages 1-3, not all", "text-only off, not on")
    assert prompt == r"prompt 'a\nb', not none"
    [query] = differences(own, own.model_copy(update={"source": own.source + "2"}))
    assert str(query) == ("source 'https://a.b/c.pdf', not 'https://a.b/c.pdf' with another query")
