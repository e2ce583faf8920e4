"""What history holds of a failure inside an activity, and inside a workflow."""

import json
from collections.abc import Awaitable, Callable

import pytest
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.testing import ActivityEnvironment

from activities.support.failures import failures_for_temporal
from quire.temporal.converter import PublicFailureConverter, SealedFailureConverter

PATH = "/srv/quire/store"
Body = Callable[[], Awaitable[None]]
PAYLOADS = pydantic_data_converter.payload_converter


async def store_breaks() -> None:
    with failures_for_temporal():
        raise PermissionError(13, "Permission denied", PATH)


async def bug_in_a_library() -> None:
    with failures_for_temporal():
        raise ValueError(f"cannot read {PATH}")


async def failure_with_a_cause() -> None:
    try:
        await bug_in_a_library()
    except ValueError as error:
        raise ApplicationError("It broke.") from error


async def failure_on_the_way() -> None:
    try:
        await bug_in_a_library()
    except ValueError:
        raise ApplicationError("It broke.")  # noqa: B904  (the point is what Python adds)


def converted(converter: PublicFailureConverter, error: BaseException) -> Failure:
    failure = Failure()
    converter.to_failure(error, PAYLOADS, failure)
    return failure


async def failure_of(body: Body, converter: PublicFailureConverter) -> Failure:
    async def whole() -> Failure:
        try:
            await body()
        except Exception as error:
            return converted(converter, error)
        raise AssertionError("it should fail")

    failure: Failure = await ActivityEnvironment().run(whole)
    return failure


@pytest.mark.parametrize("converter", [PublicFailureConverter(), SealedFailureConverter()])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (store_breaks, "Storage failed: Permission denied."),
        (bug_in_a_library, "ValueError: the worker's log says more."),
        (failure_with_a_cause, "It broke."),
        (failure_on_the_way, "It broke."),
    ],
)
async def test_activity_tells_its_message_alone(
    body: Body, message: str, converter: PublicFailureConverter
) -> None:
    failure = await failure_of(body, converter)
    assert not failure.HasField("cause")
    assert not failure.stack_trace
    assert PATH not in str(failure)
    assert ".py" not in str(failure)
    if isinstance(converter, SealedFailureConverter):
        sealed = json.loads(failure.encoded_attributes.data)
        assert sealed == {"message": message, "stack_trace": ""}
        assert failure.message == "Encoded failure"
    said = converter.from_failure(failure, PAYLOADS)
    assert isinstance(said, FailureError)
    assert said.message == message


@pytest.mark.parametrize("converter", [PublicFailureConverter(), SealedFailureConverter()])
async def test_cause_that_history_told_before_is_told_again(
    converter: PublicFailureConverter,
) -> None:
    first = await failure_of(store_breaks, converter)
    from_server = converter.from_failure(first, PAYLOADS)
    try:
        raise ApplicationError("The document failed.") from from_server
    except ApplicationError as error:
        failure = converted(converter, error)
    assert not failure.stack_trace
    (cause,) = [converter.from_failure(failure, PAYLOADS).__cause__]
    assert isinstance(cause, ApplicationError)
    assert (cause.type, cause.message) == ("IO_ERROR", "Storage failed: Permission denied.")


def test_bug_in_workflow_code_keeps_its_stack() -> None:
    """It fails the workflow task: that is where an operator looks."""
    try:
        raise KeyError("page")
    except KeyError as error:
        failure = converted(PublicFailureConverter(), error)
    assert "test_failures.py" in failure.stack_trace
