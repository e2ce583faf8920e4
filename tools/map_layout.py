"""Where the boxes and arrows of a layered drawing go: few crossings, and arrows nearly straight."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

SWEEPS = 24


@dataclass(eq=False)
class Node:
    """A box, or a bend of an arrow that passes through a layer."""

    name: str
    layer: int
    width: float
    x: float = 0.0
    above: list["Node"] = field(default_factory=list)
    below: list["Node"] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """Boxes by name, and every arrow as the nodes it passes, from top to bottom."""

    boxes: dict[str, Node]
    arrows: list[list[Node]]
    width: float


def lay_out(
    layers: Sequence[Sequence[str]],
    targets: Mapping[str, Sequence[str]],
    *,
    box: float,
    bend: float,
    gap: float,
) -> Layout:
    """Place the boxes of each layer side by side; the order of the input decides ties."""
    rows = [[Node(name, number, box) for name in layer] for number, layer in enumerate(layers)]
    boxes = {node.name: node for row in rows for node in row}
    arrows = [
        _route(boxes[name], boxes[target], rows, bend)
        for name in boxes
        for target in targets.get(name, ())
    ]
    _order(rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            _place(row, (lambda node: node.above) if down else (lambda node: node.below), gap)
    left = min(node.x - node.width / 2 for row in rows for node in row)
    for node in (node for row in rows for node in row):
        node.x -= left
    width = max(node.x + node.width / 2 for row in rows for node in row)
    return Layout(boxes, arrows, width)


def _route(start: Node, end: Node, rows: list[list[Node]], bend: float) -> list[Node]:
    """An arrow, with a bend in every layer between its ends that keeps boxes out of its way."""
    path = [start]
    for layer in range(start.layer + 1, end.layer):
        node = Node("", layer, bend)
        rows[layer].append(node)
        path.append(node)
    path.append(end)
    for upper, lower in pairwise(path):
        upper.below.append(lower)
        lower.above.append(upper)
    return path


def _order(rows: list[list[Node]]) -> None:
    """Sort each layer by the middle of its neighbours, down and up again, and keep the best."""
    best, fewest = [list(row) for row in rows], _crossings(rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        places = {id(node): i for row in rows for i, node in enumerate(row)}
        for row in rows if down else reversed(rows):
            middles = {
                id(node): mean([places[id(other)] for other in near] or [places[id(node)]])
                for node in row
                for near in [node.above if down else node.below]
            }
            row.sort(key=lambda node: middles[id(node)])
            places.update((id(node), i) for i, node in enumerate(row))
        if (crossings := _crossings(rows)) < fewest:
            best, fewest = [list(row) for row in rows], crossings
    for row, kept in zip(rows, best, strict=True):
        row[:] = kept


def _crossings(rows: Iterable[Sequence[Node]]) -> int:
    """How many pairs of arrows cross."""
    count = 0
    places = {id(node): i for row in rows for i, node in enumerate(row)}
    for row in rows:
        lines = [(places[id(node)], places[id(low)]) for node in row for low in node.below]
        count += sum(
            1 for i, a in enumerate(lines) for b in lines[i:] if (a[0] - b[0]) * (a[1] - b[1]) < 0
        )
    return count


def _place(row: Sequence[Node], near: Callable[[Node], list[Node]], gap: float) -> None:
    """As close to the middle of their neighbours as the order and the gaps allow.

    Nodes that would overlap form a block, whose members share the mean of what they want.
    """
    blocks: list[tuple[list[float], int]] = []
    offsets, edge = list[float](), 0.0
    for node in row:
        offsets.append(edge + node.width / 2)
        edge += node.width + gap
    for node, offset in zip(row, offsets, strict=True):
        wanted = mean([other.x for other in near(node)] or [node.x]) - offset
        block = ([wanted], 1)
        while blocks and mean(blocks[-1][0]) > mean(block[0]):
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1])
        blocks.append(block)
    starts = [mean(wanted) for wanted, count in blocks for _ in range(count)]
    for node, start, offset in zip(row, starts, offsets, strict=True):
        node.x = start + offset
