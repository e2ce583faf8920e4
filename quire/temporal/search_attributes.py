"""The search attributes of documents."""

from typing import Literal

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError

from quire.domain import errors

SEARCH_ATTRIBUTES: dict[str, Literal["Keyword", "Int", "Double", "Bool"]] = {
    "QuireStatus": "Keyword",
    "QuireUser": "Keyword",
    "QuireEngine": "Keyword",
    "QuirePages": "Int",
    "QuireFallbackPages": "Int",
    "QuireTimeout": "Bool",
    "QuireTokens": "Int",
    "QuireCostUsd": "Double",
}


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
