"""Frozen settings; the only reader of the environment and of the files beside it.

Unknown values and impossible ones are refused at start with the setting's name and what is
allowed. Names are those of the environment, in lower case.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from quire.contracts.names import setting_name
from quire.settings.checks import refuse_impossible
from quire.settings.explain_error import explain
from quire.settings.layers import resolve
from quire.settings.lend_environment import lend_environment
from quire.settings.names import CONFIG, PASSWORD
from quire.settings.provider import ProviderSettings, missing
from quire.settings.settings import Settings

__all__ = [
    "ProviderSettings",
    "Settings",
    "forget_password",
    "lend_environment",
    "load_settings",
    "missing",
    "setting_name",
    "use_config",
]


def load_settings(
    overrides: Mapping[str, object] | None = None, *, config: str | None = None
) -> Settings:
    """The settings, or `SettingsError` with the first that is wrong.

    `overrides` come before all else, by names as in `quire.toml`; an empty one stands for the
    default. `config` is a file as with `--config`, or "none".
    """
    resolved = resolve(overrides or {}, config)
    values = {name: given.text for name, given in resolved.values.items()}
    labels = {name: given.label for name, given in resolved.values.items()}
    own = {
        field: values[field.upper()] for field in Settings.model_fields if field.upper() in values
    }
    try:
        settings = Settings.model_validate(own)
    except ValidationError as error:
        raise explain(error, labels) from None
    settings._values, settings._labels = values, labels
    settings._files, settings._exposed_files = resolved.files, resolved.exposed
    _ = settings.providers
    refuse_impossible(settings)
    return settings


def use_config(file: str) -> None:
    """Read settings from this file, also in the processes that this one starts."""
    os.environ[CONFIG] = file if file == "none" else str(Path(file).expanduser().absolute())


def forget_password() -> None:
    """Remove the document's password: the server and child processes inherit the environment."""
    os.environ.pop(PASSWORD, None)
