"""Where settings come from: environment, files and programs; who wins, and what is refused."""

import itertools
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from pydantic import SecretStr

from quire.domain.errors import SettingsError
from quire.settings import ProviderSettings, Settings, lend_environment, load_settings, setting_name
from testing.tool import Tool, own_environment
from tests.test_settings import SECRET, Environment, bare_environment, load

__all__ = ["bare_environment", "load"]


def refusal(overrides: dict[str, object] | None = None, config: str | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(overrides, config=config)
    line = caught.value.info.line()
    assert "\n" not in line
    assert SECRET not in line
    return line


# --- who wins ------------------------------------------------------------------------------

# From the least to the most important: each says another number of pages.
PLACES = ("quire.toml", ".env", "NAME", "QUIRE_NAME", "program")


def place(name: str, pages: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    if name == "quire.toml":
        Path(name).write_text(f"max_pages = {pages}\n")
    elif name == ".env":
        Path(name).write_text(f"MAX_PAGES={pages}\n")
    elif name == "program":
        return {"max_pages": pages}
    else:
        monkeypatch.setenv(name.replace("NAME", "MAX_PAGES"), str(pages))
    return {}


@pytest.mark.parametrize(
    "places", [c for n in range(1, 6) for c in itertools.combinations(PLACES, n)], ids="+".join
)
def test_the_nearest_place_decides(
    places: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides: dict[str, object] = {}
    for name in places:
        overrides |= place(name, 10 + PLACES.index(name), monkeypatch)
    assert load_settings(overrides).max_pages == 10 + PLACES.index(places[-1])


def test_a_named_file_stands_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Path(".env").write_text("MAX_PAGES=11\n")
    Path("quire.toml").write_text("max_images = 12\n")
    named = tmp_path / "else" / "prod.toml"
    named.parent.mkdir()
    named.write_text("page_window = 13\n")
    settings = load_settings(config=str(named))
    assert (settings.max_pages, settings.max_images, settings.page_window) == (5000, 200, 13)
    assert settings.files == (named,)
    monkeypatch.setenv("QUIRE_CONFIG", str(named))
    assert load_settings().page_window == 13
    monkeypatch.setenv("PAGE_WINDOW", "14")
    assert load_settings().page_window == 14


def test_no_file_is_read_when_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("this is broken")
    monkeypatch.setenv("QUIRE_CONFIG", "none")
    assert load_settings().files == ()


def test_files_of_the_working_folder_are_read_and_known(tmp_path: Path) -> None:
    Path(".env").write_text("MAX_PAGES=11\n")
    Path("quire.toml").write_text("max_images = 12\n")
    settings = load_settings()
    assert (settings.max_pages, settings.max_images) == (11, 12)
    assert settings.files == (tmp_path / ".env", tmp_path / "quire.toml")


def test_a_folder_named_env_is_no_file() -> None:
    Path(".env").mkdir()
    assert load_settings().files == ()


def test_empty_values_leave_the_word_to_the_place_below(load: Environment) -> None:
    Path(".env").write_text("MAX_PAGES=11\nQUIRE_MAX_IMAGES=\nMAX_IMAGES=12\n")
    settings = load(QUIRE_MAX_PAGES="", MAX_PAGES="")
    assert (settings.max_pages, settings.max_images) == (11, 12)


def test_an_empty_value_of_a_program_stands_for_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:7233")
    monkeypatch.setenv("OPENAI_API_KEY_FILE", "/nowhere")
    settings = load_settings({"temporal_address": "", "openai_api_key": "", "max_pages": None})
    assert not settings.cluster
    assert settings.providers["openai"].api_key is None


# --- every setting has every name ----------------------------------------------------------


def every_name() -> list[str]:
    own = [name.upper() for name in Settings.model_fields]
    providers = ("openai", "anthropic", "my-own")
    return own + [setting_name(p, f) for p in providers for f in ProviderSettings.model_fields]


def example(name: str) -> str:
    """Another value than the default, which this setting allows."""
    settings = load_settings({"extra_providers": "my-own"}, config="none")
    field = Settings.model_fields.get(name.lower())
    value = getattr(settings, name.lower()) if field else ""
    special = {
        "EXTRA_PROVIDERS": "my-own", "ROUTE_CHAIN": "openai:x", "PRIMARY_ENGINE": "anthropic",
        "SECONDARY_ENGINE": "openai", "CIRCUIT_FAIL_THRESHOLD": "0.25", "CIRCUIT_WINDOW": "7",
        "METRICS_ADDRESS": "127.0.0.1:1", "HEALTH_ADDRESS": "127.0.0.1:1", "LOG_LEVEL": "debug",
        "LOG_FORMAT": "json", "LOCAL_OCR": "never", "BREAKER_TRIP": "window",
        "DISPATCH_MODE": "hold", "WHEN_BUSY": "wait", "IMAGE_COLOR": "gray", "IMAGE_FORMAT": "png",
        "HYPHENS": "keep", "DOUBT": "reread", "DOUBT_BELOW": "0.7", "MAX_RATE_PER_MODEL": "7",
        "TURN_PAGES": "off",
        "MAX_FILE_SIZE": "7MB", "SOURCE_CACHE_SIZE": "7MB",
        "STORE_KEEP": "7d", "STORE_LIMIT": "7MB",
        "ENCRYPTION_KEYS": "a:" + "A" * 43 + "=", "BREAKER_MAX_BACKOFF": "7h",
    }  # fmt: skip
    if name in special:
        return special[name]
    if isinstance(value, bool):
        return "true"
    if isinstance(value, float) or name.endswith("_TIMEOUT"):
        return "7s"
    if value is None:
        return "7s"
    return str(value + 1) if isinstance(value, int) else "/seven"


def value_of(settings: Settings, name: str) -> object:
    for provider in settings.providers:
        for field in ProviderSettings.model_fields:
            if setting_name(provider, field) == name:
                return getattr(settings.providers[provider], field)
    return getattr(settings, name.lower())


Write = Callable[[str, str, pytest.MonkeyPatch], None]
WAYS: dict[str, Write] = {
    "NAME": lambda name, text, env: env.setenv(name, text),
    "name": lambda name, text, env: env.setenv(name.lower(), text),
    "QUIRE_NAME": lambda name, text, env: env.setenv(f"QUIRE_{name}", text),
    ".env": lambda name, text, env: void(Path(".env").write_text(f"{name}='{text}'\n")),
    "QUIRE_ in .env": lambda name, text, env: void(
        Path(".env").write_text(f"export QUIRE_{name}={text} # why\n")
    ),
    "toml": lambda name, text, env: void(
        Path("quire.toml").write_text(f'{name.lower()} = "{text}"\n')
    ),
}


def void(_: object) -> None:
    pass


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", every_name())
def test_every_setting_can_be_set_in_every_way(
    name: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name != "EXTRA_PROVIDERS":
        monkeypatch.setenv("EXTRA_PROVIDERS", "my-own")
    before = value_of(load_settings(), name) if name != "EXTRA_PROVIDERS" else ()
    WAYS[way](name, example(name), monkeypatch)
    after = value_of(load_settings(), name)
    assert after != before
    monkeypatch.setenv(f"QUIRE_{name}", "")
    assert value_of(load_settings(), name) == (before if way == "QUIRE_NAME" else after)


def test_tables_stand_for_prefixes() -> None:
    Path("quire.toml").write_text(
        'extra_providers = ["my-own", "other"]\nimage_send_all_pages = true\n'
        "circuit_fail_threshold = 0.25\n"
        '[openai]\nprimary_model = "mine"\ntimeout = "9s"\n'
        '[my-own]\nbase_url = "http://127.0.0.1:1"\n'
        '[temporal]\naddress = "127.0.0.1:7233"\n'
    )
    settings = load_settings()
    assert settings.extra_providers == ("my-own", "other")
    assert settings.image_send_all_pages is True
    assert settings.circuit_fail_threshold == 0.25
    assert settings.providers["openai"].primary_model == "mine"
    assert settings.timeout_of("openai") == 9.0
    assert settings.providers["my-own"].base_url == "http://127.0.0.1:1"
    assert settings.temporal_address == "127.0.0.1:7233"


def test_programs_may_pass_values_of_python() -> None:
    settings = load_settings(
        {
            "request_timeout": timedelta(seconds=90),
            "extra_providers": ("my-own",),
            "image_send_all_pages": True,
            "state_dir": Path("/somewhere"),
            "openai": {"api_key": SecretStr(SECRET)},
            "my_own_base_url": "http://127.0.0.1:1",
        }
    )
    assert settings.request_timeout == 90.0
    assert settings.image_send_all_pages
    assert settings.state_dir == Path("/somewhere")
    key = settings.providers["openai"].api_key
    assert key is not None
    assert key.get_secret_value() == SECRET
    assert settings.providers["my-own"].base_url == "http://127.0.0.1:1"
    assert SECRET not in repr(settings) + str(settings) + settings.model_dump_json()


# --- unknown names -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("QUIRE_PAGE_WINDWO", "QUIRE_PAGE_WINDOW"),
        ("QUIRE_OPENAI_APIKEY", "QUIRE_OPENAI_API_KEY"),
        ("QUIRE_OPENAI_API_KEY_FIEL", "QUIRE_OPENAI_API_KEY_FILE"),
        ("QUIRE_DEEPINFRA_BASE_ULR", "QUIRE_DEEPINFRA_BASE_URL"),
        ("QUIRE_TEMPORAL_ADRESS", "QUIRE_TEMPORAL_ADDRESS"),
        ("QUIRE_LOGLEVEL", "QUIRE_LOG_LEVEL"),
    ],
)
def test_unknown_variables_are_refused_with_the_nearest(
    written: str, meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXTRA_PROVIDERS", "deepinfra")
    monkeypatch.setenv(written, "x")
    assert f"{written} is not a setting. Did you mean {meant}?" in refusal()
    monkeypatch.delenv(written)
    Path(".env").write_text(f"{written}=x\n")
    assert f"{written} in .env is not a setting. Did you mean {meant}?" in refusal()


def test_every_name_with_two_letters_swapped_is_recognized() -> None:
    for name in (name for name in every_name() if not name.startswith(("MY_OWN", "OTEL_"))):
        middle = next(i for i in range(2, len(name)) if name[i] != name[i - 1] and name[i] != "_")
        typo = name[: middle - 1] + name[middle] + name[middle - 1] + name[middle + 1 :]
        assert f"Did you mean {name.lower()}?" in refusal({typo.lower(): "x"})


def test_what_resembles_nothing_is_refused_with_where_to_look(load: Environment) -> None:
    with pytest.raises(SettingsError) as caught:
        load(QUIRE_XYZZY="1")
    assert "docs/settings.md" in caught.value.info.remedy


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "page_windwo = 3",
            "page_windwo in quire.toml is not a setting. Did you mean page_window?",
        ),
        (
            "[openai]\nprimary_modle = 'x'",
            "openai.primary_modle in quire.toml is not a setting. Did you mean "
            "openai.primary_model?",
        ),
        ("[opneai]\napi_key = 'x'", "Did you mean openai_api_key?"),
        ("[aws]\nsecret_acess_key = 'x'", "Did you mean aws.secret_access_key?"),
    ],
)
def test_unknown_keys_of_toml_are_refused_with_the_nearest(text: str, line: str) -> None:
    Path("quire.toml").write_text(text)
    assert line in refusal()


def test_names_of_other_programs_are_left_alone(load: Environment) -> None:
    Path(".env").write_text("POSTGRES_PASSWORD=x\nPAGE_WINDWO=1\nQUIRE_TAG=latest\nEXTRAS=otel\n")
    kubernetes = {
        "QUIRE_SERVICE_HOST": "10.0.0.1", "QUIRE_SERVICE_PORT": "80",
        "QUIRE_SERVICE_PORT_HTTP": "80", "QUIRE_PORT": "tcp://10.0.0.1:80",
        "QUIRE_PORT_80_TCP": "tcp://10.0.0.1:80", "QUIRE_PORT_80_TCP_ADDR": "10.0.0.1",
        "QUIRE_WORKER_SERVICE_HOST": "10.0.0.2", "QUIRE_WORKER_PORT_9464_TCP_PORT": "9464",
    }  # fmt: skip
    load(**kubernetes, QUIRE_TAG="latest", QUIRE_BENCH_ENVIRONMENTS="/x", QUIRE_PASSWORD="p")


@pytest.mark.parametrize("name", ["QUIRE_PASSWORD", "QUIRE_CONFIG"])
def test_variables_of_a_command_are_not_for_files(name: str) -> None:
    Path(".env").write_text(f"{name}=x\n")
    assert f"{name} in .env is not a setting." in refusal()


# --- broken files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (".env", b"MAX_PAGES=1\n\n\nthis is = not\nX=1\n", ".env, line 4: this is not NAME=value"),
        (".env", b"A='1\n", ".env, line 1:"),
        (".env", b"A=\xff\n", "it is not UTF-8 text"),
        ("quire.toml", b"max_pages = 1\nmax_pages 2\n", "line 2"),
        ("quire.toml", b"max_pages = 1\nmax_pages = 2\n", "line 2"),
        ("quire.toml", b"x = '\xff'\n", "it is not UTF-8 text"),
    ],
)
def test_broken_files_are_refused_with_file_and_line(
    name: str, content: bytes, problem: str, tmp_path: Path
) -> None:
    Path(name).write_bytes(content)
    line = refusal()
    assert str(tmp_path / name) in line
    assert problem in line


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("nowhere.env", "No such file or directory"),
        ("nowhere.toml", "No such file or directory"),
        ("settings.yaml", "its name ends neither in .env nor in .toml"),
        ("folder.toml", "Is a directory"),
    ],
)
def test_named_files_that_cannot_be_used(named: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    line = refusal(config=named)
    assert str(tmp_path / named) in line
    assert problem in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("max_pages = [1, 2]", "max_pages in quire.toml: a list is not allowed"),
        ("max_pages = true", "max_pages in quire.toml: 'true' is not allowed"),
        ("max_pages = 0", "max_pages in quire.toml: '0' is not allowed"),
        ("request_timeout = 60", "request_timeout in quire.toml: '60' is not allowed"),
        ("max_pages = 2020-01-01", "max_pages in quire.toml: date is not allowed"),
        ("[openai]\ntimeout = 'soon'", "openai.timeout in quire.toml: 'soon' is not allowed"),
        ("openai_timeout = '1s'\n[openai]\ntimeout = '2s'", "openai.timeout in quire.toml: it is "),
    ],
)
def test_values_of_toml_are_refused_by_their_place(text: str, line: str) -> None:
    Path("quire.toml").write_text(text)
    assert line in refusal()


def test_values_of_variables_are_refused_by_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("MAX_PAGES=none\n")
    assert "MAX_PAGES in .env: 'none' is not allowed. Allowed: a whole number." in refusal()
    monkeypatch.setenv("QUIRE_MAX_PAGES", "-1")
    assert "QUIRE_MAX_PAGES: '-1' is not allowed." in refusal()


def test_dotenv_is_taken_as_it_is_written(load: Environment) -> None:
    Path(".env").write_text(
        "\ufeffexport AI_SYSTEM_PROMPT='say ${HOME} and $X'\nIMAGE_COLOR = gray # dull\n"
        'STORE_URL="/a b"\nUNSET\n',
        encoding="utf-8",
    )
    settings = load(X="no")
    assert settings.ai_system_prompt == "say ${HOME} and $X"
    assert (settings.image_color, settings.store_url) == ("gray", "/a b")


# --- case ----------------------------------------------------------------------------------


def words_of(name: str) -> list[str]:
    annotation = Settings.model_fields[name].annotation
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []


LITERALS = [(name, word) for name in Settings.model_fields for word in words_of(name)]


@pytest.mark.parametrize(("name", "word"), LITERALS)
def test_words_in_any_case(name: str, word: str) -> None:
    for written in (word.upper(), word.title(), f" {word} "):
        assert getattr(load_settings({name: written}), name) == word


def test_there_are_settings_of_words() -> None:
    assert len({name for name, _ in LITERALS}) >= 8


@pytest.mark.parametrize("written", ["True", "TRUE", "yes", "Yes", "on", "ON", "1", " true "])
def test_switches_in_any_case(written: str, load: Environment) -> None:
    assert load(IMAGE_SEND_ALL_PAGES=written).image_send_all_pages is True


@pytest.mark.parametrize("written", ["False", "no", "OFF", "0"])
def test_switches_off_in_any_case(written: str, load: Environment) -> None:
    assert load(OTEL_SDK_DISABLED=written).otel_sdk_disabled is False


def test_engines_in_any_case(load: Environment) -> None:
    settings = load(PRIMARY_ENGINE="Anthropic", SECONDARY_ENGINE="OpenAI")
    assert (settings.primary_engine, settings.secondary_engine) == ("anthropic", "openai")


# --- secrets by file -----------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["openai", "anthropic", "my-own"])
@pytest.mark.parametrize("ours", ["", "QUIRE_"])
@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_keys_of_vendors_from_files(
    provider: str, ours: str, ending: str, load: Environment, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(f"{SECRET}{ending}".encode())
    name = ours + setting_name(provider, "api_key") + "_FILE"
    settings = load(EXTRA_PROVIDERS="my-own", **{name: str(tmp_path / "key")})
    key = settings.providers[provider].api_key
    assert key is not None
    assert key.get_secret_value() == SECRET


def test_encryption_keys_from_a_file_named_in_a_file(tmp_path: Path) -> None:
    keys = "a:" + "A" * 43 + "="
    (tmp_path / "keys").write_text(keys + "\n")
    Path("quire.toml").write_text(f"encryption_keys_file = '{tmp_path}/keys'\n")
    assert load_settings().encryption_keys.get_secret_value() == keys


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "No such file"), (b"", "it is empty"), (b"\n \n", "it is empty"), (b"\xff", "UTF-8")],
)
def test_files_of_secrets_that_cannot_be_used(
    content: bytes | None, problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "key").write_bytes(content)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "key"))
    line = refusal()
    assert f"OPENAI_API_KEY_FILE names {tmp_path / 'key'}: " in line
    assert problem in line


def test_a_secret_and_its_file_together_are_refused(load: Environment, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    named = str(tmp_path / "key")
    line = load.refused(OPENAI_API_KEY="x", OPENAI_API_KEY_FILE=named)
    assert "OPENAI_API_KEY: OPENAI_API_KEY_FILE is set too. Allowed: one of them." in line


def test_of_a_secret_and_its_file_the_nearer_place_decides(
    load: Environment, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(SECRET)
    named = str(tmp_path / "key")
    key = load(OPENAI_API_KEY="of-the-shell", QUIRE_OPENAI_API_KEY_FILE=named)
    assert key.providers["openai"].api_key == SecretStr(SECRET)
    Path(".env").write_text(f"ANTHROPIC_API_KEY_FILE={named}\n")
    other = load(ANTHROPIC_API_KEY="of-the-shell")
    assert other.providers["anthropic"].api_key == SecretStr("of-the-shell")


# --- what other libraries read -------------------------------------------------------------


def test_values_for_libraries_are_handed_over_and_not_inherited(load: Environment) -> None:
    Path(".env").write_text(
        "AWS_ACCESS_KEY_ID=file\nAWS_SECRET_ACCESS_KEY=hidden\nTEMPORAL_API_KEY=hidden\n"
        "OTEL_EXPORTER_OTLP_HEADERS=a=hidden\nAWS_LAMBDA_THING=1\n"
    )
    before = dict(os.environ)
    settings = load(AWS_ACCESS_KEY_ID="shell", QUIRE_TEMPORAL_NAMESPACE="ours")
    assert settings.s3_access == {
        "AWS_ACCESS_KEY_ID": "shell",
        "AWS_SECRET_ACCESS_KEY": "hidden",
    }
    assert settings.temporal_environment["TEMPORAL_API_KEY"] == "hidden"
    assert settings.temporal_environment["TEMPORAL_NAMESPACE"] == "ours"
    lent = settings.passed_on("OTEL_")
    with lend_environment(lent):
        assert os.environ["OTEL_EXPORTER_OTLP_HEADERS"] == "a=hidden"
    added = {"AWS_ACCESS_KEY_ID": "shell", "QUIRE_TEMPORAL_NAMESPACE": "ours"}
    assert dict(os.environ) == {**before, **added}


def test_libraries_read_their_own_where_nothing_is_in_files(load: Environment) -> None:
    assert load(AWS_ACCESS_KEY_ID="shell", AWS_SECRET_ACCESS_KEY="s").s3_access == {}


def test_lent_values_give_back_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_A", "before")
    with pytest.raises(RuntimeError), lend_environment({"OTEL_A": "lent", "OTEL_B": "lent"}):
        raise RuntimeError
    assert os.environ["OTEL_A"] == "before"
    assert "OTEL_B" not in os.environ


def test_files_with_secrets_that_everyone_may_read_are_known(tmp_path: Path) -> None:
    file = Path(".env")
    file.write_text("MAX_PAGES=1\n")
    file.chmod(0o644)
    assert load_settings().exposed_files == ()
    file.write_text(f"OPENAI_API_KEY={SECRET}\n")
    assert load_settings().exposed_files == (tmp_path / ".env",)
    file.chmod(0o600)
    assert load_settings().exposed_files == ()


# --- the tests themselves ------------------------------------------------------------------


def test_the_machine_does_not_decide_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUIRE_MAX_PAGES", "1")
    monkeypatch.setenv("max_pages", "1")
    monkeypatch.setenv("CIRCUIT_WINDOW", "1")
    kept = own_environment()
    assert kept["QUIRE_CONFIG"] == "none"
    assert not [name for name in kept if "MAX_PAGES" in name.upper() or "CIRCUIT" in name]
    assert Tool(Path("/state")).environment({})["QUIRE_CONFIG"] == "none"


# --- files that are not what they should be --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"max_pages = {'9' * 5000}", "too large"),
        (f"max_pages = {'[' * 3000}", "quire.toml"),
        ("#" * 1_000_001, "larger than"),
    ],
    ids=["number", "nesting", "size"],
)
def test_a_hostile_file_is_refused_by_name(
    load: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quire.toml").write_text(text)
    assert said in refusal()


def test_an_endless_file_is_not_read_to_its_end(load: Environment, tmp_path: Path) -> None:
    (tmp_path / "zeros.env").symlink_to("/dev/zero")
    assert "larger than" in refusal(config=str(tmp_path / "zeros.env"))
