"""Refuses settings that are allowed one by one and impossible together."""

import re

from quire.contracts.names import LOCAL_PROVIDER
from quire.domain.errors import SettingsError
from quire.providers.registry import PROVIDERS
from quire.settings.encryption_keys import no_keys, parse_keys
from quire.settings.settings import OTLP, Settings


def refuse_impossible(settings: Settings) -> None:
    """Raise `SettingsError` for the first setting that the others rule out."""
    _check_backoff(settings)
    _check_pixels(settings)
    _check_extra_providers(settings)
    _check_routes(settings)
    _check_traces(settings)
    _check_encryption(settings)
    _check_places(settings)
    _check_roots(settings)


def _check_backoff(settings: Settings) -> None:
    if settings.breaker_max_backoff < settings.breaker_base_backoff:
        raise SettingsError(
            "BREAKER_MAX_BACKOFF",
            "it is shorter than BREAKER_BASE_BACKOFF",
            "the same or longer",
        )


def _check_pixels(settings: Settings) -> None:
    if 0 < settings.image_max_pixels < settings.image_min_pixels:
        raise SettingsError(
            "IMAGE_MAX_PIXELS", "it is less than IMAGE_MIN_PIXELS", "the same or more, or 0"
        )


def _check_extra_providers(settings: Settings) -> None:
    for name in settings.extra_providers:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or name in (LOCAL_PROVIDER, *PROVIDERS):
            raise SettingsError(
                "EXTRA_PROVIDERS",
                f"{name!r} cannot be a provider's name",
                "names such as deepinfra",
            )


def _check_routes(settings: Settings) -> None:
    known = {*settings.providers, LOCAL_PROVIDER}
    for name in ("primary_engine", "secondary_engine"):
        if getattr(settings, name) not in known:
            raise SettingsError(
                name.upper(),
                f"{getattr(settings, name)!r} is not a provider",
                ", ".join(sorted(known)),
            )
    for entry in settings.route_chain:
        provider, _, model = entry.partition(":")
        if provider not in known or not model:
            raise SettingsError(
                "ROUTE_CHAIN",
                f"{entry!r} is not a route",
                f"provider:model, with a provider of {', '.join(sorted(known))}",
            )


def _check_traces(settings: Settings) -> None:
    """Spans that silently go nowhere would be missed when they are needed."""
    if not settings.tracing:
        return
    if settings.otel_traces_exporter != "otlp":
        problem = f"{settings.otel_traces_exporter!r} is not supported"
        raise SettingsError("OTEL_TRACES_EXPORTER", problem, "otlp or none")
    name = "otel_exporter_otlp_traces_protocol"
    if not settings.otel_exporter_otlp_traces_protocol:
        name = "otel_exporter_otlp_protocol"
    if getattr(settings, name) != OTLP:
        raise SettingsError(name.upper(), f"{getattr(settings, name)!r} is not supported", OTLP)


def _check_encryption(settings: Settings) -> None:
    keys = settings.encryption_keys.get_secret_value()
    if keys:
        parse_keys(keys)
    elif settings.encrypt_payloads and settings.cluster:
        raise no_keys()


def _check_places(settings: Settings) -> None:
    for name in ("store_url", "results_url"):
        scheme, found, _ = getattr(settings, name).partition("://")
        if found and scheme not in ("file", "s3"):
            raise SettingsError(
                name.upper(), f"{scheme}:// is not supported", "a folder, or s3://bucket/prefix"
            )
        if scheme == "s3" and not getattr(settings, name).removeprefix("s3://").strip("/"):
            raise SettingsError(name.upper(), "it names no bucket", "s3://bucket/prefix")


def _check_roots(settings: Settings) -> None:
    for root in settings.source_roots:
        if not root.startswith("/") or not root.strip("/"):
            raise SettingsError(
                "SOURCE_ROOTS",
                f"{root!r} is not a folder to read from",
                "absolute folders, comma-separated, and not the whole machine",
            )
