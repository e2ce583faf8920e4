"""Seals secrets and payloads by AES-GCM, with named keys that can be changed while jobs run."""

import base64
import binascii
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from quire.domain import errors
from quire.settings import Settings
from quire.settings.encryption_keys import no_keys, parse_keys

_NONCE = 12
_KEY_FILE = "encryption.key"
_VERSION = "q1"


class KeyRing:
    """The first key seals; all of them open. `context` is bound in: a sealed secret moved to
    another job does not open there."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = {name: AESGCM(key) for name, key in keys.items()}
        self.first = next(iter(keys))

    def seal(self, data: bytes, context: str) -> bytes:
        """Encrypt with the first key; the same data never looks the same twice."""
        nonce = os.urandom(_NONCE)
        return nonce + self._keys[self.first].encrypt(nonce, data, context.encode())

    def open(
        self,
        name: str,
        sealed: bytes,
        context: str,
        refuse: Callable[[str], errors.SealedError] = errors.sealed_secret,
    ) -> bytes:
        """Decrypt with the key of this name, or raise what `refuse` makes of the reason."""
        if name not in self._keys:
            raise refuse(f"The key {name!r} is not known here.")
        try:
            return self._keys[name].decrypt(sealed[:_NONCE], sealed[_NONCE:], context.encode())
        except (InvalidTag, ValueError):
            raise refuse(f"The key {name!r} here is not the one it was sealed with.") from None

    def seal_text(self, text: str, context: str) -> str:
        """A token that may stand in history: version, name of the key, sealed text."""
        sealed = base64.urlsafe_b64encode(self.seal(text.encode(), context)).decode()
        return f"{_VERSION}.{self.first}.{sealed}"

    def open_text(self, token: str, context: str) -> str:
        """The text of a token that `seal_text` made, or `sealed_secret`."""
        version, _, rest = token.partition(".")
        name, _, sealed = rest.rpartition(".")
        if version != _VERSION:
            raise errors.sealed_secret("The sealed secret is of an unknown kind.")
        try:
            return self.open(name, base64.urlsafe_b64decode(sealed), context).decode()
        except binascii.Error:
            raise errors.sealed_secret("The sealed secret is damaged.") from None


def known_keys(settings: Settings) -> dict[str, bytes]:
    """The keys of `ENCRYPTION_KEYS`; on one machine without it, of a file made at first use; in a
    cluster without it there are none."""
    keys = settings.encryption_keys.get_secret_value()
    if not keys:
        if settings.cluster:
            return {}
        keys = _own_key(settings.state_dir.expanduser().absolute() / _KEY_FILE)
    return parse_keys(keys)


def open_keys(settings: Settings) -> KeyRing:
    """The known keys, for sealing and opening; a cluster must have some."""
    ring = find_keys(settings)
    if ring is None:
        raise no_keys()
    return ring


def find_keys(settings: Settings) -> KeyRing | None:
    """The known keys, if there are any."""
    keys = known_keys(settings)
    return KeyRing(keys) if keys else None


def _own_key(path: Path) -> str:
    with errors.disk_errors("STATE_DIR", path.parent):
        _make_key(path)
    return path.read_text().strip()


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=path.parent)  # readable by its owner alone
        part = Path(name)
        try:
            with os.fdopen(handle, "w") as file:
                file.write("own:" + base64.b64encode(os.urandom(32)).decode())
                file.flush()
                os.fsync(file.fileno())
            # A second command may be making one too: the first complete one counts.
            os.link(part, path)
        except FileExistsError:
            pass
        finally:
            part.unlink(missing_ok=True)


_ENCODING = b"binary/encrypted"
_CONTEXT = "payload"
# In place of a payload that could not be decrypted, with the error as its data.
UNREADABLE = "binary/quire-unreadable"


class OpeningCodec(PayloadCodec):
    """Reads payloads, whether they are encrypted or not, and writes them as they are."""

    def __init__(self, ring: Callable[[], KeyRing | None]) -> None:
        # Made when it is needed: on one machine that may make its key file.
        self._ring = ring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Leave them as they are."""
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Decrypt what is encrypted. What cannot be decrypted is handed on as unreadable: raised
        here, it would fail the workflow task also for a signal of a stranger, again and again."""
        return [self._decode(payload) for payload in payloads]

    def _decode(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCODING:
            return payload
        try:
            return self._open(payload)
        except errors.QuireError as error:
            why = error.info
        except DecodeError:
            why = errors.sealed_payload("It holds no payload.").info
        return Payload(
            metadata={"encoding": UNREADABLE.encode()}, data=why.model_dump_json().encode()
        )

    def _open(self, payload: Payload) -> Payload:
        ring = self._ring()
        if ring is None:
            raise errors.sealed_payload("ENCRYPTION_KEYS is not set here.")
        name = payload.metadata.get("key-id", b"").decode(errors="replace")
        opened = ring.open(name, payload.data, _CONTEXT, errors.sealed_payload)
        return Payload.FromString(opened)


class SealingCodec(OpeningCodec):
    """Encrypts payloads. Unencrypted ones are read as they are, so that encryption can be
    switched on while jobs run."""

    def __init__(self, ring: KeyRing) -> None:
        super().__init__(lambda: ring)
        self._sealing = ring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Encrypt each payload whole, its metadata too."""
        return [
            Payload(
                metadata={"encoding": _ENCODING, "key-id": self._sealing.first.encode()},
                data=self._sealing.seal(payload.SerializeToString(), _CONTEXT),
            )
            for payload in payloads
        ]
