"""The search attributes of a document at its end."""

from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeUpdate

with workflow.unsafe.imports_passed_through():
    from quire.contracts.results import ResultMetadata
    from quire.domain.cost import Spending
    from quire.temporal import search_attributes as key


def attributes_of_result(meta: ResultMetadata, engine: str) -> list[SearchAttributeUpdate[Any]]:
    """What lists show of a document that has its text."""
    return [
        key.STATUS.value_set("completed"),
        key.PAGES.value_set(meta.total_pages),
        key.FALLBACK_PAGES.value_set(meta.pages_failed),
        key.TIMEOUT.value_set(meta.timeout_occurred),
        *_bill(meta.input_tokens + meta.output_tokens, meta.cost_usd),
        # A client of a cluster could only guess it.
        key.ENGINE.value_set(engine),
    ]


def attributes_of_failure(spent: Spending) -> list[SearchAttributeUpdate[Any]]:
    """What lists show of a job without a document; pages may have been paid for all the same."""
    return [key.STATUS.value_set("failed"), *_bill(spent.tokens, spent.dollars)]


def _bill(tokens: int, cost_usd: float | None) -> list[SearchAttributeUpdate[Any]]:
    cost = key.COST_USD
    return [
        key.TOKENS.value_set(tokens),
        cost.value_unset() if cost_usd is None else cost.value_set(cost_usd),
    ]
