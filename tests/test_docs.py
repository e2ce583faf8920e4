"""The docs are true: what exists is documented, and what is documented exists."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer

from quire.providers.registry import PROVIDERS
from quire.settings import ProviderSettings, Settings
from quire.settings.names import CONFIG, PASSWORD, Names, is_of_others
from quire.telemetry import metrics
from starter import app
from tests.replay import record
from tests.test_architecture import MAY_IMPORT, OURS, REPLAYED_OUTSIDE_WORKFLOWS
from tools import draw_map, write_errors_doc

ROOT = Path(__file__).resolve().parents[1]
VENDORS = tuple(name.upper() for name in PROVIDERS)


def existing_settings() -> set[str]:
    own = {name.upper() for name in Settings.model_fields}
    of_vendors = {
        f"{vendor}_{name.upper()}" for vendor in VENDORS for name in ProviderSettings.model_fields
    }
    return own | of_vendors


def documented_settings() -> set[str]:
    rows = [
        line.split("|")[1]
        for line in (ROOT / "docs/settings.md").read_text().splitlines()
        if line.startswith("| `")
    ]
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_every_setting_is_documented_and_exists() -> None:
    assert documented_settings() == existing_settings()


def test_every_name_that_the_page_of_settings_mentions_exists() -> None:
    """Also those in running text: with the prefix, by file, and of other libraries."""
    text = (ROOT / "docs/settings.md").read_text()
    extra = Names(["deepinfra"])
    unknown = [
        name
        for name in re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`", text)
        if name.removeprefix("QUIRE_") not in extra
        and not is_of_others(name)
        and name not in (CONFIG, PASSWORD, "QUIRE_NAME", "TEXT_ONLY")
    ]
    assert unknown == []
    assert "`QUIRE_CONFIG=FILE`" in text
    assert "`ENCRYPTION_KEYS_FILE`" in text


def test_the_example_of_a_deployment_names_what_exists() -> None:
    compose = (ROOT / "docker-compose.temporal.yml").read_text()
    lines = (ROOT / "deploy/env.example").read_text().splitlines()
    names = [line.partition("=")[0] for line in lines if line and not line.startswith("#")]
    assert len(names) >= 10
    assert [name for name in names if "${" + name not in compose] == []
    known = Names([])
    assert [
        n for n in names if n.startswith("QUIRE_") and not is_of_others(n) and n not in known
    ] == []


def test_defaults_are_documented_as_they_are() -> None:
    text = (ROOT / "docs/settings.md").read_text()
    for name, field in Settings.model_fields.items():
        if isinstance(field.default, (int, float, str)) and len(str(field.default)) in range(1, 20):
            row = next(line for line in text.splitlines() if f"`{name.upper()}`" in line)
            assert f"`{str(field.default).lower()}`" in row.lower(), row


def test_every_command_is_documented_and_exists() -> None:
    existing = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    readme = (ROOT / "README.md").read_text()
    rows = [line.split("|")[1] for line in readme.splitlines() if line.startswith("| `")]
    documented = {word for row in rows for word in re.findall(r"`([a-z]+)[^`]*`", row)}
    assert documented == existing


def test_every_metric_is_documented_with_its_labels_and_exists() -> None:
    rows = [
        [set(re.findall(r"`(\w+)`", cell)) for cell in line.split("|")[1:3]]
        for line in (ROOT / "docs/operations.md").read_text().splitlines()
        if line.startswith("| `quire_")
    ]
    documented = {name: labels for names, labels in rows for name in names}
    assert documented == {measure.exposed: set(measure.labels) for measure in metrics.ALL}


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), ROOT / "docs/benchmarks/README.md"]
FOLDERS = ("activities", "docs", "quire", "samples", "testing", "tests", "tools", "workflows")
PATH = r"(?:[\w.-]+/)*[\w.-]+(?:\.(?:py|md|svg|toml|ya?ml|example)|/)"
# What a page names that is not of this project: prefixes of the store, an example's folder, and
# the file of settings that a person may write.
ELSEWHERE = {
    "answers/", "briefs/", "demo-output/", "finished/", "keys/", "leases/", "quarantine/",
    "results/", "scans/", "sources/", "store/", "surveys/", "texts/", "quire.toml",
}  # fmt: skip


def test_links_in_the_docs_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def exists(name: str, page: Path) -> bool:
    return any((folder / name).exists() for folder in (ROOT, page.parent))


def test_paths_in_the_docs_exist() -> None:
    """Every `path/of.py` and `folder/` in backticks, from the root or beside the page."""
    missing = [
        f"{page.name}: {name}"
        for page in PAGES
        for name in re.findall(rf"`({PATH})`", page.read_text(encoding="utf-8"))
        if name not in ELSEWHERE and not exists(name, page)
    ]
    assert missing == []


def test_paths_in_the_code_exist() -> None:
    """Every path and module of ours that a docstring or a comment names."""
    modules = r"\b(?:quire|activities|workflows)(?:\.\w+)+"
    missing = []
    for path in (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))):
        text = path.read_text(encoding="utf-8")
        docstrings = [
            ast.get_docstring(node) or ""
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        words = "\n".join([*docstrings, *re.findall(r"# .*", text)])
        named = re.findall(rf"\b(?:{'|'.join(FOLDERS)})/(?:[\w.-]+/)*[\w-]+\.(?:py|md|svg)", words)
        missing += [f"{path.name}: {name}" for name in named if not (ROOT / name).exists()]
        dotted = re.findall(modules, words)
        missing += [
            f"{path.name}: {name}" for name in dotted if not (name in ELSEWHERE or known(name))
        ]
    assert missing == []


def known(dotted: str) -> bool:
    """Whether a dotted name is a module, or a name in one."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        if place.is_dir() or place.with_suffix(".py").exists():
            # A name in a module is written in it; a folder that is not a module has none.
            rest = parts[length:]
            home = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            return not rest or rest[0] in home.read_text(encoding="utf-8")
    return False


def test_the_layers_may_import_what_contributing_says() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = [row.split("|") for row in re.findall(r"^\| `.*", page.partition("## Words")[0], re.M)]
    documented = {
        layer.removesuffix("/"): [set(re.findall(r"[\w.]+", cell)) for cell in (ours, others)]
        for _, first, _, ours, others, _ in rows
        for layer in re.findall(r"`([^`]+)`", first)
    }
    assert documented == {layer: in_words(names) for layer, names in MAY_IMPORT.items()}


def in_words(names: tuple[str, ...]) -> list[set[str]]:
    """Our own layers, and libraries, as the table writes them."""
    ours = {name for name in names if name.partition(".")[0] in OURS}
    return [{name.removeprefix("quire.") for name in ours}, set(names) - ours]


def test_replayed_modules_are_listed() -> None:
    """CONTRIBUTING names the modules outside `workflows/` whose code runs in a replay."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("**The precise list**")[2].partition("\n\nA change")[0]
    listed = set(re.findall(r"^- `([\w/]+?)(?:\.py|/)`", section, re.MULTILINE))
    assert {name.replace("/", ".") for name in listed} == REPLAYED_OUTSIDE_WORKFLOWS


@pytest.mark.parametrize("script", [draw_map, write_errors_doc, record])
def test_asking_for_help_writes_nothing(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: pytest.fail("it wrote a file"))
    monkeypatch.setattr(sys, "argv", ["script", "--help"])
    with pytest.raises(SystemExit) as ended:
        script.main()
    assert ended.value.code == 0
    assert script.__name__ in capsys.readouterr().out
