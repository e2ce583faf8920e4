"""Settings that a program gives by name; no server is started by a client that is not used."""

import os
from pathlib import Path

import pytest

import quire
from quire import errors


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's own environment must not decide a test."""
    for name in list(os.environ):
        if name not in ("PATH", "HOME", "TMPDIR", "PYTEST_CURRENT_TEST"):
            monkeypatch.delenv(name)


def test_names_take_precedence_over_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MAX_PAGES", "7")
    monkeypatch.setenv("MAX_IMAGES", "8")
    monkeypatch.setenv("OPENAI_API_KEY", "from-outside")
    monkeypatch.setenv("OPENAI_TIMEOUT", "9s")
    monkeypatch.setenv("TIMEOUT", "no duration, and not ours")
    client = quire.Client(
        state_dir=tmp_path,
        max_pages=5,
        max_images=None,
        openai_api_key="given",
        request_timeout="2m",
        route_chain=["openai:one", "openai:two"],
    )
    found = client.settings
    assert (found.state_dir, found.max_pages, found.max_images) == (tmp_path, 5, 8)
    assert found.request_timeout == 120
    assert found.route_chain == ("openai:one", "openai:two")
    key = found.providers["openai"].api_key
    assert key is not None
    assert key.get_secret_value() == "given"
    assert found.timeout_of("openai") == 9
    assert found.providers["openai"].models["primary"] == "gpt-6.1-sol"
    assert found.model_copy(update={"max_pages": 6}).providers == found.providers
    assert "given" not in repr(found)


def test_extra_providers_have_their_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"extra_providers": "deep-infra", "deep_infra_base_url": "http://127.0.0.1:1/v1"}
    settings = quire.AsyncClient(**given).settings
    assert settings.providers["deep-infra"].base_url == "http://127.0.0.1:1/v1"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"openai_api_kee": "x"}, "openai_api_key"),
        ({"STATE_DIRR": "x"}, "state_dir"),
        ({"deep_infra_base_url": "x"}, "base_url"),
        ({"max_pages": 0}, "max_pages"),
        ({"openai_timeout": "soon"}, "openai_timeout"),
        ({"breaker_max_backoff": "1s"}, "BREAKER_MAX_BACKOFF"),
    ],
)
def test_what_cannot_be_is_refused_with_a_name(given: dict[str, object], said: str) -> None:
    with pytest.raises(errors.SettingsError) as refused:
        quire.Client(**given)
    assert said in refused.value.info.line()


def test_a_settings_object_is_used_as_it_is(tmp_path: Path) -> None:
    settings = quire.Settings(state_dir=tmp_path)
    assert quire.Client(settings).settings is settings
    with pytest.raises(errors.UsageError, match="not both"):
        quire.Client(settings, max_pages=5)


def test_a_client_that_was_never_used_has_nothing_to_close(tmp_path: Path) -> None:
    with quire.Client(state_dir=tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()
