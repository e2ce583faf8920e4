"""`estimate`: pages by class, calls and expected cost by tier. Nothing is sent or started."""

import asyncio
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bootstrap import plan_defaults
from console.exits import Exit, UsageError, print_json
from documents.reader import Documents
from domain.contracts import LOCAL_PROVIDER, DocumentRequest, PageSurvey
from domain.estimate import Expected, expect
from domain.pages import choose_pages
from domain.plan import PlanDefaults, make_plan
from domain.routes import Route
from providers.pricing import Tokens, cost_usd
from settings import Settings
from sources.sniff import check_file

TIERS = ("primary", "secondary", "fast")


async def estimate(settings: Settings, request: DocumentRequest, *, as_json: bool) -> Exit:
    """Survey the document here, and price what its pages would take."""
    defaults = plan_defaults(settings)
    surveys = await _survey(settings, request)
    classes = Counter(page.classification.value for page in surveys)
    tiers = {
        tier: _price(settings, request.model_copy(update={"tier": tier}), defaults, surveys)
        for tier in TIERS
    }
    report = {
        "source": request.source_name,
        "total_pages": len(surveys),
        "pages_by_class": dict(sorted(classes.items())),
        "calls": tiers["primary"]["calls"],
        "tiers": tiers,
    }
    if as_json:
        print_json(report)
    else:
        _show(report)
    return Exit.DONE


async def _survey(settings: Settings, request: DocumentRequest) -> list[PageSurvey]:
    path = await asyncio.to_thread(_pdf, request.source, settings.max_file_size)
    documents = Documents(processes=1)
    try:
        count = await documents.inspect(path)
        chosen = choose_pages(request.pages, count)
        if not chosen:
            raise UsageError(f"--pages {request.pages}: the document has {count} pages.")
        surveys = await documents.survey(path, chosen[0], chosen[-1])
    finally:
        documents.close()
    return [page for page in surveys if page.page in set(chosen)]


def _pdf(source: str, max_bytes: int) -> Path:
    path = Path(source).expanduser().absolute()
    if check_file(path, max_bytes) != "pdf":
        raise UsageError("Only a PDF on this machine can be estimated.", "Give a PDF file.")
    return path


def _price(
    settings: Settings,
    request: DocumentRequest,
    defaults: PlanDefaults,
    surveys: list[PageSurvey],
) -> dict[str, Any]:
    plan = make_plan(request, defaults)
    expected = expect(surveys, plan.reading, every_page=plan.every_page)
    routes = [route for route in plan.chain.routes if not route.is_last_resort]
    prices = [_cost(settings, route, expected) for route in routes]
    known = [price for price in prices if price is not None]
    return {
        "route": routes[0].key if routes else None,
        "calls": expected.calls if routes else 0,
        "input_tokens": expected.input_tokens,
        "output_tokens": expected.output_tokens,
        "cost_usd": prices[0] if prices else 0.0,
        # Every page read by the dearest route of the chain, once.
        "cost_usd_after_failover": max(known) if len(known) == len(prices) and known else None,
    }


def _cost(settings: Settings, route: Route, expected: Expected) -> float | None:
    if route.provider == LOCAL_PROVIDER:
        return 0.0
    tokens = Tokens(read=expected.input_tokens, written=expected.output_tokens)
    return cost_usd(
        route.provider, route.model, tokens, settings.providers[route.provider].base_url
    )


def _show(report: dict[str, Any]) -> None:
    console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    classes = ", ".join(f"{count} {name}" for name, count in report["pages_by_class"].items())
    console.print(f"{report['total_pages']} pages: {classes}; {report['calls']} calls to a model")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("tier", "first route", "tokens", "cost", "at most"):
        table.add_column(name, overflow="fold")
    for tier, row in report["tiers"].items():
        table.add_row(
            tier,
            row["route"] or "none",
            f"{row['input_tokens'] + row['output_tokens']:,}",
            _dollars(row["cost_usd"]),
            _dollars(row["cost_usd_after_failover"]),
        )
    console.print(table)
    console.print("An estimate by rules of thumb; pages that are read already cost nothing again.")


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"
