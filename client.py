"""The only connection to Temporal."""

import asyncio
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from temporalio import activity
from temporalio.api.enums.v1 import IndexedValueType, TaskQueueType
from temporalio.api.failure.v1 import Failure
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client, Plugin
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, DefaultFailureConverter, PayloadConverter
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, FailureError
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
    TelemetryFilter,
)
from temporalio.service import RPCError, RPCStatusCode

from codec import SealingCodec
from domain import measures
from domain.contracts import SEARCH_ATTRIBUTES
from domain.errors import Code, QuireError, SettingsError
from sealing import open_keys
from settings import Settings

EMBEDDED_READY_WITHIN_S = 20.0
NO_ANSWER = {
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.UNAVAILABLE,
}
# A worker that waits for tasks asks anew every minute.
ASKED_WITHIN = timedelta(seconds=70)
CORE_LOGGER = "temporalio.core"


class PublicFailureConverter(DefaultFailureConverter):
    """What history tells of a failure: its own message and details, and what the server said.

    Stack traces and the causes beneath hold server paths and the words of libraries, and weigh
    more than the rest of a page's history; the worker's log has them. A bug in workflow code, or
    in taking up a task, keeps its trace: it fails the workflow task, whose place in history is
    where an operator looks, and that code sees nothing which history does not hold already.
    """

    def to_failure(
        self, exception: BaseException, payload_converter: PayloadConverter, failure: Failure
    ) -> None:
        if activity.in_activity() and not isinstance(exception, FailureError):
            # Nobody foresaw it, so nobody knows what its message holds.
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
        super().to_failure(exception, payload_converter, failure)
        said = {"message": failure.message, "stack_trace": failure.stack_trace}
        failure.encoded_attributes.CopyFrom(payload_converter.to_payloads([said])[0])
        failure.message, failure.stack_trace = "Encoded failure", ""


DATA_CONVERTER = dataclasses.replace(
    pydantic_data_converter, failure_converter_class=PublicFailureConverter
)


def data_converter(settings: Settings) -> DataConverter:
    """How payloads are written: as JSON, and encrypted when that is wished."""
    if not settings.encrypt_payloads:
        return DATA_CONVERTER
    return dataclasses.replace(
        DATA_CONVERTER,
        payload_codec=SealingCodec(open_keys(settings)),
        failure_converter_class=SealedFailureConverter,
    )


def quiet_runtime() -> Runtime:
    """For a person's terminal: what the SDK's core would say there is for operators."""
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(filter=TelemetryFilter(core_level="OFF", other_level="OFF"))
        ),
        worker_heartbeat_interval=None,
    )


def worker_runtime(settings: Settings) -> Runtime:
    """For a worker: what the SDK's core says goes into the worker's log, and its metrics, where
    they are asked for, onto one endpoint with the worker's own."""
    # Left to itself, the core writes coloured lines of its own past the log.
    logs = LoggingConfig(
        filter=TelemetryFilter(core_level="WARN", other_level="ERROR"),
        forwarding=LogForwardingConfig(
            logger=logging.getLogger(CORE_LOGGER),
            append_target_to_name=False,
            prepend_target_on_message=False,
            append_log_fields_to_message=False,
        ),
    )
    metrics = PrometheusConfig(
        bind_address=settings.metrics_address,
        counters_total_suffix=True,
        unit_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides={
            measure.name: measure.buckets for measure in measures.ALL if measure.buckets
        },
    )
    try:
        return Runtime(
            telemetry=TelemetryConfig(
                logging=logs,
                metrics=metrics if settings.metrics_address else None,
                global_tags={"service_name": "quire-worker"},
                attach_service_name=False,
            )
        )
    except ValueError as error:
        raise SettingsError(
            "METRICS_ADDRESS", f"nothing can listen there ({error})", "a free address"
        ) from None


async def connect(
    settings: Settings,
    address: str | None = None,
    *,
    runtime: Runtime | None = None,
    plugins: Sequence[Plugin] = (),
) -> Client:
    """A client of the embedded server at `address`, or of the cluster that `TEMPORAL_*` names.

    Without a runtime of its own it is a quiet one."""
    options: Mapping[str, Any] = (
        {"target_host": address, "namespace": settings.temporal_namespace}
        if address is not None
        else ClientConfig.load_client_connect_config()
    )
    if "target_host" not in options:
        raise SettingsError("TEMPORAL_ADDRESS", "it is not set", "a cluster's, as in HOST:7233")
    runtime = runtime or quiet_runtime()
    clock = asyncio.get_running_loop().time
    give_up_at = clock() + (EMBEDDED_READY_WITHIN_S if address is not None else 0.0)
    while True:
        try:
            return await Client.connect(
                **options,
                data_converter=data_converter(settings),
                runtime=runtime,
                plugins=plugins,
            )
        except (RPCError, RuntimeError) as error:
            if clock() >= give_up_at:
                raise _unreachable(str(options.get("target_host"))) from error
            # An embedded server that has just begun to listen is not yet ready to answer.
            await asyncio.sleep(0.05)


def _unreachable(address: str) -> QuireError:
    return QuireError(
        Code.IO_ERROR,
        "TEMPORAL",
        f"The Temporal server at {address} cannot be reached.",
        "Start it, or correct TEMPORAL_ADDRESS; without it an embedded server is used.",
        "retryable",
    )


def refused_by_temporal(error: RPCError) -> QuireError:
    """What the server itself said no to: a namespace that is not there, a key that may not; or
    that it said nothing at all."""
    if error.status in NO_ANSWER:
        return QuireError(
            Code.IO_ERROR,
            "TEMPORAL",
            f"The Temporal server did not answer in time: {error.message.rstrip('.')}.",
            "Try again in a moment; starter.py doctor says whether it can be reached.",
            "retryable",
        )
    return QuireError(
        Code.IO_ERROR,
        "TEMPORAL",
        f"Temporal refused: {error.message.rstrip('.')}.",
        "Check TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and what the key may do.",
        "retryable",
    )


async def is_served(client: Client, queue: str, kind: TaskQueueType.ValueType) -> bool:
    """Whether a worker has lately asked this queue for tasks."""
    described = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace, task_queue=TaskQueue(name=queue), task_queue_type=kind
        )
    )
    since = datetime.now(UTC) - ASKED_WITHIN
    return any(
        poller.last_access_time.ToDatetime(tzinfo=UTC) >= since for poller in described.pollers
    )


async def check_namespace(client: Client) -> None:
    """Refuse in one line a namespace that the SDK's workers would refuse with a stack trace."""
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace)
        )
    except RPCError as error:
        raise refused_by_temporal(error) from None


async def absent_search_attributes(client: Client) -> list[str]:
    """The search attributes that the namespace lacks."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in sorted(SEARCH_ATTRIBUTES) if name not in listed.custom_attributes]


async def register_search_attributes(client: Client) -> list[str]:
    """Add the search attributes that the namespace lacks; returns the added names.

    Documents could not end without them, so `QuireError` when the server does not take them.
    """
    absent = await absent_search_attributes(client)
    if not absent:
        return []
    types = {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{SEARCH_ATTRIBUTES[name].upper()}")
        for name in absent
    }
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=types)
        )
    except RPCError as error:
        # Another worker may have been quicker.
        if still := await absent_search_attributes(client):
            raise lacks_search_attributes(client.namespace, still, error.message) from None
    return absent


def lacks_search_attributes(namespace: str, names: Sequence[str], why: str = "") -> QuireError:
    """What to say of a namespace that was never prepared for us."""
    because = f" ({why.rstrip('.')})" if why else ""
    room = "; where others took the room, Quire needs a namespace of its own" if why else ""
    return QuireError(
        Code.NOT_READY,
        "SEARCH_ATTRIBUTES",
        f"The namespace {namespace!r} lacks search attributes: {', '.join(names)}{because}.",
        f"An operator runs `quire-worker --register` once{room}.",
    )
