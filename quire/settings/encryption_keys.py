"""How a setting writes named encryption keys. `quire/temporal/encryption.py` has all the rest.

The two stay apart because settings are checked at every start, and that file needs both the
settings and a cipher library.
"""

import base64
import binascii

from quire.domain.errors import SettingsError

HOW = "id:key pairs, comma-separated, each key 32 random bytes in base64"


def parse_keys(text: str) -> dict[str, bytes]:
    """The keys of `id:base64,...`; a refusal names the entry and never the key."""
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


def no_keys() -> SettingsError:
    """The refusal where none is set. A key made on one machine would open nothing on another."""
    return SettingsError("ENCRYPTION_KEYS", "a cluster's secrets need a key and none is set", HOW)
