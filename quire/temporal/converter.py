"""How payloads and failures are written into history."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter, PydanticPayloadConverter
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverter,
    EncodingPayloadConverter,
    PayloadConverter,
)
from temporalio.exceptions import ApplicationError, FailureError

from quire.contracts.base import only_unknown_fields
from quire.contracts.carried import DocumentRun
from quire.contracts.codes import ErrorInfo
from quire.contracts.watch import WatchRequest
from quire.domain import errors
from quire.settings import Settings
from quire.temporal.encryption import (
    UNREADABLE,
    OpeningCodec,
    SealingCodec,
    find_keys,
    open_keys,
)

# What workflows are started with.
_STARTS = (DocumentRun | None, WatchRequest | None)


class _ForeignJson(PydanticJSONPlainPayloadConverter):
    """JSON of a foreign client, for which no type is expected, may be none: it is not repeated in
    the error, which goes to the log."""

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        try:
            return super().from_payload(payload, type_hint)
        except ValueError:
            if type_hint is not None:
                raise
        raise ValueError("the payload is no JSON")


class _Unreadable(EncodingPayloadConverter):
    """What could not be decrypted is an error only where it is used: a signal that nobody here can
    read is dropped, and fails no workflow task."""

    @property
    def encoding(self) -> str:
        return UNREADABLE

    def to_payload(self, value: Any) -> Payload | None:
        return None

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        try:
            info = ErrorInfo.model_validate_json(payload.data)
        except ValueError:
            raise errors.sealed_payload("It comes from a client that had no key.") from None
        raise errors.QuireError.from_info(info)


class QuirePayloadConverter(PydanticPayloadConverter):
    """Payloads as JSON, by pydantic. A start that nobody can read ends its workflow: any other
    error would fail the first task again and again."""

    def __init__(self) -> None:
        super().__init__()
        own = (_ForeignJson(), _Unreadable())
        self.converters = {**self.converters, **{each.encoding.encode(): each for each in own}}

    def from_payloads(
        self, payloads: Sequence[Payload], type_hints: list[type] | None = None
    ) -> list[Any]:
        """The values; of a start that is none, an error that is final."""
        try:
            return super().from_payloads(payloads, type_hints)
        except (ValueError, LookupError) as error:
            if not type_hints or type_hints[0] not in _STARTS:
                raise
            newer = only_unknown_fields(error)
        if newer:
            # From a client of a later version, perhaps: it waits for a worker that knows them.
            raise ValueError("the start has fields that are not known here")
        info = errors.bad_start().info
        raise ApplicationError(info.message, info, type=info.code.value, non_retryable=True)


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
        if isinstance(exception.__cause__, errors.SealedError):
            # The SDK says only that it could not decode; people need the name of the key.
            exception = exception.__cause__
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
        if _is_about_input(exception):
            return
        texts = {"message": failure.message, "stack_trace": failure.stack_trace}
        failure.encoded_attributes.CopyFrom(payload_converter.to_payloads([texts])[0])
        failure.message, failure.stack_trace = "Encoded failure", ""


def _is_about_input(exception: BaseException) -> bool:
    """An answer to foreign input, which holds nothing of it. Whoever sends that may have no key,
    and of a failed query a client sees the message alone."""
    details = exception.details if isinstance(exception, ApplicationError) else ()
    info = details[0] if details else None
    return isinstance(info, ErrorInfo) and isinstance(
        errors.JobError.from_info(info), errors.BadInput
    )


DATA_CONVERTER = DataConverter(
    payload_converter_class=QuirePayloadConverter, failure_converter_class=PublicFailureConverter
)


def data_converter(settings: Settings) -> DataConverter:
    """How payloads are written: as JSON, and encrypted with `ENCRYPT_PAYLOADS`. Without it,
    encrypted ones are read with the known keys, or refused by name of what is missing."""
    if not settings.encrypt_payloads:
        return dataclasses.replace(
            DATA_CONVERTER, payload_codec=OpeningCodec(lambda: find_keys(settings))
        )
    return dataclasses.replace(
        DATA_CONVERTER,
        payload_codec=SealingCodec(open_keys(settings)),
        failure_converter_class=SealedFailureConverter,
    )
