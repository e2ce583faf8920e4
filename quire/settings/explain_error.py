"""Explains in one line why a setting is refused; the validation library needs many."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from quire.domain.errors import SettingsError


def explain(error: ValidationError, labels: Mapping[str, str], prefix: str = "") -> SettingsError:
    """The first setting that is wrong, as it is labelled where it was set."""
    first = error.errors()[0]
    # A union adds the part that did not match to the field's name.
    name = prefix + str(first["loc"][0]).upper()
    return SettingsError(
        labels.get(name, name), f"{first['input']!r} is not allowed", _allowed(first)
    )


def _allowed(problem: Any) -> str:
    context = problem.get("ctx", {})
    if "expected" in context:
        return str(context["expected"])
    plain = {"int_parsing": "a whole number", "bool_parsing": "true or false"}
    if problem["type"] in plain:
        return plain[problem["type"]]
    if problem["type"] == "value_error":
        return str(problem["msg"]).removeprefix("Value error, ")
    return str(problem["msg"]).removeprefix("Input should be ")
