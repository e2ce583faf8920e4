"""Every setting of Quire's own, and the places that they name."""

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PrivateAttr, SecretStr

from quire.contracts.judgement import Doubt
from quire.contracts.reading import Hyphens
from quire.contracts.routing import Mode, Trip
from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT
from quire.domain.units import (
    parse_address,
    parse_age,
    parse_duration,
    parse_list,
    parse_pause,
    parse_size,
    parse_window,
)
from quire.providers.registry import PROVIDERS, spec_of
from quire.settings.base import SettingsModel
from quire.settings.provider import ProviderSettings, read_provider

# The one of OTLP's protocols that Quire speaks.
OTLP = "http/protobuf"

Address = Annotated[str, BeforeValidator(parse_address)]
Engine = Annotated[str, BeforeValidator(lambda name: str(name).strip().lower())]
Duration = Annotated[float, BeforeValidator(parse_duration)]
Age = Annotated[float, BeforeValidator(parse_age)]
Pause = Annotated[float, BeforeValidator(parse_pause)]
Size = Annotated[int, BeforeValidator(parse_size)]
# A number of calls, or a time.
Window = Annotated[int | timedelta, BeforeValidator(parse_window)]
Names = Annotated[tuple[str, ...], BeforeValidator(parse_list)]


class Settings(SettingsModel):
    """Every setting with its default; docs/settings.md lists them for people.

    `load_settings` reads them; made directly, this class has defaults and what it is given.
    """

    # By name in the environment: every value that is set, also those of vendors and libraries, and
    # how errors name it. Secrets are among them, so they are in no representation.
    _values: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _labels: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _files: tuple[Path, ...] = PrivateAttr(default=())
    _exposed_files: tuple[Path, ...] = PrivateAttr(default=())

    document_processing_timeout: Duration = Field(default="3m", validate_default=True)
    request_timeout: Duration = Field(default="60s", validate_default=True)
    connect_timeout: Duration = Field(default="10s", validate_default=True)
    watch_interval: Duration = Field(default="1m", validate_default=True)

    breaker_base_backoff: Duration = Field(default="30s", validate_default=True)
    breaker_max_backoff: Duration = Field(default="5m", validate_default=True)
    breaker_trip: Trip = "adaptive"
    circuit_window: Window = 20
    circuit_fail_threshold: float = Field(default=0.5, gt=0, le=1)
    circuit_cooldown: Duration | None = None

    dispatch_mode: Mode = "adaptive"
    when_busy: Literal["spill", "wait"] = "spill"
    retry_max_attempts: int = Field(default=3, ge=1, le=20)
    retry_base_delay: Pause = Field(default="5s", validate_default=True)
    retry_max_delay: Duration | None = None
    retry_jitter_max: Pause = Field(default="5s", validate_default=True)
    page_window: int = Field(default=64, ge=1, le=200)

    worker_concurrency: int = Field(default=8, ge=1, le=1000)
    max_inflight_per_model: int = Field(default=2, ge=1, le=200)
    max_rate_per_model: float | None = Field(default=None, gt=0, le=1000)

    image_send_all_pages: bool = False
    image_dpi: int = Field(default=100, ge=36, le=600)
    image_min_pixels: int = Field(default=500_000, ge=0, le=16_000_000)
    image_max_pixels: int = Field(default=1_500_000, ge=0, le=16_000_000)
    image_color: Literal["rgb", "gray"] = "rgb"
    image_format: Literal["jpeg", "png", "webp"] = "jpeg"
    image_jpeg_quality: int = Field(default=70, ge=1, le=100)
    image_context_radius: int = Field(default=1, ge=0, le=10)
    image_max_context_bytes: int = Field(default=3000, ge=0, le=200_000)

    primary_engine: Engine = "openai"
    secondary_engine: Engine = "anthropic"
    extra_providers: Names = ()
    route_chain: Names = ()
    local_ocr: Literal["auto", "always", "never"] = "auto"
    turn_pages: Literal["auto", "off"] = "auto"
    ai_system_prompt: str = DEFAULT_SYSTEM_PROMPT
    hyphens: Hyphens = "join"
    doubt: Doubt = "flag"
    doubt_below: float = Field(default=0.85, ge=0, le=1)

    max_file_size: Size = Field(default="200MB", validate_default=True)
    max_pages: int = Field(default=5000, ge=1, le=50_000)
    max_images: int = Field(default=200, ge=1, le=5000)

    source_timeout: Duration = Field(default="2m", validate_default=True)
    allow_private_urls: bool = False
    accept_unsigned: bool = False
    source_roots: Names = ()

    store_url: str = ""
    results_url: str = ""
    store_keep: Age | None = None
    store_limit: Size | None = None
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

    # The exporter reads these and the other OTEL_* settings itself; here they only switch it on.
    otel_exporter_otlp_endpoint: str = ""
    otel_exporter_otlp_traces_endpoint: str = ""
    otel_exporter_otlp_protocol: str = OTLP
    otel_exporter_otlp_traces_protocol: str = ""
    otel_traces_exporter: str = "otlp"
    otel_sdk_disabled: bool = False
    otel_service_name: str = "quire"

    @cached_property
    def providers(self) -> dict[str, ProviderSettings]:
        """Every provider by name, each with its own prefix in the environment."""
        names = (*PROVIDERS, *self.extra_providers)
        return {
            name: read_provider(name, spec_of(name).models, self._values, self._labels)
            for name in names
        }

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that were read, the most important first."""
        return self._files

    @property
    def exposed_files(self) -> tuple[Path, ...]:
        """Those of the files that hold a secret and that every user of the machine may read."""
        return self._exposed_files

    def passed_on(self, prefix: str) -> dict[str, str]:
        """Values for a library that reads the environment itself, by the prefix of its settings.

        They are handed over and never put into the environment, which every child inherits.
        """
        return {name: text for name, text in self._values.items() if name.startswith(prefix)}

    @property
    def s3_access(self) -> dict[str, str]:
        """What boto3 must be given; empty where all of it is in the environment, as boto3 reads
        more there than can be given to it."""
        known = self.passed_on("AWS_")
        elsewhere = any(os.environ.get(name) != text for name, text in known.items())
        return known if elsewhere else {}

    @property
    def temporal_environment(self) -> dict[str, str]:
        """The environment for Temporal's own reader of settings."""
        own = {
            name.upper(): str(getattr(self, name))
            for name in ("temporal_address", "temporal_namespace")
            if name in self.model_fields_set
        }
        return {**os.environ, **self.passed_on("TEMPORAL_"), **own}

    @property
    def tracing(self) -> bool:
        """Whether spans are sent anywhere."""
        named = self.otel_exporter_otlp_endpoint or self.otel_exporter_otlp_traces_endpoint
        wanted = self.otel_traces_exporter != "none" and not self.otel_sdk_disabled
        return bool(named) and wanted

    def timeout_of(self, provider: str) -> float:
        """How long a call to this provider may take, in seconds."""
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
        """Where files of a distant store are kept on this machine."""
        return self.state_dir.expanduser().absolute() / "cache"
