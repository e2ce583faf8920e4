"""Signs the start of a job: only who has the keys of the cluster, or its store, can make one.

The signature covers every field of the request and the workflow id, and travels in a header of the
start. Workers verify it in `quire/temporal/start_guard.py`.
"""

import base64
import binascii
import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from typing import Any, Protocol

from temporalio.client import (
    Interceptor,
    OutboundInterceptor,
    StartWorkflowInput,
    WorkflowHandle,
)
from temporalio.converter import DataConverter

from quire.contracts.carried import DocumentRun
from quire.contracts.document import DocumentRequest
from quire.contracts.names import SIGNATURE_HEADER, SIGNING_KEY
from quire.settings import Settings
from quire.temporal.encryption import known_keys

_VERSION = "q1"
# What the keys also encrypt is never the same message.
_PURPOSE = b"quire: start of a job\0"
_KEY_BYTES = 32
_STORED = "store"
Keys = Mapping[str, bytes]


class KeyPlace(Protocol):
    """The part of a store in which the signing key is kept."""

    async def get(self, key: str) -> bytes | None:
        """The object, or None."""
        ...

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object; without `replace`, the first writer wins."""
        ...


class StartKeys:
    """The keys that sign starts: `ENCRYPTION_KEYS`, or the key file of a single machine, or in a
    cluster without them one key in the store that its first client makes."""

    def __init__(self, settings: Settings, place: KeyPlace) -> None:
        self._settings = settings
        self._place = place

    async def read(self, *, create: bool) -> Keys:
        """The keys by name, the one that signs first; none when there are none and none is to be
        created."""
        if known := known_keys(self._settings):
            return known
        key = await self._place.get(SIGNING_KEY)
        if create and (key is None or len(key) != _KEY_BYTES):
            # A damaged key would stop every start: a new one does as well.
            damaged = key is not None
            await self._place.put(SIGNING_KEY, os.urandom(_KEY_BYTES), replace=damaged)
            # Another client may have been quicker: what is stored counts.
            key = await self._place.get(SIGNING_KEY)
        if key is None:
            return {}
        if len(key) != _KEY_BYTES:
            raise OSError(f"{SIGNING_KEY} in the store is damaged: remove it")
        return {_STORED: key}


def sign(keys: Keys, request: DocumentRequest, workflow_id: str) -> str:
    """The signature by the first key, with the key's name."""
    name, key = next(iter(keys.items()))
    digest = base64.urlsafe_b64encode(_digest(key, request, workflow_id)).decode()
    return f"{_VERSION}.{name}.{digest}"


def is_signed(keys: Keys, signature: str, request: DocumentRequest, workflow_id: str) -> bool:
    """Whether one of the keys made this signature for this request under this id."""
    version, _, rest = signature.partition(".")
    name, _, encoded = rest.rpartition(".")
    key = keys.get(name)
    if version != _VERSION or key is None:
        return False
    try:
        digest = base64.urlsafe_b64decode(encoded)
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(digest, _digest(key, request, workflow_id))


def _digest(key: bytes, request: DocumentRequest, workflow_id: str) -> bytes:
    """Fields at their default are left out: a field that a newer worker knows and an older client
    does not changes nothing."""
    fields = request.model_dump(
        mode="json", include=set(DocumentRequest.model_fields), exclude_defaults=True
    )
    message = json.dumps([workflow_id, fields], sort_keys=True, ensure_ascii=True)
    return hmac.new(key, _PURPOSE + message.encode(), hashlib.sha256).digest()


class SignStarts(Interceptor):
    """Makes a client sign the jobs that it starts."""

    def __init__(self, keys: StartKeys) -> None:
        self._keys = keys

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:
        """Add the signature to every start."""
        return _SigningOutbound(next, self._keys)


class _SigningOutbound(OutboundInterceptor):
    def __init__(self, next: OutboundInterceptor, keys: StartKeys) -> None:
        super().__init__(next)
        self._keys = keys

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:
        if len(input.args) == 1 and isinstance(input.args[0], DocumentRun):
            keys = await self._keys.read(create=True)
            signature = sign(keys, input.args[0], input.id)
            [payload] = DataConverter.default.payload_converter.to_payloads([signature])
            input.headers = {**input.headers, SIGNATURE_HEADER: payload}
        return await super().start_workflow(input)
