"""The rooms of the product, read from its syntax trees: their sizes, and who imports whom.

A room is a folder with one purpose: `workflows`, `activities`, and below `quire/` every folder and
every single module. The folders of `quire/domain` are rooms of their own.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = ("starter.py", "worker.py")
PACKAGES = ("activities", "quire", "workflows")
ENTRY_POINTS = "worker.py, starter.py"
# Folders whose own folders are rooms.
HOUSES = ("quire", "quire/domain")


@dataclass(frozen=True)
class Module:
    """One file of the product."""

    path: Path

    @property
    def name(self) -> str:
        """Its path from the root of the project."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def dotted(self) -> str:
        """The name under which it is imported."""
        return self.name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return len(source_lines(self.path))

    @property
    def room(self) -> str:
        """The room it belongs to."""
        if self.name in PROGRAMS:
            return ENTRY_POINTS
        folder = self.path.parent.relative_to(ROOT)
        if folder.as_posix() in HOUSES:
            alone = folder.as_posix() == "quire" and self.path.name != "__init__.py"
            return self.name if alone else folder.as_posix()
        while folder.parent.as_posix() not in (*HOUSES, "."):
            folder = folder.parent
        return folder.as_posix()


@dataclass(frozen=True)
class Room:
    """A room, what is in it, and the rooms it imports from."""

    name: str
    purpose: str
    modules: tuple[Module, ...]
    imports: tuple[str, ...]

    @property
    def lines(self) -> int:
        """The lines of all its modules."""
        return sum(module.lines for module in self.modules)

    @property
    def median_lines(self) -> int:
        """The lines of its middle module; packages without code do not count."""
        return round(median(module.lines for module in with_code(self.modules)))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def source_lines(path: Path) -> tuple[str, ...]:
    """The lines of a file."""
    return tuple(path.read_text(encoding="utf-8").splitlines())


@cache
def product_modules() -> tuple[Module, ...]:
    """Every module that the wheel or a program holds."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return tuple(Module(path) for path in (*files, *(ROOT / name for name in PROGRAMS)))


def with_code(modules: Iterable[Module]) -> list[Module]:
    """Those that hold more than a docstring."""
    return [module for module in modules if len(tree_of(module.path).body) > 1]


@cache
def read_rooms() -> tuple[Room, ...]:
    """Every room, by name."""
    homes = {module.dotted: module.room for module in product_modules()}
    grouped: dict[str, list[Module]] = {}
    for module in product_modules():
        grouped.setdefault(module.room, []).append(module)
    return tuple(
        Room(name, _purpose(name, modules), tuple(modules), _imports(name, modules, homes))
        for name, modules in sorted(grouped.items())
        if with_code(modules)
    )


def _purpose(name: str, modules: list[Module]) -> str:
    """The first sentence of the room's docstring."""
    if name == ENTRY_POINTS:
        return "The programs of a checkout."
    first = min(modules, key=lambda module: (len(module.path.parts), module.name))
    words = " ".join((ast.get_docstring(tree_of(first.path)) or "").split())
    return words.partition(". ")[0].rstrip(".") + "."


def _imports(name: str, modules: list[Module], homes: dict[str, str]) -> tuple[str, ...]:
    found = {
        homes[module]
        for own in modules
        for module in imported_modules(own, homes)
        if homes[module] != name
    }
    return tuple(sorted(found))


def imported_modules(module: Module, known: Iterable[str]) -> set[str]:
    """The modules of the product that a module imports, anywhere in it."""
    known, found = set(known), set[str]()
    for node in ast.walk(tree_of(module.path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else str(node.module))
    return found & known


def cycles(rooms: Sequence[Room]) -> list[tuple[str, ...]]:
    """Groups of rooms that import each other, directly or around corners."""
    reach = {room.name: _reached(room.name, _graph(rooms)) for room in rooms}
    groups = {
        tuple(sorted(other for other in reach if other in reach[name] and name in reach[other]))
        for name in reach
    }
    return sorted(group for group in groups if group)


def layers(rooms: Sequence[Room]) -> list[list[str]]:
    """The rooms from top to bottom: each is above everything it imports."""
    graph = _graph(rooms)
    if circles := cycles(rooms):
        raise ValueError(f"rooms import each other: {circles}")
    height: dict[str, int] = {}

    def measure(name: str) -> int:
        if name not in height:
            height[name] = 1 + max((measure(below) for below in graph[name]), default=-1)
        return height[name]

    for name in graph:
        measure(name)
    levels = range(max(height.values()), -1, -1)
    return [sorted(name for name in height if height[name] == level) for level in levels]


def direct_imports(rooms: Sequence[Room]) -> dict[str, list[str]]:
    """Per room the imports that its other imports do not imply: as many as a drawing can show."""
    graph = _graph(rooms)
    return {
        name: [
            target
            for target in targets
            if not any(target in _reached(other, graph) for other in targets if other != target)
        ]
        for name, targets in graph.items()
    }


def _graph(rooms: Sequence[Room]) -> dict[str, tuple[str, ...]]:
    return {room.name: room.imports for room in rooms}


def _reached(start: str, graph: dict[str, tuple[str, ...]]) -> set[str]:
    """What can be reached from a room by imports."""
    found, todo = set[str](), list(graph[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += graph[name]
    return found
