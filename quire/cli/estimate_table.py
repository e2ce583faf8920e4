"""The estimate of a document as a table for people."""

from quire.cli.screen import screen
from quire.cli.table import Column, fitting_table
from quire.domain.counts import counted
from quire.jobs.estimate import Estimate

COLUMNS = (
    Column("tier", 0),
    Column("first route", 2),
    Column("tokens", 3, right=True),
    Column("cost", 1, right=True),
    Column("dearest route", 4, right=True),
)
ASSUMED = (
    "Assumed: one answer a page, tokens by rules of thumb. 'cost' is for the first route reading "
    "every page, 'dearest route' for the most expensive route of the chain. It is not a limit: a "
    "page whose answer is refused is paid for again on the next route. Stored pages cost nothing."
)


def show_estimate(found: Estimate) -> None:
    """Print a line of counts, a table with a row a tier, and the assumptions."""
    console = screen()
    classes = ", ".join(f"{count} {name}" for name, count in found.pages_by_class.items())
    pages = counted(found.total_pages, "page")
    console.print(f"{pages}: {classes}; {counted(found.calls, 'call')} to a model")
    rows = [
        {
            "tier": tier,
            "first route": row.route or "none",
            "tokens": f"{row.input_tokens + row.output_tokens:,}",
            "cost": _dollars(row.cost_usd),
            "dearest route": _dollars(row.cost_usd_dearest_route),
        }
        for tier, row in found.tiers.items()
    ]
    console.print(fitting_table(COLUMNS, rows, console.width))
    console.print(ASSUMED)


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"
