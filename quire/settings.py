"""Frozen settings; the only reader of the environment.

Unknown values and impossible ones are refused at start with the setting's name and what is
allowed. Names are those of the environment, lower-cased.
"""

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from quire.contracts.names import LOCAL_PROVIDER
from quire.contracts.plan import PlanDefaults
from quire.contracts.reading import ImageOptions
from quire.contracts.routing import BreakerPolicy, DispatchPolicy, ProviderPlan
from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT
from quire.domain.encryption_keys import no_keys, parse_keys
from quire.domain.errors import SettingsError
from quire.domain.setting_errors import explain
from quire.domain.units import parse_address, parse_duration, parse_list, parse_pause, parse_size

VENDORS = ("openai", "anthropic")
# The one of OTLP's protocols that we speak.
OTLP = "http/protobuf"
_TIERS = ("primary", "secondary", "fast")


Address = Annotated[str, BeforeValidator(parse_address)]
Duration = Annotated[float, BeforeValidator(parse_duration)]
Pause = Annotated[float, BeforeValidator(parse_pause)]
Size = Annotated[int, BeforeValidator(parse_size)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(parse_list)]


class ProviderSettings(BaseSettings):
    """One vendor's own settings; an extra OpenAI-compatible one has the same names."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    api_key: SecretStr | None = None
    base_url: str | None = None
    timeout: Duration | None = None
    primary_model: str = ""
    secondary_model: str = ""
    fast_model: str = ""

    @property
    def models(self) -> dict[str, str]:
        named = {tier: getattr(self, f"{tier}_model") for tier in _TIERS}
        return {tier: model for tier, model in named.items() if model}


class Settings(BaseSettings):
    """Every setting with its default; docs/settings.md lists them for people."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    document_processing_timeout: Duration = Field(default="3m", validate_default=True)
    request_timeout: Duration = Field(default="60s", validate_default=True)

    breaker_base_backoff: Duration = Field(default="30s", validate_default=True)
    breaker_max_backoff: Duration = Field(default="5m", validate_default=True)
    breaker_trip: Literal["first", "window"] = "first"
    circuit_window: int = Field(default=20, ge=1, le=1000)
    circuit_fail_threshold: float = Field(default=0.5, gt=0, le=1)

    dispatch_mode: Literal["fail_fast", "hold"] = "fail_fast"
    when_busy: Literal["spill", "wait"] = "spill"
    retry_max_attempts: int = Field(default=3, ge=1, le=20)
    retry_base_delay: Pause = Field(default="5s", validate_default=True)
    retry_jitter_max: Pause = Field(default="5s", validate_default=True)
    page_window: int = Field(default=32, ge=1, le=200)

    worker_concurrency: int = Field(default=8, ge=1, le=1000)
    max_inflight_per_model: int = Field(default=2, ge=1, le=200)

    image_send_all_pages: bool = False
    image_dpi: int = Field(default=100, ge=36, le=600)
    image_color: Literal["rgb", "gray"] = "rgb"
    image_format: Literal["jpeg", "png", "webp"] = "jpeg"
    image_jpeg_quality: int = Field(default=70, ge=1, le=100)
    image_context_radius: int = Field(default=1, ge=0, le=10)
    image_max_context_bytes: int = Field(default=3000, ge=0, le=200_000)

    primary_engine: str = "openai"
    secondary_engine: str = "anthropic"
    extra_providers: Names = ()
    route_chain: Names = ()
    local_ocr: Literal["auto", "always", "never"] = "auto"
    ai_system_prompt: str = DEFAULT_SYSTEM_PROMPT

    max_file_size: Size = Field(default="200MB", validate_default=True)
    max_pages: int = Field(default=5000, ge=1, le=50_000)
    max_images: int = Field(default=200, ge=1, le=5000)

    source_timeout: Duration = Field(default="2m", validate_default=True)
    allow_private_urls: bool = False

    store_url: str = ""
    results_url: str = ""
    source_cache_size: Size = Field(default="5GB", validate_default=True)
    state_dir: Path = Field(
        default_factory=lambda: (
            Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "quire"
        )
    )

    temporal_address: str = ""
    temporal_namespace: str = "default"

    encryption_keys: SecretStr = SecretStr("")
    encrypt_payloads: bool = False

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"
    metrics_address: Address = ""
    health_address: Address = ""
    worker_build_id: str = ""

    # The exporter reads these and the other OTEL_* settings itself; here they switch it on.
    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_traces_endpoint: str = ""
    otel_exporter_otlp_protocol: str = OTLP
    otel_exporter_otlp_traces_protocol: str = ""
    otel_traces_exporter: str = "otlp"
    otel_sdk_disabled: bool = False
    otel_service_name: str = "quire"

    @cached_property
    def providers(self) -> dict[str, ProviderSettings]:
        """Every vendor by name, each with its own prefix in the environment."""
        defaults = {
            "openai": {
                "primary_model": "gpt-6.1-sol",
                "secondary_model": "gpt-6.1-terra",
                "fast_model": "gpt-6-luna",
            },
            "anthropic": {
                "primary_model": "claude-sonnet-5-5",
                "secondary_model": "claude-opus-5-5",
                "fast_model": "claude-haiku-5-5",
            },
        }
        return {
            name: _read_provider(name, defaults.get(name, {}))
            for name in (*VENDORS, *self.extra_providers)
        }

    @property
    def tracing(self) -> bool:
        named = self.otel_exporter_otlp_endpoint or self.otel_exporter_otlp_traces_endpoint
        wanted = self.otel_traces_exporter != "none" and not self.otel_sdk_disabled
        return bool(named) and wanted

    def timeout_of(self, provider: str) -> float:
        own = self.providers[provider].timeout if provider in self.providers else None
        return own or self.request_timeout

    @property
    def cluster(self) -> bool:
        """A server that others use too, with workers that may be anywhere."""
        return bool(self.temporal_address)

    @property
    def store_place(self) -> str:
        """`s3://bucket/prefix`, or an absolute folder."""
        return self._place(self.store_url, "store")

    @property
    def results_place(self) -> str:
        """Where results go that have no bucket of their own."""
        if not self.results_url and self.cluster and self.store_url.startswith("s3://"):
            # A worker's own disk would be out of the client's reach.
            return f"{self.store_url.rstrip('/')}/results"
        return self._place(self.results_url, "results")

    def _place(self, url: str, name: str) -> str:
        if url.startswith("s3://"):
            return url
        if not url:
            return str(self.state_dir.expanduser().absolute() / name)
        return str(Path(url.removeprefix("file://")).expanduser().absolute())

    @property
    def cache_folder(self) -> Path:
        return self.state_dir.expanduser().absolute() / "cache"

    def plan_defaults(self, *, local_missing: str, local_limit: int) -> PlanDefaults:
        """What a document's plan takes from the settings."""
        return PlanDefaults(
            engine=self.primary_engine,
            other_engine=self.secondary_engine,
            providers={
                name: ProviderPlan(
                    models=own.models, timeout_s=self.timeout_of(name), missing=missing(name, own)
                )
                for name, own in self.providers.items()
            },
            route_chain=self.route_chain,
            local_ocr=self.local_ocr,
            local_missing="LOCAL_OCR is never" if self.local_ocr == "never" else local_missing,
            limit=self.max_inflight_per_model,
            local_limit=local_limit,
            local_timeout_s=max(120.0, self.request_timeout),
            deadline_s=self.document_processing_timeout,
            breaker=BreakerPolicy(
                trip=self.breaker_trip,
                base_backoff_s=self.breaker_base_backoff,
                max_backoff_s=self.breaker_max_backoff,
                window=self.circuit_window,
                threshold=self.circuit_fail_threshold,
            ),
            dispatch=DispatchPolicy(
                mode=self.dispatch_mode,
                when_busy=self.when_busy,
                window=self.page_window,
                max_rounds=self.retry_max_attempts,
                base_delay_s=self.retry_base_delay,
                jitter_max_s=self.retry_jitter_max,
            ),
            image=ImageOptions(
                dpi=self.image_dpi,
                color=self.image_color,
                format=self.image_format,
                jpeg_quality=self.image_jpeg_quality,
            ),
            system_prompt=self.ai_system_prompt,
            context_radius=self.image_context_radius,
            context_bytes=self.image_max_context_bytes,
            every_page=self.image_send_all_pages,
        )


def missing(name: str, provider: ProviderSettings) -> str:
    """What a provider lacks before it can be called; empty when nothing.

    A server of one's own needs no key, so a base URL alone is enough.
    """
    prefix = name.upper().replace("-", "_")
    if not provider.api_key and not provider.base_url:
        return f"{prefix}_API_KEY is not set"
    return ""


def load_settings() -> Settings:
    """The settings, or `SettingsError` with the first that is wrong."""
    try:
        settings = Settings()
        _ = settings.providers
    except ValidationError as error:
        raise explain(error) from None
    _refuse_impossible(settings)
    return settings


def forget_password() -> None:
    """Server and children inherit the environment, and need not know the document's password."""
    os.environ.pop("QUIRE_PASSWORD", None)


def _read_provider(name: str, defaults: Mapping[str, str]) -> ProviderSettings:
    prefix = name.upper().replace("-", "_") + "_"
    try:
        # The prefix is an init argument that the stubs of pydantic-settings do not know.
        named = ProviderSettings(_env_prefix=prefix, _env_ignore_empty=True)  # type: ignore[call-arg]
    except ValidationError as error:
        raise explain(error, prefix) from None
    given = {key: value for key, value in defaults.items() if key not in named.model_fields_set}
    return named.model_copy(update=given)


def _refuse_impossible(settings: Settings) -> None:
    if settings.breaker_max_backoff < settings.breaker_base_backoff:
        raise SettingsError(
            "BREAKER_MAX_BACKOFF",
            "it is shorter than BREAKER_BASE_BACKOFF",
            "the same or longer",
        )
    for name in settings.extra_providers:
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or name in (LOCAL_PROVIDER, *VENDORS):
            raise SettingsError(
                "EXTRA_PROVIDERS",
                f"{name!r} cannot be a provider's name",
                "names such as deepinfra",
            )
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
    if settings.tracing:
        _refuse_other_traces(settings)
    keys = settings.encryption_keys.get_secret_value()
    if keys:
        parse_keys(keys)
    elif settings.encrypt_payloads and settings.cluster:
        raise no_keys()
    for name in ("store_url", "results_url"):
        scheme, found, _ = getattr(settings, name).partition("://")
        if found and scheme not in ("file", "s3"):
            raise SettingsError(
                name.upper(), f"{scheme}:// is not supported", "a folder, or s3://bucket/prefix"
            )
        if scheme == "s3" and not getattr(settings, name).removeprefix("s3://").strip("/"):
            raise SettingsError(name.upper(), "it names no bucket", "s3://bucket/prefix")


def _refuse_other_traces(settings: Settings) -> None:
    """Spans that go nowhere, without a word, would be missed when they are needed."""
    if settings.otel_traces_exporter != "otlp":
        told = f"{settings.otel_traces_exporter!r} is not supported"
        raise SettingsError("OTEL_TRACES_EXPORTER", told, "otlp or none")
    name = "otel_exporter_otlp_traces_protocol"
    if not settings.otel_exporter_otlp_traces_protocol:
        name = "otel_exporter_otlp_protocol"
    if getattr(settings, name) != OTLP:
        raise SettingsError(name.upper(), f"{getattr(settings, name)!r} is not supported", OTLP)
