"""The failure taxonomy: complete, public, and able to cross a process border."""

import errno
import pickle

import pytest

from quire.contracts.codes import Code, ErrorInfo, FailureKind
from quire.contracts.money import NOTHING, Paid
from quire.domain import errors
from quire.domain.errors import (
    MEANING,
    AttemptFailed,
    DocumentRefused,
    JobError,
    QuireError,
    SettingsError,
)

PUBLIC = {
    "NOT_PDF",
    "TOO_LARGE",
    "GW_4XX",
    "GW_5XX",
    "GW_TIMEOUT",
    "IO_ERROR",
    "NOT_READY",
    "EXPIRED",
    "FORBIDDEN",
    "UNKNOWN",
}


def test_codes_are_the_public_ones() -> None:
    assert {code.value for code in Code} == PUBLIC
    assert all(code.name == code.value for code in Code)


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_has_a_meaning(kind: FailureKind) -> None:
    meaning = MEANING[kind]
    assert meaning.code.value in PUBLIC
    assert meaning.error_type in ("retryable", "terminal")
    assert meaning.bars in ("route", "provider", "every_route")
    assert meaning.trips in ("route", "provider", None)
    assert meaning.rests in ("backoff", "long")
    assert meaning.remedy.endswith(".")
    assert "\n" not in meaning.remedy


def test_nothing_else_has_a_meaning() -> None:
    assert set(MEANING) == set(FailureKind)


@pytest.mark.parametrize("kind", FailureKind)
def test_what_trips_a_provider_bars_it_for_the_page(kind: FailureKind) -> None:
    """A page must not go straight to the sibling of what has just been found dead."""
    meaning = MEANING[kind]
    if meaning.trips == "provider":
        assert meaning.bars == "provider"
    if meaning.rests == "long":
        assert meaning.trips is not None
        assert meaning.error_type == "terminal"


# code, what the page never tries again, whose breaker counts it, how long that rests
TABLE = {
    "RATE": ("GW_4XX", "route", "route", "backoff"),
    "QUOTA": ("GW_4XX", "provider", "provider", "long"),
    "AUTH": ("GW_4XX", "provider", "provider", "long"),
    "MODEL": ("GW_4XX", "route", "route", "long"),
    "REQUEST": ("GW_4XX", "every_route", None, "backoff"),
    "IMAGE_SIZE": ("TOO_LARGE", "every_route", None, "backoff"),
    "TIMEOUT": ("GW_TIMEOUT", "route", "route", "backoff"),
    "SERVER": ("GW_5XX", "route", "route", "backoff"),
    "CONNECT": ("GW_5XX", "provider", "provider", "backoff"),
    "BAD_BODY": ("GW_5XX", "route", "route", "backoff"),
    "CONTENT": ("GW_4XX", "provider", None, "backoff"),
    "OUTPUT": ("GW_5XX", "route", None, "backoff"),
    "UNREADABLE": ("GW_4XX", "route", None, "backoff"),
    "RENDER": ("IO_ERROR", "every_route", None, "backoff"),
    "STORAGE": ("IO_ERROR", "every_route", None, "backoff"),
    "BUG": ("UNKNOWN", "route", None, "backoff"),
}


def test_meanings_are_those_of_the_vendor_table() -> None:
    meant = {
        kind.value: (meaning.code.value, meaning.bars, meaning.trips, meaning.rests)
        for kind, meaning in MEANING.items()
    }
    assert meant == TABLE


@pytest.mark.parametrize("kind", FailureKind)
def test_what_may_heal_is_told_apart(kind: FailureKind) -> None:
    heals = {"RATE", "TIMEOUT", "SERVER", "CONNECT", "BAD_BODY", "OUTPUT", "STORAGE", "BUG"}
    assert (MEANING[kind].error_type == "retryable") == (kind.value in heals)


def examples() -> list[QuireError]:
    public = (Code.EXPIRED, "SOURCE_GONE", "The file is gone.", "Submit it again.")
    return [
        QuireError(*public, "retryable"),
        DocumentRefused(*public),
        JobError(*public),
        SettingsError("PAGE_WINDOW", "'x' is not allowed", "a number"),
        errors.UsageError("--pages: no."),
        errors.engine_unavailable("openai", missing="no key is set"),
        errors.bucket_denied("b", code="AccessDenied"),
        errors.job_not_found("j"),
        errors.not_owner("j"),
        errors.unsigned_start(),
        errors.not_running("j"),
        errors.job_in_the_way("j"),
        errors.disk_full(OSError(errno.ENOSPC, "No space left on device"), "STORE_URL"),
        errors.nothing_to_retry("j"),
        errors.bad_input("it is a number"),
        errors.no_worker_with_role("ai"),
        errors.sealed_secret("It is another key."),
        errors.brief_missing(),
        errors.source_missing(),
        *(
            AttemptFailed(
                kind, "It failed.", retry_after_s=2.5, wasted=Paid(7, 5, None), http_status=503
            )
            for kind in FailureKind
        ),
    ]


@pytest.mark.parametrize("error", examples(), ids=lambda error: str(error.info.reason))
def test_errors_survive_a_process_border(error: QuireError) -> None:
    revived = pickle.loads(pickle.dumps(error))
    assert type(revived) is type(error)
    assert revived.info == error.info
    assert str(revived) == str(error)
    if isinstance(error, AttemptFailed):
        assert isinstance(revived, AttemptFailed)
        assert (revived.kind, revived.retry_after_s) == (error.kind, 2.5)
        assert (revived.wasted, revived.http_status) == (Paid(7, 5, None), 503)


@pytest.mark.parametrize(
    ("code", "reason", "ours"),
    [
        (Code.UNKNOWN, "BUG", True),
        (Code.IO_ERROR, "STORAGE", True),
        (Code.GW_TIMEOUT, "NO_WORKER", True),
        (Code.UNKNOWN, "PAGES", False),
        (Code.IO_ERROR, "PASSWORD_WRONG", False),
        (Code.NOT_READY, "CANCELLED", False),
    ],
)
def test_whose_fault_it_is(code: Code, reason: str, ours: bool) -> None:
    info = QuireError(code, reason, "It failed.", "Mend it.").info
    assert errors.is_ours(info) is ours


def test_every_class_of_the_tree_is_tried() -> None:
    tree = {
        thing
        for thing in vars(errors).values()
        if isinstance(thing, type) and issubclass(thing, QuireError)
    }
    assert tree == {type(error) for error in examples()}
    assert all(cls.__name__ in (errors.__doc__ or "") for cls in tree)


@pytest.mark.parametrize("error", examples(), ids=lambda error: str(error.info.reason))
def test_a_person_reads_one_line_with_code_and_remedy(error: QuireError) -> None:
    line = error.info.line()
    assert "\n" not in line
    assert line.startswith(f"{error.info.code.value} ({error.info.reason}): ")
    assert line.endswith(error.info.remedy)
    assert ErrorInfo.model_validate_json(error.info.model_dump_json()) == error.info


def test_attempts_carry_the_face_of_their_kind() -> None:
    error = AttemptFailed(FailureKind.AUTH, "The key was refused.")
    assert error.info.code is Code.GW_4XX
    assert error.info.error_type == "terminal"
    assert error.info.reason == "AUTH"
    assert error.retry_after_s is None
    assert error.wasted == NOTHING
