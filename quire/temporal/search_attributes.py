"""The search attributes of documents."""

from collections.abc import Sequence
from typing import Literal

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError

from quire.contracts.codes import Code
from quire.domain.errors import QuireError

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
            raise lacks_search_attributes(client.namespace, still, error.message) from None
    return absent


def lacks_search_attributes(namespace: str, names: Sequence[str], why: str = "") -> QuireError:
    """What to say of a namespace that was never prepared for us."""
    because = f" ({why.rstrip('.')})" if why else ""
    room = "; where others took the room, Quire needs a namespace of its own" if why else ""
    return QuireError(
        Code.NOT_READY,
        "SEARCH_ATTRIBUTES",
        f"The namespace {namespace!r} lacks search attributes: {', '.join(names)}{because}.",
        f"An operator runs `quire-worker --register` once{room}.",
    )
