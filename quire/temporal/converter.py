"""How payloads and failures are written into history."""

import dataclasses

from temporalio import activity
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, DefaultFailureConverter, PayloadConverter
from temporalio.exceptions import ApplicationError, FailureError

from quire.settings import Settings
from quire.temporal.encryption import SealingCodec, open_keys


class PublicFailureConverter(DefaultFailureConverter):
    """What history keeps of a failure: its own message and details, and the server's words.

    Stack traces and the causes beneath hold server paths and the words of libraries, and weigh
    more than the rest of a page's history; the worker's log has them. A bug in workflow code, or
    in starting a task, keeps its trace: it fails the workflow task, operators look for it in
    history, and that code sees nothing which history does not hold already.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """Write the exception, without what is not for the public."""
        if activity.in_activity() and not isinstance(exception, FailureError):
            # An unforeseen error: its message may hold anything.
            name = type(exception).__name__
            exception = ApplicationError(f"{name}: the worker's log says more.", type=name)
        super().to_failure(exception, payload_converter, failure)
        if isinstance(exception, FailureError) and exception.failure is None:
            failure.stack_trace = ""
            if not _is_from_server(exception.__cause__ or exception.__context__):
                failure.ClearField("cause")


def _is_from_server(error: BaseException | None) -> bool:
    """A failure that came out of history, where it was public already."""
    return isinstance(error, FailureError) and error.failure is not None


class SealedFailureConverter(PublicFailureConverter):
    """Messages of failures become payloads too, so that the codec encrypts them.

    The SDK's own switch for this would take the stack trace along before it could be cleared.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        """Write it, then move its texts into an encrypted payload."""
        super().to_failure(exception, payload_converter, failure)
        texts = {"message": failure.message, "stack_trace": failure.stack_trace}
        failure.encoded_attributes.CopyFrom(payload_converter.to_payloads([texts])[0])
        failure.message, failure.stack_trace = "Encoded failure", ""


DATA_CONVERTER = dataclasses.replace(
    pydantic_data_converter, failure_converter_class=PublicFailureConverter
)


def data_converter(settings: Settings) -> DataConverter:
    """How payloads are written: as JSON, and encrypted with `ENCRYPT_PAYLOADS`."""
    if not settings.encrypt_payloads:
        return DATA_CONVERTER
    return dataclasses.replace(
        DATA_CONVERTER,
        payload_codec=SealingCodec(open_keys(settings)),
        failure_converter_class=SealedFailureConverter,
    )
