"""Secrets under lock: AES-GCM with named keys, so that keys can be changed while jobs run."""

import base64
import binascii
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import Code, QuireError, SettingsError

HOW = "id:key pairs, comma-separated, each key 32 random bytes in base64"
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
        nonce = os.urandom(_NONCE)
        return nonce + self._keys[self.first].encrypt(nonce, data, context.encode())

    def open(self, name: str, sealed: bytes, context: str) -> bytes:
        if name not in self._keys:
            raise _shut(f"The key {name!r} is not known here.")
        try:
            return self._keys[name].decrypt(sealed[:_NONCE], sealed[_NONCE:], context.encode())
        except (InvalidTag, ValueError):
            raise _shut(f"The key {name!r} here is not the one it was sealed with.") from None

    def seal_text(self, text: str, context: str) -> str:
        """A token that may stand in history: version, name of the key, sealed text."""
        sealed = base64.urlsafe_b64encode(self.seal(text.encode(), context)).decode()
        return f"{_VERSION}.{self.first}.{sealed}"

    def open_text(self, token: str, context: str) -> str:
        version, _, rest = token.partition(".")
        name, _, sealed = rest.rpartition(".")
        if version != _VERSION:
            raise _shut("The sealed secret is of an unknown kind.")
        try:
            return self.open(name, base64.urlsafe_b64decode(sealed), context).decode()
        except binascii.Error:
            raise _shut("The sealed secret is damaged.") from None


def key_ring(keys: str, state_dir: Path, *, cluster: bool) -> KeyRing:
    """From `ENCRYPTION_KEYS`; on one machine without it, from a file made at its first use."""
    if keys:
        return KeyRing(parse_keys(keys))
    if cluster:
        raise SettingsError(
            "ENCRYPTION_KEYS", "a cluster's secrets need a key and none is set", HOW
        )
    return KeyRing(parse_keys(_own_key(state_dir.expanduser().absolute() / _KEY_FILE)))


def parse_keys(text: str) -> dict[str, bytes]:
    """`id:base64,...`; what is wrong is said without the key itself."""
    keys: dict[str, bytes] = {}
    for number, entry in enumerate(text.split(","), start=1):
        name, _, encoded = entry.strip().partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            key = b""
        if not name or len(key) != 32 or name in keys:
            raise SettingsError("ENCRYPTION_KEYS", f"entry {number} is not a key", HOW)
        keys[name] = key
    return keys


def _own_key(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=path.parent)  # readable by its owner alone
        part = Path(name)
        try:
            with os.fdopen(handle, "w") as file:
                file.write("own:" + base64.b64encode(os.urandom(32)).decode())
                file.flush()
                os.fsync(file.fileno())
            # A second command may be making one too: the first one counts, whole.
            os.link(part, path)
        except FileExistsError:
            pass
        finally:
            part.unlink(missing_ok=True)
    return path.read_text().strip()


def _shut(message: str) -> QuireError:
    return QuireError(
        Code.IO_ERROR,
        "SEALED",
        f"A secret of this job cannot be opened. {message}",
        "Give every worker and client the same ENCRYPTION_KEYS; keep old keys while jobs use them.",
    )
