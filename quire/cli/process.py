"""`process`: one document from its source to its text."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.app import open_results, plan_defaults, prepare_source, seal_password
from quire.cli import jobs
from quire.cli.exits import ANSWER, Exit, UsageError, print_json, say
from quire.cli.live import follow
from quire.cli.report import show_report, write_copy
from quire.cli.session import Session, open_session
from quire.contracts.codes import Code
from quire.contracts.document import DocumentRequest
from quire.contracts.names import JOB_ID
from quire.contracts.plan import PlanDefaults
from quire.contracts.results import DocumentReport, DocumentResult
from quire.domain.document.keys import result_key
from quire.domain.document.plan import make_plan, refuse_unusable_engine
from quire.domain.errors import JobError
from quire.ports import Store
from quire.settings import Settings
from quire.sources.fetch import is_remote

# How long a link to a result works: a working day.
LINK_SECONDS = 8 * 3600


@dataclass(frozen=True)
class Output:
    """How the result is shown."""

    as_json: bool = False
    out: Path | None = None
    strict: bool = False
    link: bool = False


async def prepare(
    settings: Settings, request: DocumentRequest, sources: Sequence[str], password: str | None
) -> DocumentRequest:
    """The request as it may leave this process: the source reachable, the password sealed."""
    refuse_unusable_engine(request.engine, plan_defaults(settings))
    if password is not None:
        sealed = seal_password(settings, password, request.job_id)
        request = request.model_copy(update={"sealed_password": sealed})
    return await with_source(settings, request, sources)


async def with_source(
    settings: Settings, request: DocumentRequest, sources: Sequence[str]
) -> DocumentRequest:
    """The request with its source where workers reach it."""
    if len(sources) > 1 and any(map(is_remote, sources)):
        raise UsageError("A URL cannot be put together with other sources.", "Give one URL.")
    ready = await prepare_source(settings, sources)
    return request.model_copy(update={"source": ready.source, "source_name": ready.name})


async def process(settings: Settings, request: DocumentRequest, output: Output) -> Exit:
    """Run the document and show its result."""
    defaults = plan_defaults(settings)
    async with open_session(settings) as session:
        with session.traces.command("process", request.job_id):
            engine = engine_of(settings, request, defaults)
            handle = await jobs.start(session.client, request, engine)
            ANSWER.job_id = request.job_id
            where = f"; Web UI: {session.ui_url}" if session.ui_url else ""
            say(f"job {request.job_id}{where}")
            result = await follow(handle, jobs.result_of(handle))
        return await show_result(session, result, output)


async def _place_of(session: Session, result: DocumentResult) -> Store:
    """Where a finished job's files were put."""
    text_name = result_key(result.job_id, "text.txt")
    places = open_results(session.settings)
    recorded = result.metadata.result_s3_url or result.metadata.result_local_path
    results = places.found(recorded, text_name)
    if not await results.exists(text_name):
        # Recorded on another machine, where a shared folder may go by another name.
        results = places.found(None, text_name)
    return results


async def stored_result(settings: Settings, job_id: str) -> DocumentReport | None:
    """The result of a job whose history is gone, if it is in the place where all results go: the
    source, beside which it may be as well, is not known any more."""
    if not re.fullmatch(JOB_ID, job_id):
        return None
    key = result_key(job_id, "result.json")
    stored = await open_results(settings).found(None, key).get(key)
    return None if stored is None else DocumentReport.model_validate_json(stored)


async def load_result(session: Session, result: DocumentResult) -> tuple[DocumentReport, bytes]:
    """`result.json` and `text.txt` of a finished job."""
    job_id, results = result.job_id, await _place_of(session, result)
    report_json = await results.get(result_key(job_id, "result.json"))
    text = await results.get(result_key(job_id, "text.txt"))
    if report_json is None or text is None:
        raise JobError(
            Code.EXPIRED,
            "RESULT_GONE",
            f"Job {job_id!r} is done, but its result is not where RESULTS_URL points.",
            "Set RESULTS_URL as the workers have it, or run the job again with --force.",
        )
    return DocumentReport.model_validate_json(report_json), text


async def show_result(session: Session, result: DocumentResult, output: Output) -> Exit:
    """Print a finished job's report, and copy it where it was asked for."""
    report, text = await load_result(session, result)
    link = None
    if output.link:
        results = await _place_of(session, result)
        link = await results.link(result_key(result.job_id, "text.txt"), LINK_SECONDS)
    if output.link and link is None:
        raise UsageError("--link: the result is in a folder, not in S3.", "Leave --link out.")
    if output.out is not None:
        report = write_copy(report, text, output.out)
    if output.as_json:
        print_json({**report.model_dump(mode="json"), **({"link": link} if link else {})})
    else:
        show_report(report)
        if link:
            print(link)  # noqa: T201
    degraded = report.metadata.pages_failed > 0
    return Exit.DEGRADED if output.strict and degraded else Exit.DONE


async def start_detached(settings: Settings, request: DocumentRequest, output: Output) -> Exit:
    """Start and leave. Without a cluster, a process in the background does the work."""
    defaults = plan_defaults(settings)
    # The job is recorded before this command ends, so that the next one finds it.
    async with open_session(settings, roles=()) as session:
        with session.traces.command("process --detach", request.job_id):
            engine = engine_of(settings, request, defaults)
            await jobs.start(session.client, request, engine)
            ANSWER.job_id = request.job_id
    if not settings.cluster:
        _run_in_background(settings, request.job_id, output.out)
    say(f"job {request.job_id}; follow it with: starter.py watch {request.job_id}")
    if output.as_json:
        print_json({"job_id": request.job_id, "status": "pending"})
    else:
        print(request.job_id)  # noqa: T201
    return Exit.DONE


def engine_of(settings: Settings, request: DocumentRequest, defaults: PlanDefaults) -> str | None:
    """The provider of the first route, as lists and the Web UI show it; None where only a
    cluster's workers know it, who say so once they have a plan."""
    if settings.cluster:
        return request.engine
    return make_plan(request, defaults).engine


def _run_in_background(settings: Settings, job_id: str, out: Path | None) -> None:
    """Watching is enough to make a job of this state folder go on; the command that started it
    may have held a password, so it is not run again."""
    where = ["--out", str(out.absolute())] if out is not None else []
    logs = settings.state_dir.expanduser() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{job_id}.log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, sys.argv[0], "watch", job_id, "--json", *where],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
