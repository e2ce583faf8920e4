"""Frozen settings; the only reader of the environment.

Unknown values and impossible ones are refused at start with the setting's name and what is
allowed. Names are those of the environment, in lower case.
"""

import os

from pydantic import ValidationError

from quire.contracts.names import setting_name
from quire.settings.checks import refuse_impossible
from quire.settings.explain_error import explain
from quire.settings.provider import ProviderSettings, missing
from quire.settings.settings import Settings

__all__ = [
    "ProviderSettings",
    "Settings",
    "forget_password",
    "load_settings",
    "missing",
    "setting_name",
]


def load_settings() -> Settings:
    """The settings, or `SettingsError` with the first that is wrong."""
    try:
        settings = Settings()
        _ = settings.providers
    except ValidationError as error:
        raise explain(error) from None
    refuse_impossible(settings)
    return settings


def forget_password() -> None:
    """Remove the document's password: the server and child processes inherit the environment."""
    os.environ.pop("QUIRE_PASSWORD", None)
