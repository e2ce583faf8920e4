"""The commands of both programs: what scripts write, and not what help says of it."""

from enum import Enum
from typing import Any

import typer

from quire.cli.output import Exit
from starter import app as starter_app
from worker import app as worker_app


def record() -> dict[str, Any]:
    return {
        "starter": _program(starter_app),
        "worker": _program(worker_app),
        "exits": {str(code.value): code.name for code in Exit},
    }


def _program(app: typer.Typer) -> dict[str, Any]:
    command: Any = typer.main.get_command(app)
    # A program with a single command is called without its name.
    commands = getattr(command, "commands", {"": command})
    own = {"": _parameters(command)} if hasattr(command, "commands") else {}
    return own | {name: _parameters(one) for name, one in commands.items() if not one.hidden}


def _parameters(command: Any) -> dict[str, Any]:
    return {" ".join([*one.opts, *one.secondary_opts]): _parameter(one) for one in command.params}


def _parameter(one: Any) -> dict[str, Any]:
    facts = {
        "kind": one.param_type_name,
        "type": _type(one),
        "default": one.default.value if isinstance(one.default, Enum) else one.default,
        "required": one.required,
        "envvar": one.envvar,
        "is_flag": getattr(one, "is_flag", False),
        "nargs": one.nargs,
        "multiple": one.multiple,
        "min": one.min,
        "max": one.max,
        "metavar": one.metavar,
        "hidden": one.hidden,
    }
    usual = {"nargs": 1}
    return {
        key: value
        for key, value in facts.items()
        if value is not None and value is not False and value != usual.get(key)
    }


def _type(one: Any) -> Any:
    kind = one.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [choice.value for choice in kind]
    return kind.__name__ if isinstance(kind, type) else str(kind)
