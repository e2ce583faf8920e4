"""Explains in one line why a setting is refused; the validation library needs many."""

from typing import Any

from pydantic import ValidationError

from quire.domain.errors import SettingsError


def explain(error: ValidationError, prefix: str = "") -> SettingsError:
    """The first setting that is wrong, by its name in the environment."""
    first = error.errors()[0]
    name = prefix + "_".join(str(part) for part in first["loc"]).upper()
    return SettingsError(name, f"{first['input']!r} is not allowed", _allowed(first))


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
