"""A batch's live details for Temporal's Web UI, as Markdown. Pure."""

from datetime import UTC, datetime

from quire.contracts.batch import BatchRequest
from quire.domain.counts import counted
from quire.domain.document.details import bar, table
from workflows.batch.state import BatchState


def render_details(state: BatchState, now: float) -> str:
    """Bar, cost so far, documents by state, pages by source, the last failures, the request."""
    found = state.counts
    ended, total = found.ended, state.request.documents
    word = "paused" if state.paused else state.phase
    head = f"**{word}** `{bar(ended, total)}` {ended:,} of {counted(total, 'document')}"
    times = f"as of {_moment(now)} UTC; began {_moment(state.started)} UTC; {state.spent.words()}"
    stopped = f"**nothing more is started**: {state.stopped_by}" if state.stopped_by else ""
    states = [(name.replace("_", " "), f"{number:,}") for name, number in found if number]
    pages = [(name, f"{number:,}") for name, number in sorted(state.by_source.items())]
    failures = [
        (one.number, one.source, one.code.value, one.message) for one in state.last_failures
    ]
    parts = [
        head,
        times,
        stopped,
        table(("documents", "count"), states),
        table(("pages by source", "count"), pages) if pages else "",
        table(("document", "source", "code", "last failures"), failures) if failures else "",
        render_request(state.request),
    ]
    return "\n\n".join(part for part in parts if part)


def render_request(request: BatchRequest) -> str:
    """What was asked for, as a table."""
    options, limit = request.options, request.max_cost_usd
    rows = {
        "batch": request.batch_id,
        "name": request.name or "-",
        "owner": request.user_id or "-",
        "window": counted(request.window, "document"),
        "mode": options.mode,
        "deadline of a document": f"{options.deadline_s:g} s" if options.deadline_s else "default",
        "spend limit": "none" if limit is None else f"${limit:.2f}",
    }
    return table(("", ""), rows.items())


def _moment(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S")
