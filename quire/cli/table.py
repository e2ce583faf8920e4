"""Tables that fit the terminal: a narrow one shows fewer columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

GAP = 2


@dataclass(frozen=True)
class Column:
    """How one column is shown."""

    name: str
    # Columns with the lowest rank are the most important and stay the longest.
    rank: int
    # Longer values are folded, or cut, when there is no more room.
    at_least: int = 100
    right: bool = False
    cut: bool = False


def fitting_table(
    columns: Sequence[Column], rows: Sequence[Mapping[str, str | Text]], width: int
) -> Table:
    """A table of the columns that fit, and of at least two."""
    whole = {c.name: max(len(c.name), *(len(row[c.name]) for row in rows)) for c in columns}
    size, room = dict[str, int](), width + GAP
    for column in sorted(columns, key=lambda c: c.rank):
        needed = min(whole[column.name], column.at_least)
        if room < needed + GAP and len(size) >= 2:
            break
        size[column.name] = needed
        room -= needed + GAP
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    shown = [column for column in columns if column.name in size]
    for column in shown:
        more = max(0, min(room, whole[column.name] - size[column.name]))
        room -= more
        table.add_column(
            column.name,
            justify="right" if column.right else "left",
            width=size[column.name] + more,
            no_wrap=column.cut,
            overflow="ellipsis" if column.cut else "fold",
        )
    for row in rows:
        table.add_row(*(row[column.name] for column in shown))
    return table
