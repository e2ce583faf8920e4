"""Where settings come from, the most important first, and what they come to together.

    what a program passes > QUIRE_NAME > NAME > .env or the named file > quire.toml > the default

The environment takes precedence over files because it is nearer to the one command, and because a
container's must be able to correct what its image holds. Empty is the same as not set, as Compose
and CI systems pass every variable, also those without a value.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr

from quire.domain import errors
from quire.domain.errors import SettingsError
from quire.domain.units import parse_list
from quire.settings import files
from quire.settings.names import BY_FILE, CONFIG, PASSWORD, PREFIX, Names, is_of_others

_SCALARS = "a text, a number or a switch"


@dataclass(frozen=True)
class Given:
    """A value as text, and how an error names it."""

    text: str
    label: str


@dataclass
class Layer:
    """The values of one place, by the name of the setting."""

    values: dict[str, Given] = field(default_factory=dict)
    #: Names that are no settings, as they are written: refused, or of other programs.
    strict: bool = False
    #: An empty value hides those of the layers below: only a program can mean that.
    hides: bool = False
    file: Path | None = None
    #: Values that are neither text nor number, until it is known which settings are lists.
    lists: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Resolved:
    """All values that are set, and the files that were read."""

    values: dict[str, Given]
    files: tuple[Path, ...]
    #: Files with a secret in them that every user of the machine may read.
    exposed: tuple[Path, ...]


def resolve(overrides: Mapping[str, object], config: str | None) -> Resolved:
    """Read every place, refuse unknown names, and settle which value counts."""
    environment = {name.upper(): value for name, value in os.environ.items()}
    named = config if config is not None else environment.get(CONFIG, "")
    layers = [
        _table_layer(files.flatten(dict(overrides)), "", hides=True),
        *_variable_layers(environment, None),
        *(layer for path in files.find_files(named) for layer in _file_layers(path)),
    ]
    names = Names(_extra_providers(layers))
    for layer in layers:
        _check(layer, names)
    values = _merge(layers, names)
    read = tuple(dict.fromkeys(layer.file for layer in layers if layer.file))
    return Resolved(_open_secrets(values, names), read, tuple(_exposed(layers, names)))


def _variable_layers(variables: Mapping[str, str], file: Path | None) -> tuple[Layer, Layer]:
    """`QUIRE_NAME` before `NAME`."""
    ours, plain = Layer(strict=True, file=file), Layer(file=file)
    for name, text in variables.items():
        given = Given(text, f"{name} in {file.name}" if file else name)
        if not name.startswith(PREFIX):
            plain.values[name] = given
        elif not (is_of_others(name) or (file is None and name in (CONFIG, PASSWORD))):
            ours.values[name.removeprefix(PREFIX)] = given
    return ours, plain


def _file_layers(path: Path) -> tuple[Layer, ...]:
    if files.is_toml(path):
        return (_table_layer(files.read_toml(path), f" in {path.name}", file=path),)
    values = {name.upper(): text for name, text in files.read_dotenv(path).items()}
    return _variable_layers(values, path)


def _table_layer(
    entries: Iterator[tuple[tuple[str, ...], object]],
    where: str,
    *,
    hides: bool = False,
    file: Path | None = None,
) -> Layer:
    """A table's name is a prefix: `[openai] api_key` is `OPENAI_API_KEY`."""
    layer = Layer(strict=True, hides=hides, file=file)
    for path, value in entries:
        name = "_".join(path).upper().replace("-", "_")
        label = ".".join(path) + where
        if value is None:
            continue
        if name in layer.values:
            raise SettingsError(label, "it is set twice", "each setting once")
        if isinstance(value, list | tuple):
            layer.lists.add(name)
        layer.values[name] = Given(_text(value, label), label)
    return layer


def _text(value: object, label: str) -> str:
    """A value as it would stand in the environment, so that all places obey the same rules."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(_text(part, label) for part in value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():.3f}s"
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, str | int | float | Path):
        return str(value)
    raise SettingsError(label, f"{type(value).__name__} is not allowed", _SCALARS)


def _extra_providers(layers: list[Layer]) -> tuple[str, ...]:
    for layer in layers:
        given = layer.values.get("EXTRA_PROVIDERS")
        if given and (given.text or layer.hides):
            return parse_list(given.text)
    return ()


def _check(layer: Layer, names: Names) -> None:
    for name, given in layer.values.items():
        if layer.strict and name not in names:
            raise errors.unknown_setting(given.label, _like(names.nearest(name), given.label))
        if name in layer.lists and name not in names.lists:
            raise SettingsError(given.label, "a list is not allowed", _SCALARS)
    for name in sorted(names.secrets):
        both = [layer.values.get(one) for one in (name, name + BY_FILE)]
        if all(given and given.text for given in both):
            label, by_file = (given.label for given in both if given)
            raise SettingsError(label, f"{by_file} is set too", "one of them")


def _like(nearest: str | None, label: str) -> str | None:
    """The name in the form in which the unknown one was written."""
    written = label.split(" in ")[0]
    if nearest is None or written.startswith(PREFIX):
        return PREFIX + nearest if nearest else None
    table, dot, _ = written.partition(".")
    prefix = table.lower().replace("-", "_") + "_"
    if dot and nearest.lower().startswith(prefix):
        return f"{table}.{nearest.lower().removeprefix(prefix)}"
    return nearest.lower()


def _merge(layers: list[Layer], names: Names) -> dict[str, Given]:
    values: dict[str, Given] = {}
    for layer in reversed(layers):
        for name, given in layer.values.items():
            if name not in names or not (given.text or layer.hides):
                continue
            # A secret and its file are two ways to say the same: the upper layer decides.
            for one in (name, name + BY_FILE, name.removesuffix(BY_FILE)):
                if one == name or one.removesuffix(BY_FILE) in names.secrets:
                    values.pop(one, None)
            if given.text:
                values[name] = given
    return values


def _open_secrets(values: dict[str, Given], names: Names) -> dict[str, Given]:
    opened = dict(values)
    for name in names.secrets:
        if given := opened.pop(name + BY_FILE, None):
            secret = files.read_secret(given.label, given.text)
            opened[name] = Given(secret, given.label)
    return opened


def _exposed(layers: list[Layer], names: Names) -> Iterator[Path]:
    for path in dict.fromkeys(layer.file for layer in layers if layer.file):
        secret = any(
            given.text and names.is_secret(name)
            for layer in layers
            if layer.file == path
            for name, given in layer.values.items()
        )
        if secret and files.others_can_read(path):
            yield path
