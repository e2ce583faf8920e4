"""Every signal, update and query describes its input, with an example that it accepts."""

import json
import re
from typing import Any

import pytest
from pydantic import TypeAdapter
from temporalio import workflow

from workflows.document.workflow import DocumentWorkflow

DEFINITION = workflow._Definition.must_from_class(DocumentWorkflow)
HANDLERS: dict[str, Any] = {
    f"{kind} {name}": handler
    for kind in ("signals", "updates", "queries")
    for name, handler in getattr(DEFINITION, kind).items()
}


@pytest.mark.parametrize("name", HANDLERS)
def test_the_input_is_described(name: str) -> None:
    handler = HANDLERS[name]
    takes = handler.arg_types or []
    if not takes:
        assert handler.description.endswith("No input.")
        return
    (example,) = re.findall(r"Input (\{.*?\})", handler.description)
    TypeAdapter(takes[0]).validate_python(json.loads(example))
