"""Each part of a document's state is written by the classes that its docstring names."""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "workflows" / "document"
# What an object of these classes is called wherever it is used, and who may write to it.
PARTS = {
    "state": (
        "state.DocumentState",
        {"DocumentWorkflow", "Preparation", "Dispatcher", "DeadlineTimer"},
    ),
    "pages": (
        "chosen_pages.ChosenPages",
        {"DocumentWorkflow", "People", "Preparation", "Dispatcher", "DocumentState"},
    ),
    "dispatch": ("dispatch.DispatchState", {"Dispatcher", "ChosenPages"}),
    "page": ("page_state.PageState", {"DispatchState"}),
    "version": ("version.ResultVersion", {"DocumentWorkflow", "DocumentState"}),
    "progress": (
        "progress.Progress",
        {"DocumentWorkflow", "Preparation", "Dispatcher", "DocumentState"},
    ),
    "end": ("state.DocumentEnd", {"DocumentState"}),
    "stop": ("stop.StopState", {"DocumentWorkflow", "DeadlineTimer", "People"}),
}
# The dispatch has a dictionary of its own by the name of a part.
SAME_WORD = {("DispatchState", "pages")}
# Methods of lists, sets and dictionaries that change them.
CHANGES = {"add", "append", "clear", "extend", "pop", "remove", "update", "setdefault", "insert"}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def called(node: ast.expr) -> str:
    """The word for an object: `self._state.pages` is pages, and one of `pages[...]` a page."""
    if isinstance(node, ast.Attribute):
        return node.attr.lstrip("_")
    if isinstance(node, ast.Subscript):
        return called(node.value).removesuffix("s")
    if isinstance(node, ast.Call):
        return called(node.func).removeprefix("require_")
    return node.id if isinstance(node, ast.Name) else ""


def owners(target: ast.expr) -> Iterator[ast.expr]:
    """The objects that an assignment to `a.b.c` or `a.b.c[n]` changes: a.b, and a with it."""
    while isinstance(target, ast.Attribute | ast.Subscript):
        target = target.value
        yield target


def changed(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or call changes, without what its methods do."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif isinstance(node, ast.Call) and called(node.func) == "insort":
        yield from [node.args[0], *owners(node.args[0])]
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
    ):
        yield from [node.func.value, *owners(node.func.value)]
    for target in targets:
        for one in target.elts if isinstance(target, ast.Tuple) else [target]:
            yield from owners(one)


def class_named(path: Path, name: str) -> ast.ClassDef:
    found = (n for n in tree_of(path).body if isinstance(n, ast.ClassDef) and n.name == name)
    return next(found)


@cache
def writing_methods(part: str) -> frozenset[str]:
    """The methods of a part's class that change it, directly or through one another."""
    module, _, name = PARTS[part][0].partition(".")
    methods = {
        node.name: list(ast.walk(node))
        for node in class_named(FOLDER / f"{module}.py", name).body
        if isinstance(node, ast.FunctionDef) and node.name != "__init__"
    }
    found = {
        name
        for name, nodes in methods.items()
        if any(called(one) == "self" for node in nodes for one in changed(node))
    }
    while True:
        more = {
            name
            for name, nodes in methods.items()
            for node in nodes
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and called(node.func.value) == "self"
            and node.func.attr in found
        }
        if more <= found:
            return frozenset(found)
        found |= more


def written(node: ast.AST) -> Iterator[str]:
    """The parts that a statement or call of another class writes to."""
    for one in changed(node):
        # The innermost object is the one that is written; what holds it only points at it.
        if called(one) in PARTS:
            yield called(one)
            break
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        part = called(node.func.value)
        if part in PARTS and node.func.attr in writing_methods(part):
            yield part


def writers(trees: list[ast.Module]) -> dict[str, set[str]]:
    """Who writes to which part, over some modules."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for scope in tree.body:
            name = getattr(scope, "name", "the module")
            for node in ast.walk(scope):
                for part in written(node):
                    own = PARTS[part][0].partition(".")[2] == name
                    if not own and (name, part) not in SAME_WORD:
                        found.setdefault(part, set()).add(name)
    return found


def test_only_the_named_classes_write() -> None:
    found = writers([tree_of(path) for path in sorted(FOLDER.glob("*.py"))])
    assert found == {part: allowed for part, (_, allowed) in PARTS.items()}


@pytest.mark.parametrize("part", PARTS)
def test_a_class_names_its_writers(part: str) -> None:
    place, allowed = PARTS[part]
    module, _, name = place.partition(".")
    documented = getattr(importlib.import_module(f"workflows.document.{module}"), name).__doc__
    assert not [writer for writer in allowed if f"`{writer}`" not in documented]


@pytest.mark.parametrize(
    ("code", "part"),
    [
        ("self._state.progress.phase = 1", "progress"),
        ("state.pages.settled[3] = 1", "pages"),
        ("self._state.progress.last_errors.append(1)", "progress"),
        ("self._state.pages.require_dispatch().failed(3, failure, now)", "dispatch"),
        ("dispatch.pages[3].error = None", "page"),
        ("page.attempts.append(1)", "page"),
        ("insort(state.pages.dispatch.waiting, 3)", "dispatch"),
        ("self._state.end.error, other = 1, 2", "end"),
        ("self._state.version.number += 1", "version"),
        ("self._stop.cancelled = True", "stop"),
        ("self._state.take_up(carried, text_only=False)", "state"),
    ],
)
def test_this_test_sees_what_it_should(code: str, part: str) -> None:
    tree = ast.parse(f"class Stranger:\n    def act(self):\n        {code}\n")
    assert writers([tree]) == {part: {"Stranger"}}
