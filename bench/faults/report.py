"""The page of the faults: a section for each kind, which says when and on what it was tried.

Kinds may be tried apart, since all of them take long: a kind that is tried again replaces its own
section alone, and says its own date and how busy the machine was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.faults.line import Line

HEADINGS = ("fault", "tried", "survived", "pages lost", "calls repeated", "note")
# What stands above all sections, and nothing of a section.
HEAD = """# Faults

Written by `make faults`: the real thing done to real processes, on one machine and against a
stand-in vendor.

- **survived**: the document ended with every page that it should have; for faults that are to be
  refused or said, that they were.
- **pages lost**: pages without the text that they should have.
- **calls repeated**: paid calls for pages whose answer was in the store before they began, or more
  calls than the pages need. A kill may always cost the calls that are under way: these are not in
  the count, since no answer of theirs was stored.

Each section says when it was tried; `python -m bench.faults --only damage,slow --report FILE` tries
some kinds again and keeps the sections of the others.
"""
_SECTION = "\n## "


@dataclass(frozen=True)
class Section:
    """The lines of one kind, with when and where it was tried."""

    kind: str
    tried: str
    lines: Sequence[Line]

    def markdown(self) -> str:
        """The section as the page holds it."""
        rows = [HEADINGS, ("---",) * len(HEADINGS), *map(cells, self.lines)]
        table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return f"{_SECTION}{self.kind}\n\n{self.tried}\n\n{table}\n"


def cells(line: Line) -> tuple[str, ...]:
    """A line's cells, in the order of the headings."""
    return tuple(str(getattr(line, name)).replace("|", "/") for name in Line.__dataclass_fields__)


def write_report(page: Path, sections: Sequence[Section], order: Sequence[str]) -> None:
    """Put these sections into the page, in place of those of their kinds."""
    kept = dict(_sections(page.read_text(encoding="utf-8"))) if page.exists() else {}
    kept |= {section.kind: section.markdown() for section in sections}
    known = [kept[kind] for kind in order if kind in kept]
    page.write_text(HEAD + "".join(known), encoding="utf-8")


def _sections(page: str) -> Iterator[tuple[str, str]]:
    """Each section of a page, by its kind."""
    for section in page.split(_SECTION)[1:]:
        kind = section.partition("\n")[0]
        yield kind, f"{_SECTION}{section}"
