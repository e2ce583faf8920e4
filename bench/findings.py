"""What a benchmark hands to the report: numbers first, and how to show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Number = str | int | float | bool | None
Row = Mapping[str, Number]


@dataclass(frozen=True)
class Column:
    """A number of every row: its key, the heading, and how it is written."""

    key: str
    heading: str
    form: str = "{}"


@dataclass(frozen=True)
class Table:
    """Rows as measured; those keys that no column names are only in the raw numbers."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


@dataclass(frozen=True)
class Chart:
    """Bars or stacks (x are words), or lines (x are numbers); one series a name."""

    name: str
    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[str | float, float]]]
    kind: Literal["bars", "stacks", "lines"] = "bars"
    logarithmic: bool = False


@dataclass(frozen=True)
class Part:
    """One benchmark's findings: how it was measured, its tables, its charts, its verdicts.

    `said` are the sentences that the numbers carry (a promise and whether it was kept); `skipped`
    says in a line each what could not be measured here, and why.
    """

    name: str
    title: str
    method: str
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    said: Sequence[str] = ()
    skipped: Sequence[str] = field(default=())
