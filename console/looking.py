"""Commands that look at jobs: status, watch, result, list, doctor."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from temporalio.common import SearchAttributeKey

from console import jobs
from console.doctor import examine
from console.exits import Exit, UsageError, print_json
from console.live import follow, one_line
from console.process import Output, show_result
from console.session import open_session
from domain.contracts import BreakerStatus, DocumentStatus
from settings import Settings


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
    console = Console(highlight=False, soft_wrap=True)
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


async def show_finished(
    settings: Settings, job_id: str, *, out: Path | None, link: bool, as_json: bool
) -> Exit:
    """The result of a job that is done."""
    async with open_session(settings, roles=()) as session:
        result = await jobs.result_when_ready(session.client, job_id)
        return await show_result(session, result, Output(as_json=as_json, out=out, link=link))


@dataclass(frozen=True)
class Wanted:
    """Which documents to list."""

    status: str | None = None
    user: str | None = None
    fallback: bool = False
    limit: int = 20

    def query(self) -> str:
        parts = ["WorkflowType = 'DocumentWorkflow'"]
        if self.status:
            states = {"running": "Running", "completed": "Completed", "failed": "Failed"}
            parts.append(f"ExecutionStatus = '{states[self.status]}'")
        if self.user is not None:
            if "'" in self.user or "\\" in self.user:
                raise UsageError("--user: quotes and backslashes cannot be searched for.")
            parts.append(f"QuireUser = '{self.user}'")
        if self.fallback:
            parts.append("QuireFallbackPages > 0")
        return " AND ".join(parts)


async def show_list(settings: Settings, wanted: Wanted, *, as_json: bool) -> Exit:
    """The documents, newest first, from visibility alone: no worker is asked."""
    async with open_session(settings, roles=()) as session:
        rows = [
            {
                "job_id": execution.id.removeprefix("document-"),
                "status": execution.status.name.lower() if execution.status else "",
                "started_at": execution.start_time.isoformat(),
                "completed_at": execution.close_time.isoformat() if execution.close_time else None,
                "user_id": attributes.get(SearchAttributeKey.for_keyword("QuireUser")),
                "engine": attributes.get(SearchAttributeKey.for_keyword("QuireEngine")),
                "pages": attributes.get(SearchAttributeKey.for_int("QuirePages")),
                "fallback_pages": attributes.get(SearchAttributeKey.for_int("QuireFallbackPages")),
            }
            async for execution in session.client.list_workflows(wanted.query(), limit=wanted.limit)
            for attributes in [execution.typed_search_attributes]
        ]
    if as_json:
        print_json({"documents": rows})
        return Exit.DONE
    table = Table(box=None, pad_edge=False)
    for name in ("job_id", "status", "started_at", "user_id", "engine", "pages", "fallback_pages"):
        table.add_column(name)
    for row in rows:
        table.add_row(*("" if row[c.header] is None else str(row[c.header]) for c in table.columns))  # type: ignore[index]
    Console(highlight=False).print(table if rows else "No documents.")
    return Exit.DONE


async def show_doctor(settings: Settings, *, as_json: bool) -> Exit:
    """What is in place and what is not."""
    findings = await examine(settings)
    failed = [finding for finding in findings if finding.ok is False]
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        console = Console(highlight=False, soft_wrap=True)
        for finding in findings:
            mark = {True: "[green]ok[/]  ", False: "[red]FAIL[/]", None: "[dim]--[/]  "}[finding.ok]
            console.print(f"{mark} {finding.name}: {finding.detail} {finding.remedy}".rstrip())
    return Exit.USAGE if failed else Exit.DONE
