"""Lets workers take up only what a client with the cluster's keys has started.

The workflow passes the signature of its start on to the activity `plan_document`, which has it
verified: a workflow may not read keys. Headers are no part of what a replay compares, so histories
from before replay, and a job that has its plan goes on.
"""

from contextvars import ContextVar
from typing import Any

from temporalio import workflow
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
    StartLocalActivityInput,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
    WorkflowOutboundInterceptor,
)

from quire.contracts.document import DocumentRequest
from quire.contracts.names import SIGNATURE_HEADER
from quire.domain import errors
from quire.domain.document.unsigned import UnsignedRules, check_unsigned
from quire.settings import Settings
from quire.temporal.signature import Keys, StartKeys, is_signed

PLAN = "plan_document"
_signature: ContextVar[Payload | None] = ContextVar("signature", default=None)


class StartGuard(Interceptor):
    """Brings the signature of a start to the worker's activity, and checks it there."""

    def __init__(self, settings: Settings, keys: StartKeys) -> None:
        # On a single machine every start is taken up.
        self._required = settings.cluster
        self._rules = UnsignedRules(
            accepted=settings.accept_unsigned,
            roots=settings.source_roots,
            own_places=(settings.store_place, settings.results_place),
        )
        self._keys = keys
        self._known: Keys = {}

    def workflow_interceptor_class(
        self, input: WorkflowInterceptorClassInput
    ) -> type[WorkflowInboundInterceptor]:
        """What passes the signature on inside a workflow."""
        return _PassOn

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:
        """What keeps the signature for `check`."""
        return _Receive(next)

    async def check(self, request: DocumentRequest, workflow_id: str) -> None:
        """Inside the activity: raise `StartRefused` unless the job may be taken up."""
        if not self._required:
            return
        payload = _signature.get()
        if payload is None:
            check_unsigned(request, workflow_id, self._rules)
        elif not await self._is_valid(_text(payload), request, workflow_id):
            raise errors.bad_signature()

    async def _is_valid(self, signature: str, request: DocumentRequest, workflow_id: str) -> bool:
        if is_signed(self._known, signature, request, workflow_id):
            return True
        # The key in the store may be younger than this worker.
        self._known = await self._keys.read(create=False)
        return is_signed(self._known, signature, request, workflow_id)


def _text(payload: Payload) -> str:
    """The signature as a client wrote it; anything else is no signature."""
    try:
        [text] = DataConverter.default.payload_converter.from_payloads([payload], [str])
    except Exception:
        return ""
    return text if isinstance(text, str) else ""


class _PassOn(WorkflowInboundInterceptor):
    def init(self, outbound: WorkflowOutboundInterceptor) -> None:
        super().init(_PassOnOutbound(outbound))


class _PassOnOutbound(WorkflowOutboundInterceptor):
    def start_local_activity(self, input: StartLocalActivityInput) -> workflow.ActivityHandle[Any]:
        signature = workflow.info().headers.get(SIGNATURE_HEADER)
        if input.activity == PLAN and signature is not None:
            input.headers = {**input.headers, SIGNATURE_HEADER: signature}
        return super().start_local_activity(input)


class _Receive(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:
        token = _signature.set(input.headers.get(SIGNATURE_HEADER))
        try:
            return await super().execute_activity(input)
        finally:
            _signature.reset(token)
