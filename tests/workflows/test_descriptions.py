"""Every signal, update and query describes its input, with an example that it accepts."""

import inspect
import json
import re
from collections.abc import Callable
from inspect import Parameter
from typing import Any

import pytest
from temporalio import workflow

from quire.contracts.codes import ErrorInfo
from quire.domain.document.handler_input import parse_cancel, parse_range, parse_retry
from workflows.document.workflow import DocumentWorkflow

DEFINITION = workflow._Definition.must_from_class(DocumentWorkflow)
HANDLERS: dict[str, Any] = {
    f"{kind} {name}": handler
    for kind in ("signals", "updates", "queries")
    for name, handler in getattr(DEFINITION, kind).items()
}


PARSERS: dict[str, Callable[[list[object]], object]] = {
    "signals retry": parse_retry,
    "signals cancel": parse_cancel,
    "updates retry_pages": parse_retry,
    "updates cancel_document": parse_cancel,
    "queries pages": parse_range,
    "queries texts": parse_range,
}
# What is sent under a name that there is not.
OTHERS = "signals None"


@pytest.mark.parametrize("name", [name for name in HANDLERS if name != OTHERS])
def test_the_input_is_described(name: str) -> None:
    handler = HANDLERS[name]
    if name not in PARSERS:
        assert handler.description.endswith("No input.")
        return
    (example,) = re.findall(r"Input (\{.*?\})", handler.description)
    assert not isinstance(PARSERS[name]([json.loads(example)]), ErrorInfo)


@pytest.mark.parametrize("name", [name for name in HANDLERS if name != OTHERS])
def test_every_handler_takes_any_number_of_inputs(name: str) -> None:
    """With a parameter of its own, a signal without it would fail its task for ever."""
    handler = HANDLERS[name]
    for function in filter(None, [handler.fn, getattr(handler, "validator", None)]):
        kinds = [one.kind for one in inspect.signature(function).parameters.values()]
        assert kinds == [Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL]
