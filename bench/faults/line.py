"""A line of the table of faults."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One fault: how often it was tried, how often the document (or command) survived it, the pages
    that were lost, and the calls for pages whose answer was already stored."""

    fault: str
    tried: int
    survived: int
    pages_lost: int
    calls_repeated: int
    note: str = ""

    @property
    def well(self) -> bool:
        """Whether nothing was lost and nothing paid for twice."""
        return self.tried == self.survived and not self.calls_repeated
