"""The pages of a job as a table: where each stands, when it was and may be tried."""

from collections.abc import Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from quire.cli.job_table import confidence_words
from quire.cli.progress_view import STYLES
from quire.cli.table import Column, fitting_table
from quire.contracts.status import PageStatus

COLUMNS = (
    Column("page", 0, right=True),
    Column("state", 1),
    Column("source", 2),
    Column("route", 6),
    Column("tries", 5, right=True),
    Column("last attempt", 4),
    Column("next try", 3),
    Column("sure", 8, right=True),
    Column("why", 7, at_least=16, cut=True),
)


def page_table(pages: Sequence[PageStatus], width: int) -> Table:
    """A row a page; times are of this machine's time zone."""
    return fitting_table(COLUMNS, [_row(page) for page in pages], width)


def _row(page: PageStatus) -> dict[str, str | Text]:
    source = page.source.value if page.source else ""
    return {
        "page": str(page.page),
        "state": page.state,
        "source": Text(source, style=STYLES.get(source, "")),
        "route": page.route or "",
        "tries": str(len(page.attempts) or ""),
        "last attempt": _clock(page.last_attempt_at),
        "next try": _clock(page.retry_after),
        "sure": confidence_words(page.confidence, doubtful=page.doubtful),
        "why": f"{page.error.code}: {page.error.error}" if page.error else "",
    }


def _clock(moment: str | None) -> str:
    return "" if moment is None else f"{datetime.fromisoformat(moment).astimezone():%H:%M:%S}"
