"""Named encryption keys, as a setting writes them."""

import base64
import binascii

from quire.domain.errors import SettingsError

HOW = "id:key pairs, comma-separated, each key 32 random bytes in base64"


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


def no_keys() -> SettingsError:
    """Others share the cluster, so a key that only one machine has would open nothing."""
    return SettingsError("ENCRYPTION_KEYS", "a cluster's secrets need a key and none is set", HOW)
