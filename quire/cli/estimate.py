"""`estimate`: pages by class, calls and expected cost by tier. Nothing is sent to a model."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quire.app import build_ingest, open_store, plan_defaults
from quire.cli.exits import Exit, print_json
from quire.cli.process import with_source
from quire.cli.screen import screen
from quire.cli.tables import Column, fitting_table
from quire.contracts.document import DocumentRequest
from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.plan import PlanDefaults
from quire.contracts.routing import Route
from quire.contracts.steps import SurveyRequest
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.estimate import Expected, expect
from quire.domain.document.plan import make_plan, refuse_unusable_engine
from quire.domain.errors import DocumentRefused, QuireError
from quire.domain.page_ranges import choose_pages
from quire.pdf.reader import Documents
from quire.providers.pricing import Tokens, cost_usd
from quire.settings import Settings
from quire.store.documents import Originals

TIERS = ("primary", "secondary", "fast")
COLUMNS = (
    Column("tier", 0),
    Column("first route", 2),
    Column("tokens", 3, right=True),
    Column("cost", 1, right=True),
    Column("dearest route", 4, right=True),
)
ASSUMED = (
    "By rules of thumb, one answer a page: 'cost' if the first route reads every page, 'dearest "
    "route' if the dearest of the chain does. It is no limit: a page whose answer is refused is "
    "paid for again on the next route. Pages that are read already cost nothing again."
)


async def estimate(
    settings: Settings,
    request: DocumentRequest,
    sources: Sequence[str],
    password: str | None,
    *,
    as_json: bool,
) -> Exit:
    """Survey the document here, and price what its pages would take."""
    defaults = plan_defaults(settings)
    refuse_unusable_engine(request.engine, defaults)
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        request, surveys = await _survey(_alone(settings, folder), request, sources, password)
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


def _alone(settings: Settings, folder: str) -> Settings:
    """The same limits with a store that is gone afterwards: nobody else will read from it."""
    own = {"temporal_address": "", "store_url": folder, "state_dir": Path(folder)}
    return settings.model_copy(update=own)


async def _survey(
    settings: Settings, request: DocumentRequest, sources: Sequence[str], password: str | None
) -> tuple[DocumentRequest, list[PageSurvey]]:
    """The steps of a worker, without one."""
    documents, store = Documents(processes=1), open_store(settings)
    try:
        request = await with_source(settings, request, sources)
        ingest = build_ingest(settings, store, documents, _nothing_is_sealed)
        source = await ingest.ingest(request, password)
        chosen = choose_pages(request.pages, source.page_count)
        if not chosen:
            raise errors.no_such_page(request.pages or "", page_count=source.page_count)
        wanted = SurveyRequest(
            job_id=request.job_id,
            sha256=source.sha256,
            page_count=source.page_count,
            kind=source.kind,
        )
        surveys = await Originals(store, documents).survey(
            wanted, chosen[0], chosen[-1], password, patient=False
        )
    except OSError as error:
        raise DocumentRefused.from_info(errors.storage_failed(error).info) from error
    except QuireError as error:
        # As `process` says it: whatever keeps a worker from the document is its refusal.
        if type(error) is not QuireError:
            raise
        raise DocumentRefused.from_info(error.info) from None
    finally:
        documents.close()
    return request, [page for page in surveys if page.page in set(chosen)]


def _nothing_is_sealed(token: str, job_id: str) -> str:
    raise AssertionError("the password never leaves this process")


def _price(
    settings: Settings,
    request: DocumentRequest,
    defaults: PlanDefaults,
    surveys: list[PageSurvey],
) -> dict[str, Any]:
    plan = make_plan(request, defaults)
    routes = [route for route in plan.chain.routes if not route.is_last_resort]
    if request.text_only:
        routes = []
    asked = surveys if routes else []
    expected = expect(asked, plan.reading, every_page=plan.every_page)
    prices = [_cost(settings, route, expected) for route in routes]
    known = [price for price in prices if price is not None]
    return {
        "route": routes[0].key if routes else None,
        "calls": expected.calls,
        "input_tokens": expected.input_tokens,
        "output_tokens": expected.output_tokens,
        "cost_usd": prices[0] if prices else 0.0,
        # Every page read once, by the dearest route of the chain.
        "cost_usd_dearest_route": max(known, default=0.0) if len(known) == len(prices) else None,
    }


def _cost(settings: Settings, route: Route, expected: Expected) -> float | None:
    if route.provider == LOCAL_PROVIDER:
        return 0.0
    tokens = Tokens(read=expected.input_tokens, written=expected.output_tokens)
    return cost_usd(
        route.provider, route.model, tokens, settings.providers[route.provider].base_url
    )


def _show(report: dict[str, Any]) -> None:
    console = screen()
    classes = ", ".join(f"{count} {name}" for name, count in report["pages_by_class"].items())
    console.print(f"{report['total_pages']} pages: {classes}; {report['calls']} calls to a model")
    rows = [
        {
            "tier": tier,
            "first route": row["route"] or "none",
            "tokens": f"{row['input_tokens'] + row['output_tokens']:,}",
            "cost": _dollars(row["cost_usd"]),
            "dearest route": _dollars(row["cost_usd_dearest_route"]),
        }
        for tier, row in report["tiers"].items()
    ]
    console.print(fitting_table(COLUMNS, rows, console.width))
    console.print(ASSUMED)


def _dollars(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:.4f}"
