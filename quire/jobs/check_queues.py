"""Checks who serves the queues of a cluster: those of roles, and those of models."""

from collections.abc import Sequence
from dataclasses import replace

from temporalio.client import Client

from quire.app.parts import plan_defaults
from quire.contracts.document import DocumentRequest
from quire.contracts.names import (
    DOCUMENTS_QUEUE,
    LOCAL_MODEL,
    LOCAL_PROVIDER,
    WORKFLOW_QUEUE,
    route_queue,
)
from quire.domain import errors
from quire.domain.counts import counted
from quire.domain.document.plan import chain_request
from quire.domain.errors import JobWaits
from quire.domain.routing.routes import build_chain
from quire.domain.workers.absence import (
    Deployment,
    QueueState,
    no_worker,
    served_by,
    wrong_build,
)
from quire.jobs.finding import Finding
from quire.settings import Settings
from quire.temporal.deployment import DEPLOYMENT
from quire.temporal.queue_workers import queue_states

NEEDED = (WORKFLOW_QUEUE, DOCUMENTS_QUEUE)
LOCAL_QUEUE = route_queue(LOCAL_PROVIDER, LOCAL_MODEL)


async def check_queues(client: Client, settings: Settings) -> list[Finding]:
    """A finding for each queue that a document may need: of both roles, of the models that these
    settings would plan with, and of every model that workers serve."""
    planned = [route_queue(provider, model) for provider, model in planned_routes(settings)]
    states = await queue_states(client, {*NEEDED, *planned})
    served = sorted(queue for queue, state in states.items() if state.live)
    queues = dict.fromkeys((*NEEDED, *planned, *served))
    findings = [_finding(queue, states, tuple(settings.providers)) for queue in queues]
    if any(queue not in NEEDED for queue in queues):
        return findings
    absent = errors.no_worker_with_role("ai")
    return [*findings, Finding("workers", False, "no worker serves a model", absent.remedy)]


def planned_routes(settings: Settings) -> list[tuple[str, str]]:
    """The routes of a document as this client's settings would plan it; workers plan with their
    own, so a route that is missing here need not be missing."""
    request = DocumentRequest(job_id="doctor", source="doctor")
    chain = build_chain(chain_request(request, plan_defaults(settings)))
    return [(route.provider, route.model) for route in chain.routes]


def _finding(queue: str, states: dict[str, QueueState], providers: Sequence[str]) -> Finding:
    state, whom = states[queue], served_by(queue, providers)
    if not state.live:
        absent = _absent(f"no worker serves queue {queue}", no_worker([queue], states, providers))
        # The local engine is a last resort: workers need not have it where they have a model.
        spare = queue == LOCAL_QUEUE and any(
            state.live for name, state in states.items() if name not in NEEDED
        )
        return replace(absent, ok=None) if spare else absent
    if wrong := wrong_build(state, Deployment(DEPLOYMENT)):
        return _absent(f"queue {queue}: {wrong.message}", wrong)
    builds = ", ".join(build for build in state.builds if build)
    build = f" of build {builds}" if builds else ""
    workers = counted(len(state.live), "worker")
    return Finding("workers", True, f"queue {queue} is served by {workers}{build} ({whom})")


def _absent(detail: str, error: JobWaits) -> Finding:
    return Finding("workers", False, detail, error.remedy)
