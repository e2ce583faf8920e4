"""The bases of every type that crosses a process border.

Bytes and page texts never appear in payloads: they travel as keys into the store."""

from collections.abc import Sized
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)


class Wire(BaseModel):
    """Frozen. An unknown field is ignored: during a rolling deploy, workers of the older version
    read what the newer one writes."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StrictWire(Wire):
    """What people send: a typo must not pass as a default."""

    model_config = ConfigDict(extra="forbid")


class Lean(Wire):
    """Leaves out what is at its default: history holds one of these for each attempt."""

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        whole: dict[str, Any] = serialize(self)
        return {
            name: value
            for name, value in whole.items()
            if getattr(self, name) != fields[name].default
        }


def is_none(value: object) -> bool:
    """For `exclude_if`: a field that is rarely used stays out of payloads that lack it."""
    return value is None


def is_false(value: object) -> bool:
    """The same for a switch that is off, or a number that is 0."""
    return not value


def is_empty(value: Sized) -> bool:
    """The same for a collection."""
    return len(value) == 0


def only_unknown_fields(error: Exception) -> bool:
    """Whether nothing else is wrong with an input: it may be from a later version."""
    if not isinstance(error, ValidationError):
        return False
    return {details["type"] for details in error.errors()} == {"extra_forbidden"}
