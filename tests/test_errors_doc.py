"""docs/errors.md is what the catalogue says, and errors are built in the catalogue alone."""

import ast
import inspect
from pathlib import Path

from quire.contracts.codes import Code, FailureKind
from quire.domain import errors
from tools.write_errors_doc import PAGE, errors_page

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("activities", "quire", "workflows")
CATALOGUE = ROOT / "quire" / "domain" / "errors"
# Worded by their callers: a setting, an option, or what a vendor answered.
WORDED_ANYWHERE = {"SettingsError", "UsageError", "AttemptFailed"}
BUILT_IN_THE_CATALOGUE = {
    name
    for name, found in vars(errors).items()
    if inspect.isclass(found) and issubclass(found, errors.QuireError)
} - WORDED_ANYWHERE | {"ErrorInfo"}


def test_the_page_is_written_from_the_catalogue() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == errors_page(), "run: make docs"


def test_every_kind_of_a_failed_attempt_is_described() -> None:
    assert set(errors.DESCRIBED) == set(errors.MEANING) == set(FailureKind)


def test_errors_are_built_in_the_catalogue_alone() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.func.id}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if CATALOGUE not in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in BUILT_IN_THE_CATALOGUE
    ]
    assert found == []


def test_no_caller_branches_on_a_reason() -> None:
    """Reasons are for programs outside; inside, a class says it."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Attribute)
        and side.attr == "reason"
        and isinstance(side.value, ast.Attribute)
        and side.value.attr == "info"
    ]
    assert found == []


def test_every_entry_has_a_public_code_and_its_own_class_again() -> None:
    for entry in errors.entries():
        assert entry.code in set(Code)
        info = errors.QuireError(entry.code, entry.reason, "Words.", "Advice.").info
        assert type(errors.QuireError.from_info(info)) is entry.raises
        assert errors.QuireError.from_info(info).info == info
