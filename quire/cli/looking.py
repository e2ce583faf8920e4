"""Commands that look at jobs: status, watch, result, doctor."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from quire.app import open_store
from quire.cli import jobs
from quire.cli.doctor import examine
from quire.cli.exits import Exit, print_json, say
from quire.cli.live import beside, follow
from quire.cli.process import Output, load_result, show_result, stored_result
from quire.cli.screen import screen
from quire.cli.session import open_session
from quire.cli.texts import TextPrinter
from quire.cli.view import one_line
from quire.contracts.status import BreakerStatus, DocumentStatus
from quire.domain.errors import JobError
from quire.settings import Settings


async def show_status(settings: Settings, job_id: str, *, as_json: bool) -> Exit:
    """The progress contract once."""
    # Queries are answered by a workflow worker; pages are left to whoever runs the job.
    async with open_session(settings, roles=("workflows",)) as session:
        status = await jobs.status_of(session.client, job_id)
    if as_json:
        print_json(status.model_dump(mode="json"))
        return Exit.DONE
    _show_status(status)
    return Exit.DONE


def _show_status(status: DocumentStatus) -> None:
    console = screen()
    console.print(f"{status.job_id}: {status.status}")
    console.print(one_line(jobs.View(status, list[BreakerStatus]())))
    if status.error_message:
        console.print(status.error_message)
    errors = Counter(e.code.value for e in status.progress_detail.page_errors.values())
    for code, count in sorted(errors.items()):
        console.print(f"{count} pages degraded with {code}")


async def watch(settings: Settings, job_id: str, *, out: Path | None, as_json: bool) -> Exit:
    """Follow a job to its end; without a cluster, this is also what makes it go on."""
    async with open_session(settings) as session:
        await jobs.describe(session.client, job_id)
        handle = jobs.handle_of(session.client, job_id)
        result = await follow(handle, jobs.result_of(handle))
        return await show_result(session, result, Output(as_json=as_json, out=out))


async def watch_text(settings: Settings, job_id: str) -> Exit:
    """The document's text on standard output, page by page as it is read."""
    async with open_session(settings) as session:
        await jobs.describe(session.client, job_id)
        handle = jobs.handle_of(session.client, job_id)
        printer = TextPrinter(open_store(settings))
        result = await beside(printer.run(handle), jobs.result_of(handle))
        _, whole = await load_result(session, result)
        printer.finish(whole.decode())
    say(f"{result.message}; {result.metadata.total_pages} pages")
    return Exit.DONE


async def show_finished(
    settings: Settings, job_id: str, *, out: Path | None, link: bool, as_json: bool
) -> Exit:
    """The result of a job that is done; results outlive Temporal's history."""
    async with open_session(settings, roles=()) as session:
        try:
            result = await jobs.result_when_ready(session.client, job_id)
        except JobError as error:
            gone = error.info.reason == "NO_SUCH_JOB"
            stored = await stored_result(settings, job_id) if gone else None
            if stored is None:
                raise
            say(f"job {job_id}: its history is gone; this is its stored result")
            result = stored
        return await show_result(session, result, Output(as_json=as_json, out=out, link=link))


async def show_doctor(settings: Settings, *, as_json: bool) -> Exit:
    """What is in place and what is not."""
    findings = await examine(settings)
    failed = [finding for finding in findings if finding.ok is False]
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            mark = {True: ("ok  ", "green"), False: ("FAIL", "red"), None: ("--  ", "dim")}
            words = f" {finding.name}: {finding.detail} {finding.remedy}".rstrip()
            screen().print(Text.assemble(mark[finding.ok], words))
    return Exit.USAGE if failed else Exit.DONE
