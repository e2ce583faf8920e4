"""Settings that a program gives by name; the environment has the others."""

import difflib
from collections.abc import Mapping

from pydantic import ValidationError

from quire.domain.errors import SettingsError
from quire.settings.explain_error import explain
from quire.settings.provider import ProviderSettings, setting_name
from quire.settings.settings import Settings


def own_settings(given: Mapping[str, object]) -> dict[str, object]:
    """Those that are not a provider's; None means that a setting was not given."""
    return {
        name: value
        for name, value in given.items()
        if name in Settings.model_fields and value is not None
    }


def use_provider_settings(settings: Settings, given: Mapping[str, object]) -> None:
    """Give providers those with their prefix, as in `openai_api_key`; refuse unknown names."""
    places = {
        setting_name(provider, field).lower(): (provider, field)
        for provider in settings.providers
        for field in ProviderSettings.model_fields
    }
    for name, value in given.items():
        if name in Settings.model_fields:
            continue
        if name not in places:
            raise _unknown(name, (*Settings.model_fields, *places))
        if value is not None:
            provider, field = places[name]
            # The dictionary of a frozen object, which is not shared before this returns.
            settings.providers[provider] = _with(
                settings.providers[provider], provider, field, value
            )


def _with(own: ProviderSettings, provider: str, field: str, value: object) -> ProviderSettings:
    prefix = setting_name(provider, "")
    try:
        # With the provider's own prefix, or variables such as TIMEOUT would be read as its own.
        checked = ProviderSettings(  # type: ignore[call-arg]
            _env_prefix=prefix,
            _env_ignore_empty=True,
            **{field: value},  # type: ignore[arg-type]
        )
    except ValidationError as error:
        raise explain(error, prefix) from None
    return own.model_copy(update={field: getattr(checked, field)})


def _unknown(name: str, known: tuple[str, ...]) -> SettingsError:
    near = difflib.get_close_matches(name.lower(), known, 3)
    return SettingsError(
        name, "there is no such setting", " or ".join(near) or "see docs/settings.md"
    )
