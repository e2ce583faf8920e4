"""What a document would cost: pages by class, calls and cost by tier. No model is called."""

import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from quire.app.parts import open_documents, open_ingest, open_store, plan_defaults, route_cost
from quire.contracts.document import DocumentRequest
from quire.contracts.plan import PlanDefaults
from quire.contracts.steps import SurveyRequest
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.estimate import expect
from quire.domain.document.plan import make_plan, refuse_unusable_engine
from quire.domain.page_ranges import choose_pages
from quire.jobs.origins import Given, with_origin
from quire.settings import Settings
from quire.store.documents import Originals

TIERS = ("primary", "secondary", "fast")


@dataclass(frozen=True)
class TierEstimate:
    """Calls, tokens and cost of the document with one tier of models."""

    route: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    # If the most expensive route of the chain reads every page.
    cost_usd_dearest_route: float | None


@dataclass(frozen=True)
class Estimate:
    """Pages, calls and cost of a document; its fields are those of the JSON."""

    source: str
    total_pages: int
    pages_by_class: dict[str, int]
    calls: int
    tiers: dict[str, TierEstimate]


async def estimate_cost(
    settings: Settings, request: DocumentRequest, given: Given, password: str | None
) -> Estimate:
    """Survey the document in this process, and price the calls that its pages need."""
    defaults = plan_defaults(settings)
    refuse_unusable_engine(request.engine, defaults)
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        request, surveys = await _survey(_alone(settings, folder), request, given, password)
    classes = Counter(page.classification.value for page in surveys)
    tiers = {
        tier: _price(settings, request.model_copy(update={"tier": tier}), defaults, surveys)
        for tier in TIERS
    }
    return Estimate(
        source=request.source_name,
        total_pages=len(surveys),
        pages_by_class=dict(sorted(classes.items())),
        calls=tiers["primary"].calls,
        tiers=tiers,
    )


def _alone(settings: Settings, folder: str) -> Settings:
    """The same limits, with a temporary store of its own."""
    own = {"temporal_address": "", "store_url": folder, "state_dir": Path(folder)}
    return settings.model_copy(update=own)


async def _survey(
    settings: Settings, request: DocumentRequest, given: Given, password: str | None
) -> tuple[DocumentRequest, list[PageSurvey]]:
    """Ingest and survey the document as a worker does."""
    documents, store = open_documents(1), open_store(settings)
    try:
        request = await with_origin(settings, request, given)
        document = await open_ingest(settings, store, documents).bring(request, password)
        chosen = choose_pages(request.pages, document.page_count)
        if not chosen:
            raise errors.no_such_page(request.pages or "", page_count=document.page_count)
        wanted = SurveyRequest(
            job_id=request.job_id,
            sha256=document.sha256,
            page_count=document.page_count,
            kind=document.kind,
        )
        surveys = await Originals(store, documents).survey(
            wanted, chosen[0], chosen[-1], password, patient=False
        )
    except OSError as error:
        raise errors.DocumentRefused.from_info(errors.storage_failed(error).info) from error
    except (errors.DocumentRefused, errors.UsageError, errors.SettingsError):
        raise
    except errors.QuireError as error:
        # As in `process`: whatever keeps a worker from the document is a refusal.
        raise errors.DocumentRefused.from_info(error.info) from None
    finally:
        documents.close()
    return request, [page for page in surveys if page.page in set(chosen)]


def _price(
    settings: Settings,
    request: DocumentRequest,
    defaults: PlanDefaults,
    surveys: list[PageSurvey],
) -> TierEstimate:
    plan = make_plan(request, defaults)
    routes = [route for route in plan.chain.routes if not route.is_last_resort]
    if request.text_only:
        routes = []
    asked = surveys if routes else []
    expected = expect(asked, plan.reading, every_page=plan.every_page)
    tokens = {"read": expected.input_tokens, "written": expected.output_tokens}
    prices = [route_cost(settings, route, **tokens) for route in routes]
    known = [price for price in prices if price is not None]
    return TierEstimate(
        route=routes[0].key if routes else None,
        calls=expected.calls,
        input_tokens=expected.input_tokens,
        output_tokens=expected.output_tokens,
        cost_usd=prices[0] if prices else 0.0,
        cost_usd_dearest_route=max(known, default=0.0) if len(known) == len(prices) else None,
    )
