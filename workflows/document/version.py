"""The version of a document's result: a retry makes the next one."""

from dataclasses import dataclass, field

from quire.contracts.carried import Carried


@dataclass
class ResultVersion:
    """The result under way and the pages that are new in it.

    Written by `DocumentState`, for each page that ends, and by `DocumentWorkflow`, which begins
    the next version.
    """

    number: int = 1
    changed: set[int] = field(default_factory=set)

    def take_up(self, carried: Carried) -> None:
        """Go on with the version that an earlier run was at."""
        self.number = carried.version
        self.changed = set(carried.changed)

    def page_ended(self, number: int) -> None:
        """The page is new in this version."""
        self.changed.add(number)

    def changed_pages(self) -> tuple[int, ...]:
        """What this version of the result has new; of the first, everything is."""
        return tuple(sorted(self.changed)) if self.number > 1 else ()

    def begin_next(self) -> None:
        """A result was written; what happens from here on belongs to the next."""
        self.number += 1
        self.changed = set()
