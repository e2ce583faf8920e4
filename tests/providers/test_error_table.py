"""The table of failures is complete, and reveals nothing it should not."""

import importlib
import inspect
import json
import ssl

import pytest

from quire.contracts.codes import FailureKind
from quire.domain.errors import AttemptFailed
from quire.providers.errors import attempt_failed, classify, exception_tables, quotes, scrub


def _exceptions_of(sdk: str) -> set[str]:
    module, inner = importlib.import_module(sdk), importlib.import_module(f"{sdk}._exceptions")
    public = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    # Not all that can be raised is exported at the top.
    public += [getattr(inner, name) for name in inner.__all__]
    return {
        found.__name__
        for found in public
        if inspect.isclass(found) and issubclass(found, BaseException)
    }


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_every_exception_of_the_sdk_is_in_the_table(sdk: str) -> None:
    exported = _exceptions_of(sdk)
    assert len(exported) > 15  # the search itself still works
    assert exported - set(exception_tables()[sdk]) == set()


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_table_names_no_exception_that_is_gone(sdk: str) -> None:
    assert set(exception_tables()[sdk]) - _exceptions_of(sdk) == set()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), FailureKind.TIMEOUT),
        (ConnectionResetError(), FailureKind.CONNECT),
        (ssl.SSLError(), FailureKind.CONNECT),
        (json.JSONDecodeError("x", "y", 0), FailureKind.BAD_BODY),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), FailureKind.BAD_BODY),
        (KeyError("x"), FailureKind.BUG),
        (ValueError("x"), FailureKind.BUG),
    ],
)
def test_errors_below_the_sdk(error: Exception, kind: FailureKind) -> None:
    assert classify(error) is kind


def test_errors_of_the_http_stack_that_slip_through() -> None:
    httpx2 = importlib.import_module("httpx2")
    assert classify(httpx2.ReadTimeout("x")) is FailureKind.TIMEOUT
    assert classify(httpx2.ConnectError("x")) is FailureKind.CONNECT
    assert classify(httpx2.RemoteProtocolError("x")) is FailureKind.CONNECT


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcDEF1234.",
        "Incorrect API key provided: hunter2hunter2.",
        "header Authorization: Bearer abc.def.ghi was refused",
        "Illegal header value b'Bearer hunter2hunter2'",
        "x-api-key: abcdef is wrong",
        "data:image/jpeg;base64," + "iVBORw0KGgo" * 40,
    ],
)
def test_scrub_takes_secrets_out(text: str) -> None:
    clean = scrub(text, ["hunter2hunter2"])
    for secret in ("sk-proj", "hunter2", "abc.def", "abcdef", "iVBORw0KGgo"):
        assert secret not in clean


def test_scrub_makes_one_short_line() -> None:
    clean = scrub("word\n\r\n " * 500)
    assert "\n" not in clean
    assert len(clean) == 200
    assert (
        scrub("The model `gpt-6.1-sol` does not exist.")
        == "The model `gpt-6.1-sol` does not exist."
    )


@pytest.mark.parametrize(
    ("said", "does"),
    [
        ("Cannot parse 'The harbour master'.", True),
        (r"Cannot parse 'harbour\nMASTER'.", True),
        ("Cannot parse the page of the master.", False),
        ("", False),
    ],
)
def test_words_that_quote_the_question(said: str, does: bool) -> None:
    assert quotes(said, "Page 6:\nThe harbour master keeps a log.") is does


def test_path_of_a_file_is_not_told() -> None:
    failed = attempt_failed(FileNotFoundError(2, "No such file", "/srv/quire/ca.pem"), "openai:m")
    assert failed.info.message == "openai:m: FileNotFoundError: No such file"


def test_a_judged_failure_keeps_its_kind_and_gains_a_name() -> None:
    failed = attempt_failed(AttemptFailed(FailureKind.OUTPUT, "Cut off."), "openai:m")
    assert failed.kind is FailureKind.OUTPUT
    assert failed.info.message == "openai:m: Cut off."
