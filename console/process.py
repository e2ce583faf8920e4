"""`process`: one document from its source to its text."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bootstrap import open_results, plan_defaults, prepare_source
from console import jobs
from console.exits import Exit, print_json, say
from console.live import follow
from console.report import show_report, write_copy
from console.session import Session, open_session
from domain.contracts import DocumentReport, DocumentRequest
from domain.errors import Code, JobError
from domain.keys import result_key
from domain.plan import PlanDefaults, chain_request, refuse_unusable_engine
from domain.routes import build_chain
from settings import Settings


@dataclass(frozen=True)
class Output:
    """How the result is shown."""

    as_json: bool = False
    out: Path | None = None
    strict: bool = False


async def process(settings: Settings, request: DocumentRequest, output: Output) -> Exit:
    """Run the document and show its result."""
    defaults = plan_defaults(settings)
    refuse_unusable_engine(request.engine, defaults)
    cluster = bool(settings.temporal_address)
    source = await prepare_source(settings, request.source, upload=cluster)
    request = request.model_copy(update={"source": source})
    async with open_session(settings) as session:
        handle = await jobs.start(session.client, request, engine_of(request, defaults))
        where = f"; Web UI: {session.ui_url}" if session.ui_url else ""
        say(f"job {request.job_id}{where}")
        await follow(handle, jobs.result_of(handle))
        return await show_result(session, request.job_id, output)


async def show_result(session: Session, job_id: str, output: Output) -> Exit:
    """Print a finished job's report, and copy it where it was asked for."""
    results = open_results(session.settings)
    report_json = await results.get(result_key(job_id, "result.json"))
    text = await results.get(result_key(job_id, "text.txt"))
    if report_json is None or text is None:
        raise JobError(
            Code.EXPIRED,
            "RESULT_GONE",
            f"Job {job_id!r} is done, but its result is not where RESULTS_URL points.",
            "Set RESULTS_URL as the workers have it, or run the job again with --force.",
        )
    report = DocumentReport.model_validate_json(report_json)
    if output.out is not None:
        report = write_copy(report, text, output.out)
    if output.as_json:
        print_json(report.model_dump(mode="json"))
    else:
        show_report(report)
    degraded = report.metadata.pages_failed > 0
    return Exit.DEGRADED if output.strict and degraded else Exit.DONE


async def start_detached(
    settings: Settings, request: DocumentRequest, arguments: list[str]
) -> None:
    """Start and leave. Without a cluster, a process in the background does the work."""
    defaults = plan_defaults(settings)
    refuse_unusable_engine(request.engine, defaults)
    cluster = bool(settings.temporal_address)
    source = await prepare_source(settings, request.source, upload=cluster)
    request = request.model_copy(update={"source": source})
    # The job is recorded before this command ends, so that the next one finds it.
    async with open_session(settings, roles=()) as session:
        await jobs.start(session.client, request, engine_of(request, defaults))
    if not cluster:
        _run_in_background(settings, request.job_id, arguments)


def engine_of(request: DocumentRequest, defaults: PlanDefaults) -> str:
    """The provider of the first route, as lists and the Web UI show it."""
    chain = build_chain(chain_request(request, defaults))
    return chain.routes[0].provider if chain.routes else "none"


def _run_in_background(settings: Settings, job_id: str, arguments: list[str]) -> None:
    logs = settings.state_dir.expanduser() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{job_id}.log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, sys.argv[0], *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
