"""Every vendor that Quire knows. A new one is a file beside this one and an entry here."""

from dataclasses import replace

from quire.providers.anthropic import ANTHROPIC
from quire.providers.openai import OPENAI
from quire.providers.spec import ProviderSpec

PROVIDERS: dict[str, ProviderSpec] = {spec.name: spec for spec in (OPENAI, ANTHROPIC)}
#: What an extra provider speaks, since most servers of others and of one's own speak it.
COMPATIBLE = OPENAI


def spec_of(name: str) -> ProviderSpec:
    """A vendor's own entry, or for an extra provider the compatible one under its name."""
    if name in PROVIDERS:
        return PROVIDERS[name]
    # An extra provider has its own models and its own place.
    return replace(COMPATIBLE, name=name, models={}, public_url="")
