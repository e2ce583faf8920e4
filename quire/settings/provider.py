"""The settings of one provider, which have the provider's name as their prefix."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, SecretStr, ValidationError

from quire.contracts.names import setting_name
from quire.domain.units import parse_duration
from quire.settings.base import SettingsModel
from quire.settings.explain_error import explain

_TIERS = ("primary", "secondary", "fast")


class ProviderSettings(SettingsModel):
    """One provider's own settings, the same for every vendor and every extra provider."""

    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout: Annotated[float, BeforeValidator(parse_duration)] | None = None
    primary_model: str = ""
    secondary_model: str = ""
    fast_model: str = ""

    @property
    def models(self) -> dict[str, str]:
        """The models by tier, without the tiers that have none."""
        named = {tier: getattr(self, f"{tier}_model") for tier in _TIERS}
        return {tier: model for tier, model in named.items() if model}


def missing(name: str, provider: ProviderSettings) -> str:
    """What a provider lacks before it can be called; empty when nothing.

    A server of one's own needs no key, so a base URL alone is enough.
    """
    if not provider.api_key and not provider.base_url:
        return f"{setting_name(name, 'api_key')} is not set"
    return ""


def read_provider(
    name: str,
    default_models: Mapping[str, str],
    values: Mapping[str, str],
    labels: Mapping[str, str],
) -> ProviderSettings:
    """A provider's settings among all values; models by tier where none is named."""
    prefix = setting_name(name, "")
    fields = {field: prefix + field.upper() for field in ProviderSettings.model_fields}
    given: dict[str, str] = {f"{tier}_model": model for tier, model in default_models.items()}
    given |= {field: values[full] for field, full in fields.items() if full in values}
    try:
        return ProviderSettings.model_validate(given)
    except ValidationError as error:
        raise explain(error, labels, prefix) from None
