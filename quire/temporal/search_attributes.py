"""The search attributes of documents: the one place that names them.

`jobs/submit.py` and the workflow write them, `jobs/list_jobs.py` and the Web UI search by them,
and workers register them with the server.
"""

from typing import Any

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.common import SearchAttributeIndexedValueType, SearchAttributeKey
from temporalio.service import RPCError

from quire.domain import errors

STATUS = SearchAttributeKey.for_keyword("QuireStatus")
USER = SearchAttributeKey.for_keyword("QuireUser")
ENGINE = SearchAttributeKey.for_keyword("QuireEngine")
PAGES = SearchAttributeKey.for_int("QuirePages")
FALLBACK_PAGES = SearchAttributeKey.for_int("QuireFallbackPages")
TIMEOUT = SearchAttributeKey.for_bool("QuireTimeout")
TOKENS = SearchAttributeKey.for_int("QuireTokens")
COST_USD = SearchAttributeKey.for_float("QuireCostUsd")
DOUBTFUL = SearchAttributeKey.for_bool("QuireDoubtful")
CONFIDENCE = SearchAttributeKey.for_float("QuireConfidence")

_KEYS: tuple[SearchAttributeKey[Any], ...] = (
    STATUS, USER, ENGINE, PAGES, FALLBACK_PAGES, TIMEOUT, TOKENS, COST_USD, DOUBTFUL,
    CONFIDENCE,
)  # fmt: skip
# As `temporal operator search-attribute create --type` has them.
_TYPES = {
    SearchAttributeIndexedValueType.KEYWORD: "Keyword",
    SearchAttributeIndexedValueType.INT: "Int",
    SearchAttributeIndexedValueType.DOUBLE: "Double",
    SearchAttributeIndexedValueType.BOOL: "Bool",
}
# Name and type of each, for those who register them.
SEARCH_ATTRIBUTES = {key.name: _TYPES[key.indexed_value_type] for key in _KEYS}


async def absent_search_attributes(client: Client) -> list[str]:
    """The search attributes that the namespace lacks."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return [name for name in sorted(SEARCH_ATTRIBUTES) if name not in listed.custom_attributes]


async def register_search_attributes(client: Client) -> list[str]:
    """Add the search attributes that the namespace lacks; returns the added names.

    Documents could not end without them, so `QuireError` when the server does not take them.
    """
    absent = await absent_search_attributes(client)
    if not absent:
        return []
    types = {
        name: IndexedValueType.Value(f"INDEXED_VALUE_TYPE_{SEARCH_ATTRIBUTES[name].upper()}")
        for name in absent
    }
    try:
        await client.operator_service.add_search_attributes(
            AddSearchAttributesRequest(namespace=client.namespace, search_attributes=types)
        )
    except RPCError as error:
        # Another worker may have been quicker.
        if still := await absent_search_attributes(client):
            raise errors.search_attributes_missing(client.namespace, still, error.message) from None
    return absent
