"""The JSON files: where they are, and what they are made from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.snapshots import commands, errors, examples, keys, names, schemas, settings
from tests.snapshots.layout import layout

FOLDER = Path(__file__).parent

SNAPSHOTS: dict[str, Callable[[], Any]] = {
    "commands": commands.record,
    "errors": errors.record,
    "examples": examples.record,
    "keys": keys.record,
    "names": names.record,
    "schemas": schemas.record,
    "settings": settings.record,
}


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.json"


def read(name: str) -> Any:
    return json.loads(path_of(name).read_text(encoding="utf-8"))


def text_of(value: Any) -> str:
    """What the file of a snapshot contains."""
    return layout(value) + "\n"
