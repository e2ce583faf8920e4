"""What a tool is to this benchmark: a command, and a way to read what it left."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from testing.pdfs import WORDS

MODEL = "gpt-4o-mini"
SLOTS = 8
# `{image}` becomes the fingerprint of the picture: each page's answer can be found again in
# whatever a tool writes.
ANSWER = "The page says seen-{image}. " + WORDS * 3


@dataclass(frozen=True)
class Job:
    """The same work for every tool: the document, where to ask, how many calls at once."""

    pdf: Path
    folder: Path
    openai_url: str
    anthropic_url: str
    slots: int

    @property
    def out(self) -> Path:
        """Where the tool's result goes."""
        return self.folder / "out"


@dataclass(frozen=True)
class Claim:
    """The pages (from 1) that a tool says it has no model's text for: in its result, in its log.

    `sources` are the pages by where their text is from, for a tool that says so; `note` is what
    else one must know to understand the outcome.
    """

    result: frozenset[int] = frozenset()
    log: frozenset[int] = frozenset()
    sources: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


class Contestant(Protocol):
    """A tool under measurement."""

    @property
    def name(self) -> str: ...

    @property
    def answer(self) -> str:
        """What the vendor says of a page, in the form that this tool's model would use."""

    def command(self, job: Job) -> list[str]: ...

    def environment(self, job: Job) -> dict[str, str]: ...

    def imports_s(self) -> float:
        """Seconds that the tool's imports take, which are not the document's."""

    def document_s(self, job: Job) -> float | None:
        """Seconds from the document's start to its end by the tool's own record, if it has one."""

    def claim(self, job: Job, log: str) -> Claim: ...
