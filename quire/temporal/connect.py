"""The only connection to Temporal."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.errordetails.v1 import NamespaceNotFoundFailure
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, DescribeTaskQueueRequest
from temporalio.client import Client, Interceptor, Plugin
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from quire.domain import errors
from quire.domain.errors import QuireError, SettingsError
from quire.settings import Settings
from quire.temporal.converter import data_converter
from quire.temporal.runtime import quiet_runtime

EMBEDDED_READY_WITHIN_S = 20.0
NO_ANSWER = {
    RPCStatusCode.CANCELLED,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.UNAVAILABLE,
}


async def connect(
    settings: Settings,
    address: str | None = None,
    *,
    runtime: Runtime | None = None,
    plugins: Sequence[Plugin] = (),
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """A client of the embedded server at `address`, or of the cluster that `TEMPORAL_*` names.

    Without `runtime` the SDK's core logs nothing. A client that starts jobs signs them by an
    interceptor.
    """
    options: Mapping[str, Any] = (
        {"target_host": address, "namespace": settings.temporal_namespace}
        if address is not None
        else ClientConfig.load_client_connect_config(
            override_env_vars=settings.temporal_environment
        )
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
                interceptors=interceptors,
            )
        except (RPCError, RuntimeError) as error:
            if clock() >= give_up_at:
                raise errors.temporal_unreachable(str(options.get("target_host"))) from error
            # An embedded server that has just begun to listen is not yet ready to answer.
            await asyncio.sleep(0.05)


def refused_by_temporal(error: RPCError) -> QuireError:
    """The server's own refusal (no such namespace, no permission), or its silence, as an error
    for people."""
    if (namespace := missing_namespace(error)) is not None:
        return errors.namespace_missing(namespace)
    if error.status in NO_ANSWER:
        return errors.temporal_silent(error.message)
    return errors.temporal_refused(error.message)


def missing_namespace(error: RPCError) -> str | None:
    """The namespace that the server does not know, if that is why it refused."""
    found = NamespaceNotFoundFailure()
    for detail in error.grpc_status.details:
        if detail.Unpack(found):
            return found.namespace
    return None


async def waiting_tasks(client: Client, queue: str, kind: TaskQueueType.ValueType) -> int:
    """How many tasks wait in this queue, as the server estimates."""
    described = await client.workflow_service.describe_task_queue(
        DescribeTaskQueueRequest(
            namespace=client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=kind,
            report_stats=True,
        )
    )
    return described.stats.approximate_backlog_count


async def check_namespace(client: Client) -> None:
    """Refuse in one line a namespace that the SDK's workers would refuse with a stack trace."""
    try:
        await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace)
        )
    except RPCError as error:
        raise refused_by_temporal(error) from None
