"""Writes docs/map.md and its picture from the code: `python -m tools.draw_map`."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tools.map_layout import Layout, Node, lay_out
from tools.rooms import ROOT, Room, direct_imports, layers, product_modules, read_rooms

PAGE = "docs/map.md"
PICTURE = "docs/images/map.svg"
# Sizes are rounded, or every second commit would have to draw the map again.
LINES_STEP, MEDIAN_STEP = 50, 10

INTRODUCTION = """\
# The map

The rooms of the code, and what they import. A room is above everything it imports, and no two
rooms import each other (`tests/test_map.py`); `tests/test_architecture.py` holds what each may
import, and CONTRIBUTING.md says why.

![Rooms as boxes in layers, with an arrow from each room to those it imports](images/map.svg)

The picture leaves out arrows that others imply; the table has them all. Sizes are rounded: lines
of a room to {lines}, lines of its median module to {median}. Written by `make docs`.

| room | purpose | modules | lines | median | imports |
|---|---|---|---|---|---|
"""
BOX, HEIGHT, GAP, BEND, LAYER, EDGE = 188, 58, 20, 10, 98, 24
PURE = ("quire/contracts", "quire/domain", "quire/ports")
FACES = ("quire/cli", "quire/client", "quire/errors", "quire/web", "worker.py")
# What holds for the code in a room, by the beginning of its name; the first that fits counts.
GROUPS = (
    ("replayed: the same decisions again", "replayed", ("workflows",)),
    ("may run twice", "repeated", ("activities",)),
    ("pure: no clock, no chance, no I/O", "pure", PURE),
    ("application and wiring", "application", ("quire/jobs", "quire/app", "quire/worker_process")),
    ("faces and programs", "face", FACES),
    ("the world: files, networks, vendors, settings", "world", ("",)),
)  # fmt: skip
STYLE = """
svg{--paper:#fff;--ink:#1f2328;--dim:#59636e;--line:#8b949e;
--replayed:#ffe3d6;--repeated:#fff3c4;--pure:#dcf3e1;--application:#dbeafe;--face:#ece3fb;--world:#eceff2}
@media (prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--dim:#9aa4af;--line:#7d8590;
--replayed:#5a2b17;--repeated:#4d3f0c;--pure:#173f25;--application:#15365e;--face:#3b2a5c;--world:#2a3038}}
.paper{fill:var(--paper)}
text{font-family:ui-sans-serif,system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}
.name{font-size:12.5px;font-weight:600;text-anchor:middle}
.size{font-size:11px;fill:var(--dim);text-anchor:middle}
.key{font-size:12px}
rect.room{stroke:var(--line);stroke-width:1}
path.arrow{fill:none;stroke:var(--line);stroke-width:1.4}
.head{fill:var(--line)}
"""


def map_page(rooms: Sequence[Room]) -> str:
    """The text of docs/map.md."""
    return INTRODUCTION.format(lines=LINES_STEP, median=MEDIAN_STEP) + "".join(_rows(rooms))


def _rows(rooms: Sequence[Room]) -> Iterator[str]:
    by_name = {room.name: room for room in rooms}
    for layer in layers(rooms):
        for room in (by_name[name] for name in layer):
            imports = ", ".join(name.removeprefix("quire/") for name in room.imports)
            sizes = f"{len(room.modules)} | {_lines(room):,} | {_median(room)}"
            yield f"| {_path(room)} | {room.purpose} | {sizes} | {imports or 'nothing'} |\n"
    modules = product_modules()
    total = _rounded(sum(module.lines for module in modules), LINES_STEP)
    yield f"\n{len(modules)} modules, about {total:,} lines.\n"


def _path(room: Room) -> str:
    names = room.name.split(", ")
    return ", ".join(f"`{name}`" if name.endswith(".py") else f"`{name}/`" for name in names)


def _lines(room: Room) -> int:
    return _rounded(room.lines, LINES_STEP)


def _median(room: Room) -> int:
    return _rounded(room.median_lines, MEDIAN_STEP)


def _rounded(number: int, step: int) -> int:
    step = step if number >= step else 10
    return max(step, round(number / step) * step)


def map_picture(rooms: Sequence[Room]) -> str:
    """The text of the picture: boxes in layers, arrows downwards."""
    levels = layers(rooms)
    layout = lay_out(levels, direct_imports(rooms), box=BOX, bend=BEND, gap=GAP)
    wide = round(layout.width) + 2 * EDGE
    high = (len(levels) - 1) * LAYER + HEIGHT + 2 * EDGE + 70
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}"'
            f' width="{wide}" height="{high}" role="img">',
            "<title>The rooms of Quire and their imports</title>",
            f"<style>{STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
            ' markerHeight="7" orient="auto"><path class="head" d="M0,0 L8,4 L0,8 Z"/>'
            "</marker></defs>",
            f'<rect class="paper" width="{wide}" height="{high}"/>',
            *(_arrow(path, layout) for path in layout.arrows),
            *(_box(room, layout.boxes[room.name]) for room in rooms),
            *_key(wide, high),
            "</svg>",
            "",
        ]
    )


def _box(room: Room, node: Node) -> str:
    left, top = round(EDGE + node.x - BOX / 2), EDGE + node.layer * LAYER
    middle = left + BOX // 2
    count = f"{len(room.modules)} modules" if len(room.modules) > 1 else "1 module"
    words = [("name", room.name), ("size", f"{count}, {_lines(room):,} lines")]
    if len(room.modules) > 1:
        words.append(("size", f"median {_median(room)}"))
    first = top + (HEIGHT - 15 * len(words)) // 2 + 13
    return (
        f'<rect class="room" x="{left}" y="{top}" width="{BOX}" height="{HEIGHT}" rx="7"'
        f' style="fill:var(--{_group(room.name)})"/>'
        + "".join(
            f'<text class="{kind}" x="{middle}" y="{first + 15 * number}">{line}</text>'
            for number, (kind, line) in enumerate(words)
        )
    )


def _arrow(path: list[Node], layout: Layout) -> str:
    """From the lower edge of a box to the upper edge of another, past the boxes between."""
    points: list[tuple[int, int]] = []
    for node in path:
        top = EDGE + node.layer * LAYER
        x = round(EDGE + node.x)
        if node is path[0]:
            points.append((round(EDGE + _port(node, path[1], node.below)), top + HEIGHT))
        elif node is path[-1]:
            points.append((round(EDGE + _port(node, path[-2], node.above)), top))
        else:
            points += [(x, top), (x, top + HEIGHT)]
    drawn = f"M{points[0][0]},{points[0][1]}"
    for number, ((x0, y0), (x1, y1)) in enumerate(pairwise(points)):
        middle = (y0 + y1) // 2
        through = number % 2 == 1
        drawn += f" L{x1},{y1}" if through else f" C{x0},{middle} {x1},{middle} {x1},{y1}"
    return f'<path class="arrow" d="{drawn}" marker-end="url(#head)"/>'


def _port(box: Node, neighbour: Node, neighbours: list[Node]) -> float:
    """Where an arrow meets a box: side by side with the box's other arrows."""
    order = sorted(neighbours, key=lambda node: node.x)
    step = min(24.0, (BOX - 40) / max(1, len(order) - 1))
    return box.x + (order.index(neighbour) - (len(order) - 1) / 2) * step


def _group(name: str) -> str:
    if name == "quire":
        return "face"  # the package itself holds the names of the Python API
    return next(group for _, group, starts in GROUPS if name.startswith(starts))


def _key(wide: int, high: int) -> Iterator[str]:
    """What the colours mean, in two rows of three."""
    column = min(300, (wide - 2 * EDGE) // 3)
    for number, (words, group, _) in enumerate(GROUPS):
        left, top = EDGE + number % 3 * column, high - EDGE - 40 + number // 3 * 24
        yield (
            f'<rect class="room" x="{left}" y="{top}" width="16" height="16" rx="4"'
            f' style="fill:var(--{group})"/>'
            f'<text class="key" x="{left + 24}" y="{top + 12}">{words}</text>'
        )


def main() -> None:
    """Write the page and its picture."""
    ArgumentParser(prog="python -m tools.draw_map", description=__doc__).parse_args()
    rooms = read_rooms()
    for name, text in ((PAGE, map_page(rooms)), (PICTURE, map_picture(rooms))):
        Path(ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
