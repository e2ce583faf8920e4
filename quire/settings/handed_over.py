"""Settings as they are handed to a process that must not depend on who happened to start it.

They go as they were read, so files and variables that change meanwhile, or a working folder that
goes away, are no concern of it. Libraries read some variables themselves; those go along.
"""

import os
from collections.abc import Iterator

from pydantic import SecretStr

from quire.contracts.names import setting_name
from quire.settings.names import AWS, Names
from quire.settings.settings import Settings

# What any program needs to find its own parts.
_PLAIN = (
    "PATH", "HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME",
    "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV",
)  # fmt: skip
# What libraries read themselves and what decides how they reach the world, beside settings.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_FAMILIES = ("AWS_", "OTEL_", "SSL_CERT_", "REQUESTS_CA_", "CURL_CA_")
# Of the process alone, or of who asks: a document is read the same whatever they are.
_NOT_OF_WORKERS = {
    "state_dir", "temporal_address", "log_level", "log_format", "metrics_address",
    "health_address", "service_mode", "service_idle", "ui_port_number",
}  # fmt: skip
_SHOWN = 60
_PLACES = ("store_url", "results_url")


def plain_environment() -> dict[str, str]:
    """The environment of a background program: nothing of who started it, and no secret."""
    kept = {name: os.environ[name] for name in _PLAIN if name in os.environ}
    return {**kept, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def absolute_settings(settings: Settings) -> Settings:
    """The settings with absolute places: they do not depend on a working folder."""
    state_dir = settings.state_dir.expanduser().absolute()
    return settings.model_copy(update={"state_dir": state_dir, **dict(_places(settings))})


def library_variables(settings: Settings) -> dict[str, str]:
    """The variables that libraries read themselves, such as those of proxies."""
    return dict(_library_variables(settings))


def worker_values(settings: Settings) -> dict[str, str]:
    """What decides how a worker works, by name, as text; secrets are among it."""
    own = {
        field.upper(): _text(getattr(settings, field))
        for field in Settings.model_fields
        if field not in _NOT_OF_WORKERS
    }
    own |= {name.upper(): place for name, place in _places(settings)}
    for provider, values in settings.providers.items():
        own |= {setting_name(provider, field): _text(value) for field, value in values}
    passed = {name: text for name, text in settings._values.items() if name in AWS}
    return {**own, **dict(_library_variables(settings)), **passed}


def _places(settings: Settings) -> Iterator[tuple[str, str]]:
    for field in _PLACES:
        place = getattr(settings, field.replace("_url", "_place"))
        yield field, place if getattr(settings, field) else ""


def _library_variables(settings: Settings) -> Iterator[tuple[str, str]]:
    """Those of vendors' and other libraries, which are not settings of ours."""
    families = (*_FAMILIES, *(setting_name(provider, "") for provider in settings.providers))
    for name, text in os.environ.items():
        if name.upper() in _PROXIES or (
            name.startswith(families) and not _is_setting(settings, name)
        ):
            yield name, text


def _is_setting(settings: Settings, name: str) -> bool:
    """Ours are handed over as values; what boto3 reads goes as it is, with all that belongs to
    it."""
    return name in settings._values and not name.startswith(("AWS_", "OTEL_"))


def _text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return "" if value is None else str(value)


def shown_values(settings: Settings) -> dict[str, str]:
    """What is not at its default, for people: of secrets, and of what other libraries read, only
    that it is set."""
    usual, names = worker_values(Settings()), Names(settings.extra_providers)
    open_names = names.lists | set(usual)
    return {
        name: "(set)" if names.is_secret(name) or name not in open_names else _cut(text)
        for name, text in sorted(worker_values(settings).items())
        if text and text != usual.get(name)
    }


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
