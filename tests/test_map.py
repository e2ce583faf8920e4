"""The map is true, and the house keeps its measures: read from the syntax trees."""

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import median

from tools.draw_map import PAGE, PICTURE, map_page, map_picture
from tools.rooms import ROOT, cycles, product_modules, read_rooms, tree_of, with_code

# A limit for people: past it, a concept is hiding in the file.
LINES_AT_MOST = 300
MEDIAN_UNDER = 120
SHARED_LINES = 10


# --- the map -------------------------------------------------------------------------------


def test_the_map_is_up_to_date() -> None:
    rooms = read_rooms()
    assert (ROOT / PAGE).read_text(encoding="utf-8") == map_page(rooms), "run: make docs"
    assert (ROOT / PICTURE).read_text(encoding="utf-8") == map_picture(rooms), "run: make docs"


def test_no_two_rooms_import_each_other() -> None:
    assert cycles(read_rooms()) == []


# --- sizes ---------------------------------------------------------------------------------


def test_modules_are_short() -> None:
    long = {
        module.name: module.lines for module in product_modules() if module.lines > LINES_AT_MOST
    }
    assert long == {}


def test_the_median_module_is_a_few_screens() -> None:
    assert median(module.lines for module in with_code(product_modules())) < MEDIAN_UNDER


# --- docstrings ----------------------------------------------------------------------------

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def public_definitions(node: ast.Module | ast.ClassDef) -> Iterator[tuple[str, Definition]]:
    """Public classes, functions and methods, at any depth of classes; no names within functions."""
    for found in node.body:
        if isinstance(found, Definition) and not found.name.startswith("_"):
            yield found.name, found
            if isinstance(found, ast.ClassDef):
                inner = public_definitions(found)
                yield from ((f"{found.name}.{name}", member) for name, member in inner)


def test_every_public_name_has_a_docstring() -> None:
    bare = [
        f"{module.name}: {name}"
        for module in product_modules()
        for name, node in public_definitions(tree_of(module.path))
        if not ast.get_docstring(node)
    ]
    assert bare == []


# --- duplicates ----------------------------------------------------------------------------

Line = tuple[int, str]


def code_lines(path: Path) -> list[Line]:
    """The lines of a file without comments, blanks, imports and lone punctuation."""
    text = path.read_text(encoding="utf-8")
    imports = {
        line
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines: dict[int, list[str]] = defaultdict(list)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            lines[token.start[0]].append(token.string)
    joined = ((number, " ".join(words).strip()) for number, words in sorted(lines.items()))
    return [
        (number, line)
        for number, line in joined
        if number not in imports and any(char.isalnum() for char in line)
    ]


def shared_runs(files: list[Path], length: int) -> list[str]:
    """Pairs of places in which the same `length` lines follow each other."""
    places: dict[tuple[str, ...], list[tuple[Path, int]]] = defaultdict(list)
    for path in files:
        lines = code_lines(path)
        for start in range(len(lines) - length + 1):
            run = lines[start : start + length]
            places[tuple(line for _, line in run)].append((path, run[0][0]))
    return [
        f"{one.name}:{at} ~ {other.name}:{there}"
        for found in places.values()
        for (one, at), (other, there) in combinations(found, 2)
        if one != other or abs(at - there) >= length
    ]


def test_no_two_places_share_ten_lines() -> None:
    assert shared_runs([module.path for module in product_modules()], SHARED_LINES) == []


def test_shared_lines_are_seen(tmp_path: Path) -> None:
    body = "".join(f"    value_{n} = call({n})  # why {n}\n" for n in range(10))
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text(f"import os\n\n\ndef one() -> None:\n{body}", encoding="utf-8")
    plain = body.replace("  # why", "\n    # because")
    second.write_text(f"def other(a: int) -> None:\n\n{plain}", encoding="utf-8")
    assert shared_runs([first, second], 10) == ["first.py:5 ~ second.py:3"]
    assert shared_runs([first, second], 11) == []
