"""The JSON schema of every type, without anything that a renamed class or a new comment changes."""

from typing import Any, Literal

from pydantic import TypeAdapter

from tests.snapshots.types import MODELS, TUPLES

_WORDS = ("title", "description", "$defs")


def record() -> dict[str, Any]:
    """By label; the written form is listed apart only where it differs from what is read."""
    return {label: _both(kind) for label, kind in {**MODELS, **TUPLES}.items()}


def normalised(schema: dict[str, Any]) -> Any:
    """References in place, titles and descriptions gone."""
    return _walk(schema, schema.get("$defs", {}), ())


def _both(kind: Any) -> dict[str, Any]:
    read, written = _schema(kind, "validation"), _schema(kind, "serialization")
    both = {"read": read} if read == written else {"read": read, "written": written}
    if hasattr(kind, "_fields"):
        both["places"] = list(kind._fields)
    return both


def _schema(kind: Any, mode: Literal["validation", "serialization"]) -> Any:
    return normalised(TypeAdapter(kind).json_schema(mode=mode))


def _walk(node: Any, defs: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_walk(part, defs, inside) for part in node]
    if not isinstance(node, dict):
        return node
    flat: dict[str, Any] = {}
    if "$ref" in node:
        name = node["$ref"].removeprefix("#/$defs/")
        if name in inside:
            raise ValueError(f"{name} holds itself: it cannot be written in place")
        flat.update(_walk(defs[name], defs, (*inside, name)))
    for key, value in node.items():
        if key == "properties":
            # Here keys are names of fields: one may be called `title`.
            flat[key] = {field: _walk(part, defs, inside) for field, part in value.items()}
        elif key in ("default", "enum", "const", "required"):
            flat[key] = sorted(value) if key == "required" else value
        elif key not in (*_WORDS, "$ref"):
            flat[key] = _walk(value, defs, inside)
    return flat
