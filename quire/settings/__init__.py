"""Frozen settings; the only reader of the environment.

Unknown values and impossible ones are refused at start with the setting's name and what is
allowed. Names are those of the environment, in lower case.
"""

import os
from collections.abc import Mapping

from pydantic import ValidationError

from quire.settings.checks import refuse_impossible
from quire.settings.explain_error import explain
from quire.settings.given import own_settings, use_provider_settings
from quire.settings.provider import ProviderSettings, missing, setting_name
from quire.settings.settings import Settings

__all__ = [
    "ProviderSettings",
    "Settings",
    "forget_password",
    "load_settings",
    "missing",
    "setting_name",
]


def load_settings(given: Mapping[str, object] | None = None) -> Settings:
    """The settings, or `SettingsError` with the first that is wrong.

    Those that a program has `given` by name take precedence over the environment.
    """
    given = given or {}
    try:
        settings = Settings(**own_settings(given))  # type: ignore[arg-type]
        use_provider_settings(settings, given)
    except ValidationError as error:
        raise explain(error) from None
    refuse_impossible(settings)
    return settings


def forget_password() -> None:
    """Remove the document's password: the server and child processes inherit the environment."""
    os.environ.pop("QUIRE_PASSWORD", None)
