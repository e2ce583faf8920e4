"""Settings: defaults, formats, and refusals that say what to write instead."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.contracts.codes import Code
from quire.contracts.document import DocumentRequest
from quire.contracts.names import LONGEST_DEADLINE_S
from quire.contracts.routing import BreakerPolicy, DispatchPolicy
from quire.domain.document.plan import make_plan
from quire.domain.document.prompt import DEFAULT_SYSTEM_PROMPT
from quire.domain.errors import DocumentRefused, SettingsError
from quire.domain.units import parse_duration, parse_pause, parse_size
from quire.settings import Settings, load_settings, missing
from quire.settings.plan_defaults import defaults_from_settings
from tests.domain.strategies import quick

SECRET = "sk-0123456789-never-to-be-seen"


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine's own environment and the files of a working folder must not decide a test."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name not in ("PATH", "HOME", "TMPDIR", "PYTEST_CURRENT_TEST"):
            monkeypatch.delenv(name)


class Environment:
    """`load_settings` under a few variables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(self, **variables: str) -> Settings:
        for name, value in variables.items():
            self._monkeypatch.setenv(name, value)
        return load_settings()

    def refused(self, **variables: str) -> str:
        with pytest.raises(SettingsError) as caught:
            self(**variables)
        info = caught.value.info
        line = info.line()
        assert info.code is Code.UNKNOWN
        assert info.reason == "SETTING"
        assert "\n" not in line
        assert "Allowed: " in line
        assert SECRET not in line
        # What the validation library says at length, input included, stays out of sight.
        assert caught.value.__context__ is None or caught.value.__suppress_context__
        return line


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Environment:
    return Environment(monkeypatch)


# --- defaults ------------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {
    "document_processing_timeout": 180.0,
    "request_timeout": 60.0,
    "breaker_base_backoff": 30.0,
    "breaker_max_backoff": 300.0,
    "breaker_trip": "adaptive",
    "circuit_window": 20,
    "circuit_fail_threshold": 0.5,
    "circuit_cooldown": None,
    "connect_timeout": 10.0,
    "retry_max_delay": None,
    "dispatch_mode": "adaptive",
    "when_busy": "spill",
    "retry_max_attempts": 3,
    "retry_base_delay": 5.0,
    "retry_jitter_max": 5.0,
    "page_window": 64,
    "worker_concurrency": 8,
    "max_inflight_per_model": 2,
    "image_send_all_pages": False,
    "image_dpi": 100,
    "image_min_pixels": 500_000,
    "image_max_pixels": 1_500_000,
    "image_color": "rgb",
    "image_format": "jpeg",
    "image_jpeg_quality": 70,
    "image_context_radius": 1,
    "image_max_context_bytes": 3000,
    "primary_engine": "openai",
    "secondary_engine": "anthropic",
    "route_chain": (),
    "local_ocr": "auto",
    "ai_system_prompt": DEFAULT_SYSTEM_PROMPT,
    "max_file_size": 200_000_000,
    "max_pages": 5000,
    "store_url": "",
    "results_url": "",
    "temporal_address": "",
    "temporal_namespace": "default",
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_those_of_the_design(load: Environment, name: str) -> None:
    assert getattr(load(), name) == DEFAULTS[name]


def test_default_timeouts_of_vendors_are_the_common_one(load: Environment) -> None:
    settings = load(REQUEST_TIMEOUT="45s", OPENAI_TIMEOUT="10s")
    assert settings.timeout_of("openai") == 10.0
    assert settings.timeout_of("anthropic") == 45.0
    assert settings.timeout_of("unheard-of") == 45.0


def test_default_models_are_there_for_every_tier(load: Environment) -> None:
    for provider in load().providers.values():
        assert sorted(provider.models) == ["fast", "primary", "secondary"]
        assert all(provider.models.values())


def test_defaults_of_settings_are_defaults_of_the_domain(load: Environment) -> None:
    plan = defaults_from_settings(load(), local_missing="", local_limit=1)
    # The domain's own defaults are those of plans from before there was an adaptive rule, and from
    # before a document knew of more than one worker.
    assert plan.dispatch == DispatchPolicy(mode="adaptive", window=64)
    assert plan.breaker == BreakerPolicy(trip="adaptive")
    assert plan.deadline_s == 180.0
    assert plan.breaker.base_backoff_s == 30.0


def test_empty_is_not_set(load: Environment) -> None:
    settings = load(PAGE_WINDOW="", OPENAI_API_KEY="", OPENAI_PRIMARY_MODEL="", OPENAI_TIMEOUT="")
    assert settings.page_window == 64
    assert settings.providers["openai"].api_key is None
    assert settings.providers["openai"].primary_model != ""


def test_settings_cannot_be_changed(load: Environment) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().page_window = 1


# --- formats -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3m", 180.0),
        ("60s", 60.0),
        ("500ms", 0.5),
        ("1h", 3600.0),
        ("2d", 172800.0),
        ("1h30m", 5400.0),
        ("1m30s", 90.0),
        ("1.5s", 1.5),
        ("0.5m", 30.0),
        (" 3m ", 180.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)
    assert parse_pause(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        *["", "3", "3 m", "m", "-3m", "+3m", "3min", "1,5s", "1e3s", ".5s", "inf", "3m!"],
        *["0s", "0ms", "0.0s", "31d", "30d1ms", "721h", "9" * 400 + "s"],
    ],
)
def test_durations_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="a duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0s", "0ms", " 0m ", "0.0s", "00.00m", "000h"])
def test_pauses_may_be_nothing(text: str) -> None:
    assert parse_pause(text) == 0.0


@pytest.mark.parametrize("text", ["31d", "0", "0.s", ".0s", "-0s"])
def test_pauses_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="a duration"):
        parse_pause(text)


@pytest.mark.parametrize("text", ["30d", "720h", "29d24h"])
def test_longest_duration(text: str) -> None:
    assert parse_duration(text) == LONGEST_DEADLINE_S == 30 * 86400


@quick
@given(st.integers(1, 720), st.sampled_from(["ms", "s", "m", "h"]))
def test_any_whole_duration(number: int, unit: str) -> None:
    factor = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]
    assert parse_duration(f"{number}{unit}") == pytest.approx(number * factor)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("200MB", 200_000_000),
        ("200 mb", 200_000_000),
        ("1GB", 10**9),
        ("5KB", 5000),
        ("2MiB", 2 * 2**20),
        ("3KiB", 3 * 2**10),
        ("1GiB", 2**30),
        ("2 gib", 2**31),
        ("17B", 17),
        ("17", 17),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "MB", "-1MB", "1.5MB", "1 M B", "1TB?", "ten"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="a size such as 200MB"):
        parse_size(text)


@pytest.mark.parametrize("text", ["0", "0MB", "00 GiB"])
def test_sizes_of_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="a size above zero"):
        parse_size(text)


def test_formats_reach_the_settings(load: Environment) -> None:
    settings = load(
        DOCUMENT_PROCESSING_TIMEOUT="1m30s",
        BREAKER_BASE_BACKOFF="500ms",
        RETRY_JITTER_MAX="0s",
        RETRY_BASE_DELAY="0.0s",
        MAX_FILE_SIZE="1GiB",
        IMAGE_SEND_ALL_PAGES="true",
        ROUTE_CHAIN=" openai:a , anthropic:b,,",
        AI_SYSTEM_PROMPT="Read it.\nAll of it.",
    )
    assert settings.document_processing_timeout == 90.0
    assert settings.breaker_base_backoff == 0.5
    assert settings.retry_jitter_max == 0.0
    assert settings.retry_base_delay == 0.0
    assert settings.max_file_size == 2**30
    assert settings.image_send_all_pages is True
    assert settings.route_chain == ("openai:a", "anthropic:b")
    assert settings.ai_system_prompt == "Read it.\nAll of it."


# --- refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("DOCUMENT_PROCESSING_TIMEOUT", "180", "a duration such as 3m, 60s or 500ms"),
        ("DOCUMENT_PROCESSING_TIMEOUT", "0s", "a duration above zero"),
        ("DOCUMENT_PROCESSING_TIMEOUT", "31d", "a duration above zero, up to 30d"),
        ("BREAKER_MAX_BACKOFF", "1000d", "a duration above zero, up to 30d"),
        ("RETRY_BASE_DELAY", "31d", "a duration above zero, up to 30d"),
        ("OPENAI_TIMEOUT", "31d", "a duration above zero, up to 30d"),
        ("REQUEST_TIMEOUT", "soon", "a duration such as"),
        ("OPENAI_TIMEOUT", "soon", "a duration such as"),
        ("ANTHROPIC_TIMEOUT", "60", "a duration such as"),
        ("BREAKER_TRIP", "second", "'first', 'window' or 'adaptive'"),
        ("CIRCUIT_WINDOW", "0", "a whole number of calls from 1 to 1000"),
        ("CIRCUIT_WINDOW", "many", "or a time such as 2m"),
        ("CIRCUIT_WINDOW", "1001", "a whole number of calls from 1 to 1000"),
        ("CIRCUIT_WINDOW", "0s", "a duration above zero"),
        ("CIRCUIT_COOLDOWN", "0s", "a duration above zero"),
        ("RETRY_MAX_DELAY", "long", "a duration such as"),
        ("CONNECT_TIMEOUT", "10", "a duration such as"),
        ("PAGE_WINDOW", "1.5", "a whole number"),
        ("CIRCUIT_FAIL_THRESHOLD", "0", "greater than 0"),
        ("CIRCUIT_FAIL_THRESHOLD", "1.1", "less than or equal to 1"),
        ("CIRCUIT_FAIL_THRESHOLD", "nan", "less than or equal to 1"),
        ("DISPATCH_MODE", "slow", "'fail_fast', 'hold' or 'adaptive'"),
        ("WHEN_BUSY", "cry", "'spill' or 'wait'"),
        ("RETRY_MAX_ATTEMPTS", "0", "greater than or equal to 1"),
        ("RETRY_BASE_DELAY", "-1s", "a duration such as"),
        ("PAGE_WINDOW", "0", "greater than or equal to 1"),
        ("WORKER_CONCURRENCY", "-1", "greater than or equal to 1"),
        ("MAX_INFLIGHT_PER_MODEL", "0", "greater than or equal to 1"),
        ("IMAGE_SEND_ALL_PAGES", "perhaps", "true or false"),
        ("IMAGE_MAX_PIXELS", "1000", "the same or more, or 0"),
        ("IMAGE_DPI", "10", "greater than or equal to 36"),
        ("IMAGE_DPI", "6000", "less than or equal to 600"),
        ("IMAGE_COLOR", "cmyk", "'rgb' or 'gray'"),
        ("IMAGE_FORMAT", "gif", "'jpeg', 'png' or 'webp'"),
        ("IMAGE_JPEG_QUALITY", "101", "less than or equal to 100"),
        ("IMAGE_CONTEXT_RADIUS", "-1", "greater than or equal to 0"),
        ("IMAGE_MAX_CONTEXT_BYTES", "-1", "greater than or equal to 0"),
        ("LOCAL_OCR", "maybe", "'auto', 'always' or 'never'"),
        ("MAX_FILE_SIZE", "big", "a size such as 200MB"),
        ("MAX_FILE_SIZE", "0", "a size above zero"),
        ("EXTRA_PROVIDERS", "local", "names such as deepinfra"),
        ("EXTRA_PROVIDERS", "openai", "names such as deepinfra"),
        ("EXTRA_PROVIDERS", "deepinfra,anthropic", "names such as deepinfra"),
        ("EXTRA_PROVIDERS", "a:b", "names such as deepinfra"),
        ("EXTRA_PROVIDERS", "a/b", "names such as deepinfra"),
        ("EXTRA_PROVIDERS", "DeepInfra", "names such as deepinfra"),
        ("MAX_PAGES", "0", "greater than or equal to 1"),
        ("PRIMARY_ENGINE", "deepinfra", "anthropic, local, openai"),
        ("SECONDARY_ENGINE", "nobody", "anthropic, local, openai"),
        ("ROUTE_CHAIN", "openai", "provider:model"),
        ("ROUTE_CHAIN", "openai:", "provider:model"),
        ("ROUTE_CHAIN", "openai:a,nobody:b", "anthropic, local, openai"),
        ("BREAKER_MAX_BACKOFF", "1s", "the same or longer"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_refused_with_name_and_what_is_allowed(
    load: Environment, name: str, value: str, allowed: str
) -> None:
    line = load.refused(**{name: value, "OPENAI_API_KEY": SECRET})
    assert f"{name}: " in line
    assert allowed in line


ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "http/protobuf"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "console", "otlp or none"),
    ],
)
def test_traces_that_would_go_nowhere_are_refused(
    load: Environment, name: str, value: str, allowed: str
) -> None:
    line = load.refused(**ENDPOINT, **{name: value})
    assert f"{name}: {value!r} is not supported" in line
    assert f"Allowed: {allowed}." in line


@pytest.mark.parametrize(
    ("variables", "tracing"),
    [
        ({}, True),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_TRACES_EXPORTER": "otlp"}, True),
        (
            {
                "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            },
            True,
        ),
        ({"OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_TRACES_EXPORTER": "none"}, False),
        # What others on this machine speak is no concern of ours while we send nothing.
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False),
    ],
)
def test_traces_are_sent_when_they_are_wanted(
    load: Environment, variables: dict[str, str], tracing: bool
) -> None:
    assert load(**{**ENDPOINT, **variables}).tracing is tracing


def test_stores_that_nobody_can_open_are_refused(load: Environment) -> None:
    assert "STORE_URL: ftp://" in load.refused(STORE_URL="ftp://x/y")


def test_values_with_line_breaks_stay_on_one_line(load: Environment) -> None:
    load.refused(PAGE_WINDOW="1\n2")


# --- vendors -------------------------------------------------------------------------------


def test_each_vendor_has_its_own_prefix(load: Environment) -> None:
    settings = load(
        OPENAI_API_KEY=SECRET,
        OPENAI_PRIMARY_MODEL="mine",
        ANTHROPIC_BASE_URL="http://127.0.0.1:1",
        ANTHROPIC_FAST_MODEL="swift",
    )
    openai, anthropic = settings.providers["openai"], settings.providers["anthropic"]
    assert openai.api_key is not None
    assert openai.api_key.get_secret_value() == SECRET
    assert openai.models["primary"] == "mine"
    assert openai.base_url is None
    assert anthropic.api_key is None
    assert anthropic.base_url == "http://127.0.0.1:1"
    assert anthropic.models["fast"] == "swift"
    assert anthropic.models["primary"] != "mine"


def test_key_or_base_url_is_enough(load: Environment) -> None:
    settings = load(OPENAI_API_KEY=SECRET)
    assert missing("openai", settings.providers["openai"]) == ""
    assert missing("anthropic", settings.providers["anthropic"]) == "ANTHROPIC_API_KEY is not set"
    settings = load(ANTHROPIC_BASE_URL="http://127.0.0.1:1")
    assert missing("anthropic", settings.providers["anthropic"]) == ""


def test_extra_provider_has_the_same_names(load: Environment) -> None:
    settings = load(
        EXTRA_PROVIDERS="deepinfra,my-own",
        DEEPINFRA_BASE_URL="https://example.org/v1",
        DEEPINFRA_API_KEY=SECRET,
        DEEPINFRA_PRIMARY_MODEL="vl",
        DEEPINFRA_TIMEOUT="9s",
        PRIMARY_ENGINE="deepinfra",
        ROUTE_CHAIN="deepinfra:other",
    )
    extra = settings.providers["deepinfra"]
    assert (extra.base_url, extra.models) == ("https://example.org/v1", {"primary": "vl"})
    assert settings.timeout_of("deepinfra") == 9.0
    assert missing("deepinfra", extra) == ""
    assert missing("my-own", settings.providers["my-own"]) == "MY_OWN_API_KEY is not set"
    assert settings.route_chain == ("deepinfra:other",)


def test_extra_provider_is_refused_by_its_own_name(load: Environment) -> None:
    line = load.refused(EXTRA_PROVIDERS="my-own", MY_OWN_TIMEOUT="soon")
    assert "MY_OWN_TIMEOUT: " in line


def test_chain_of_the_settings(load: Environment) -> None:
    settings = load(OPENAI_API_KEY=SECRET, MAX_INFLIGHT_PER_MODEL="5", OPENAI_TIMEOUT="20s")
    plan = defaults_from_settings(settings, local_missing="", local_limit=1)
    assert plan.providers["openai"].missing == ""
    assert plan.providers["openai"].timeout_s == 20.0
    assert "ANTHROPIC_API_KEY" in plan.providers["anthropic"].missing
    assert plan.limit == 5
    assert SECRET not in plan.model_dump_json()


def test_knobs_of_breakers_and_rounds_reach_the_plan(load: Environment) -> None:
    settings = load(CIRCUIT_WINDOW="2m", CIRCUIT_COOLDOWN="7s", RETRY_MAX_DELAY="20s")
    plan = defaults_from_settings(settings, local_missing="", local_limit=1)
    assert (plan.breaker.window_s, plan.breaker.cooldown_s) == (120.0, 7.0)
    assert plan.dispatch.max_delay_s == 20.0
    counted = defaults_from_settings(load(CIRCUIT_WINDOW="7"), local_missing="", local_limit=1)
    assert (counted.breaker.window, counted.breaker.window_s) == (7, None)


def test_local_ocr_that_is_never_wanted_is_missing(load: Environment) -> None:
    settings = load(OPENAI_API_KEY=SECRET, LOCAL_OCR="never", ROUTE_CHAIN="local:rapidocr,openai:a")
    defaults = defaults_from_settings(settings, local_missing="", local_limit=1)
    assert defaults.local_missing == "LOCAL_OCR is never"
    asked = DocumentRequest(job_id="job", source="/a.pdf", engine="local")
    with pytest.raises(DocumentRefused, match="LOCAL_OCR is never"):
        make_plan(asked, defaults)
    chain = make_plan(asked.model_copy(update={"engine": None}), defaults).chain
    assert [route.key for route in chain.routes] == ["openai:a"]
    assert chain.left_out == ("local is left out: LOCAL_OCR is never",)


@pytest.mark.parametrize("local_ocr", ["auto", "always"])
def test_local_ocr_that_is_wanted_is_missing_only_when_it_is(
    load: Environment, local_ocr: str
) -> None:
    settings = load(LOCAL_OCR=local_ocr)
    for missing_here in ("", "not installed"):
        plan = defaults_from_settings(settings, local_missing=missing_here, local_limit=1)
        assert plan.local_missing == missing_here


def test_secrets_are_never_shown(load: Environment) -> None:
    settings = load(OPENAI_API_KEY=SECRET, EXTRA_PROVIDERS="mine", MINE_API_KEY=SECRET)
    shown = [
        repr(settings),
        str(settings),
        repr(settings.providers),
        str(settings.providers["openai"].model_dump()),
        settings.providers["mine"].model_dump_json(),
    ]
    assert not [text for text in shown if SECRET in text]


# --- places --------------------------------------------------------------------------------


def test_places_are_in_the_state_folder_unless_named(load: Environment, tmp_path: Path) -> None:
    settings = load(STATE_DIR=str(tmp_path), RESULTS_URL=f"file://{tmp_path}/out")
    assert settings.store_place == str(tmp_path / "store")
    assert settings.results_place == str(tmp_path / "out")


def test_state_folder_follows_the_desktop_rules(load: Environment, tmp_path: Path) -> None:
    assert load(XDG_STATE_HOME=str(tmp_path)).state_dir == tmp_path / "quire"
    assert load(XDG_STATE_HOME="").state_dir == Path.home() / ".local" / "state" / "quire"
