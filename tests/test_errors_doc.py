"""docs/errors.md is what the catalogue says, and errors are built in the catalogue alone."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

from quire.contracts.codes import Code, FailureKind
from quire.domain import errors
from tools.write_errors_doc import PAGE, errors_page

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("activities", "quire", "workflows")
CATALOGUE = ROOT / "quire" / "domain" / "errors"
# Worded by their callers: a setting, or an option.
WORDED_ANYWHERE = {"SettingsError", "UsageError"}
BUILT_IN_THE_CATALOGUE = {
    name
    for name, found in vars(errors).items()
    if inspect.isclass(found) and issubclass(found, errors.QuireError)
} - WORDED_ANYWHERE | {"ErrorInfo", "FileNotFoundError"}


def test_the_page_is_written_from_the_catalogue() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == errors_page(), "run: make docs"


def test_every_kind_of_a_failed_attempt_is_described() -> None:
    assert set(errors.DESCRIBED) == set(errors.MEANING) == set(FailureKind)


def built_here(tree: ast.AST) -> list[str]:
    """Classes of the catalogue that this code builds itself, by name or as `errors.Name`."""
    called = [(node, node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [
        (node, function.id if isinstance(function, ast.Name) else function.attr)
        for node, function in called
        if isinstance(function, ast.Name | ast.Attribute)
    ]
    return [f"{node.lineno} {name}" for node, name in names if name in BUILT_IN_THE_CATALOGUE]


def branches_on_a_reason(tree: ast.AST) -> list[int]:
    """The lines that compare anything's `reason`, or match on it."""
    compared = [
        side
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
    ]
    matched = [node.subject for node in ast.walk(tree) if isinstance(node, ast.Match)]
    return [
        side.lineno
        for side in (*compared, *matched)
        if isinstance(side, ast.Attribute) and side.attr == "reason"
    ]


def trees() -> Iterator[tuple[Path, ast.AST]]:
    """The product's files."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))


def test_errors_are_built_in_the_catalogue_alone() -> None:
    outside = [(path, tree) for path, tree in trees() if CATALOGUE not in (ROOT / path).parents]
    assert [f"{path}:{found}" for path, tree in outside for found in built_here(tree)] == []


def test_no_caller_branches_on_a_reason() -> None:
    """Reasons are for programs outside; inside, a class or the catalogue says it."""
    assert [f"{path}:{n}" for path, tree in trees() for n in branches_on_a_reason(tree)] == []


def test_these_tests_see_what_they_should() -> None:
    bad = ast.parse(
        "raise errors.DocumentRefused(1)\n"
        "raise DocumentRefused(2)\n"
        "if error.info.reason == 'BUG': pass\n"
        "if self.reason in FAULTS: pass\n"
        "errors.DocumentRefused.from_info(info)\n"
        "shown = error.reason\n"
    )
    assert built_here(bad) == ["1 DocumentRefused", "2 DocumentRefused"]
    assert branches_on_a_reason(bad) == [3, 4]


def test_every_entry_has_a_public_code_and_its_own_class_again() -> None:
    for entry in errors.entries():
        assert entry.code in set(Code)
        info = errors.QuireError(entry.code, entry.reason, "Words.", "Advice.").info
        assert type(errors.QuireError.from_info(info)) is entry.raises
        assert errors.QuireError.from_info(info).info == info
