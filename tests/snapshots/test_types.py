"""Every type is listed, and what was written before is still understood."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
from pydantic import BaseModel
from temporalio.contrib.pydantic import pydantic_data_converter

from quire.contracts.base import Lean, Wire
from tests.snapshots.examples import EXAMPLES
from tests.snapshots.recorded import read
from tests.snapshots.schemas import normalised
from tests.snapshots.types import BASES, MODELS

CASES = [(label, case) for label, cases in EXAMPLES.items() for case in cases]


def _import_all() -> None:
    """All modules of the package in which the wire's base is."""
    package = importlib.import_module(Wire.__module__.partition(".")[0])
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _below(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for kind in base.__subclasses__():
        if not kind.__module__.startswith("tests."):
            yield kind
        yield from _below(kind)


def test_every_wire_type_is_listed() -> None:
    _import_all()
    assert set(_below(Wire)) - {*MODELS.values(), *BASES} == set()


def test_every_type_is_listed_once() -> None:
    assert len(set(MODELS.values())) == len(MODELS)


def test_every_type_that_leaves_out_defaults_has_its_examples() -> None:
    lean = {label for label, kind in MODELS.items() if issubclass(kind, Lean)}
    assert {label for label in lean if {"bare", "full"} <= set(EXAMPLES[label])} == lean


def test_a_full_example_has_nothing_at_its_default() -> None:
    for label in (label for label, kind in MODELS.items() if issubclass(kind, Lean)):
        full = EXAMPLES[label]["full"]
        assert set(full.model_dump()) == set(type(full).model_fields), label


def test_examples_are_of_the_types_that_they_stand_for() -> None:
    assert all(type(one) is MODELS[label] for label in EXAMPLES for one in EXAMPLES[label].values())


@pytest.mark.parametrize(("label", "case"), CASES)
def test_what_was_written_before_is_understood(label: str, case: str) -> None:
    written = read("examples")[label][case]
    assert MODELS[label].model_validate_json(written) == EXAMPLES[label][case]


@pytest.mark.parametrize(("label", "case"), CASES)
def test_history_holds_the_same_text(label: str, case: str) -> None:
    payload = pydantic_data_converter.payload_converter.to_payload(EXAMPLES[label][case])
    assert payload.data.decode() == read("examples")[label][case]
    assert payload.metadata["encoding"] == b"json/plain"


def test_a_field_may_be_called_title() -> None:
    class Book(BaseModel):
        """Words."""

        title: str
        description: int = 1

    class Shelf(BaseModel):
        first: Book

    fields = normalised(Shelf.model_json_schema())["properties"]["first"]["properties"]
    assert fields == {"title": {"type": "string"}, "description": {"default": 1, "type": "integer"}}
