"""What a batch would cost: every document is surveyed here, and no model is called."""

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.contracts.batch import BatchOptions, SourceItem
from quire.contracts.codes import ErrorInfo
from quire.domain.batch.sources import request_for
from quire.domain.errors import QuireError
from quire.jobs.batch.prepare import find_sources, prepare_sources
from quire.jobs.batch.submit import check_engines
from quire.jobs.estimate import TIERS, Estimate, TierEstimate, estimate_cost
from quire.settings import Settings
from quire.sources.listing import Found

BATCH = "estimate"


@dataclass(frozen=True)
class BatchEstimate:
    """The sums over the documents; what is the same as another counts once."""

    documents: int
    same: int
    estimate: Estimate
    failures: list[dict[str, str]] = field(default_factory=list)


async def estimate_batch(
    settings: Settings, sources: Sequence[str], options: BatchOptions, *, follow_links: bool = False
) -> BatchEstimate:
    """Survey the documents, as many at once as there are processors."""
    found, _ = await find_sources(settings, sources, follow_links=follow_links)
    check_engines(settings, [options.engine, *(one.engine for one in found)])
    with tempfile.TemporaryDirectory(prefix="quire-") as folder:
        # Nothing of it stays in the store: these documents may never be read.
        alone = settings.model_copy(update={"store_url": folder, "temporal_address": ""})
        prepared = await prepare_sources(alone, BATCH, found)
    room = asyncio.Semaphore(os_processors())

    async def one(number: int, item: SourceItem, where: Found) -> Estimate | ErrorInfo | None:
        if item.error is not None:
            return item.error
        if item.same_as:
            return None
        request = request_for(BATCH, "", number, item, options, 0)
        given = [where.origin]
        async with room:
            try:
                plain = request.model_copy(update={"source": given[0], "sealed_password": None})
                return await estimate_cost(settings, plain, given, where.password)
            except QuireError as error:
                return error.info

    several = zip(range(1, len(found) + 1), prepared.items, found, strict=True)
    each = await asyncio.gather(*(one(*parts) for parts in several))
    failures = [
        {"source": item.shown, "code": info.code.value, "message": info.message}
        for item, info in zip(prepared.items, each, strict=True)
        if isinstance(info, ErrorInfo)
    ]
    known = [estimate for estimate in each if isinstance(estimate, Estimate)]
    return BatchEstimate(
        documents=len(found),
        same=sum(one is None for one in each),
        estimate=_sum(known),
        failures=failures,
    )


def os_processors() -> int:
    """How many documents are surveyed at once."""
    return max(1, os.cpu_count() or 1)


def _sum(several: Sequence[Estimate]) -> Estimate:
    classes = Counter[str]()
    for one in several:
        classes.update(one.pages_by_class)
    return Estimate(
        source=f"{len(several)} documents",
        total_pages=sum(one.total_pages for one in several),
        pages_by_class=dict(sorted(classes.items())),
        calls=sum(one.calls for one in several),
        tiers={tier: _tier([one.tiers[tier] for one in several]) for tier in TIERS},
    )


def _tier(several: Sequence[TierEstimate]) -> TierEstimate:
    routes = dict.fromkeys(one.route for one in several if one.route)
    return TierEstimate(
        route=next(iter(routes), None),
        calls=sum(one.calls for one in several),
        input_tokens=sum(one.input_tokens for one in several),
        output_tokens=sum(one.output_tokens for one in several),
        cost_usd=_dollars([one.cost_usd for one in several]),
        cost_usd_dearest_route=_dollars([one.cost_usd_dearest_route for one in several]),
    )


def _dollars(several: Sequence[float | None]) -> float | None:
    """A sum with an unknown price in it would be a lie."""
    return None if None in several else sum(price or 0.0 for price in several)
