"""Every setting: its name in the environment, its default, and what it takes and refuses."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pydantic import SecretStr

from quire.domain.errors import QuireError
from quire.settings import ProviderSettings, Settings, load_settings
from tests.snapshots.layout import ABSENT, plain
from tests.snapshots.schemas import normalised

# Texts by which times, pauses, sizes, lists, addresses, numbers and switches differ.
PROBES = (
    "0", "-1", "1", "2.5", "1000000", "0s", "90s", "3m", "60d", "10MB", "true", "abc", "a,b",
    "127.0.0.1:9000", ":9000", "s3://bucket/prefix", "ftp://host", "openai:gpt", "local",
)  # fmt: skip
HOME = {"HOME": "/home/someone", "QUIRE_CONFIG": "none"}
VENDOR = "my-vendor"


def record() -> dict[str, Any]:
    return {
        "settings": _fields(Settings, "", HOME),
        "providers": {
            "fields": _fields(ProviderSettings, "MY_VENDOR_", {**HOME, "EXTRA_PROVIDERS": VENDOR}),
            "defaults": _vendors(),
        },
        "places": _places(),
        "empty_is_unset": _empty_is_unset(),
    }


def _load(environment: dict[str, str]) -> Settings:
    with patch.dict(os.environ, environment, clear=True):
        return load_settings()


def _value(settings: Settings, prefix: str, field: str) -> Any:
    value = getattr(settings.providers[VENDOR] if prefix else settings, field)
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return str(value) if isinstance(value, Path | timedelta) else value


def _fields(
    kind: type[Settings | ProviderSettings], prefix: str, environment: dict[str, str]
) -> dict[str, Any]:
    schema = normalised(kind.model_json_schema())["properties"]
    settings = _load(environment)
    fields: dict[str, Any] = {}
    for field in kind.model_fields:
        facts = {"schema": schema[field], "takes": _takes(prefix, field, environment)}
        default = plain(_value(settings, prefix, field))
        if schema[field].get("default", ABSENT) != default:
            facts["default"] = default
        fields[prefix + field.upper()] = facts
    return fields


def _takes(prefix: str, field: str, environment: dict[str, str]) -> Any:
    """What became of the probes; for a text, which are refused or become something else."""
    taken: dict[str, Any] = {}
    for probe in PROBES:
        try:
            settings = _load({**environment, prefix + field.upper(): probe})
        except QuireError:
            continue
        taken[probe] = plain(_value(settings, prefix, field))
    changed = {probe: value for probe, value in taken.items() if value != probe}
    if len(taken) - len(changed) < len(PROBES) / 2:
        return taken
    return {"any text but": [probe for probe in PROBES if probe not in taken], **changed}


def _vendors() -> dict[str, Any]:
    vendors = _load({**HOME, "EXTRA_PROVIDERS": VENDOR}).providers
    return {name: own.model_dump(mode="json") for name, own in vendors.items()}


def _empty_is_unset() -> bool:
    fields = {name.upper(): "" for name in Settings.model_fields}
    return _load({**HOME, **fields}) == _load(HOME)


def _places() -> dict[str, Any]:
    """Where things are kept, by what names the places."""
    asked: dict[str, dict[str, str]] = {
        "nothing": {},
        "XDG_STATE_HOME": {"XDG_STATE_HOME": "/xdg"},
        "STATE_DIR": {"STATE_DIR": "/state"},
        "folders": {"STORE_URL": "file:///a", "RESULTS_URL": "/b"},
        "a cluster and a bucket": {"STORE_URL": "s3://bucket/a/", "TEMPORAL_ADDRESS": "host:1"},
    }
    return {name: _where(_load({**HOME, **extra})) for name, extra in asked.items()}


def _where(settings: Settings) -> dict[str, str]:
    return {
        "store": settings.store_place,
        "results": settings.results_place,
        "cache": str(settings.cache_folder),
    }
