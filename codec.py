"""Encrypts every payload before it leaves the process (`ENCRYPT_PAYLOADS`)."""

from collections.abc import Sequence

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from sealing import KeyRing

_ENCODING = b"binary/encrypted"
_CONTEXT = "payload"


class SealingCodec(PayloadCodec):
    """What is not encrypted is read as it is, so that it can be switched on under way."""

    def __init__(self, ring: KeyRing) -> None:
        self._ring = ring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [
            Payload(
                metadata={"encoding": _ENCODING, "key-id": self._ring.first.encode()},
                data=self._ring.seal(payload.SerializeToString(), _CONTEXT),
            )
            for payload in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._decode(payload) for payload in payloads]

    def _decode(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCODING:
            return payload
        name = payload.metadata.get("key-id", b"").decode()
        return Payload.FromString(self._ring.open(name, payload.data, _CONTEXT))
