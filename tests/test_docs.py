"""The docs tell the truth: what exists is documented, and what is documented exists."""

import re
from pathlib import Path

import typer

from quire.settings import ProviderSettings, Settings
from quire.telemetry import metrics
from starter import app

ROOT = Path(__file__).resolve().parents[1]
VENDORS = ("OPENAI", "ANTHROPIC")


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


def test_links_in_the_docs_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
