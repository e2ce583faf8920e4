"""The settings of a client."""

from collections.abc import Mapping

from quire.domain.errors import UsageError
from quire.settings import Settings, load_settings


def client_settings(settings: Settings | None, given: Mapping[str, object]) -> Settings:
    """A settings object as it is, or the environment with what was given by name."""
    if settings is None:
        return load_settings(given)
    if given:
        raise UsageError(
            "A client takes a Settings object or settings by name, not both.",
            "Leave one of them out.",
        )
    return settings
