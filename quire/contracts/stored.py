"""What is kept in the store as JSON.

Activities and clients write these objects, and other workers read them, also later versions."""

from typing import NamedTuple

from pydantic import Field

from quire.contracts.base import Lean, Wire, is_empty, is_false, is_none
from quire.contracts.document import DocumentKind, ReplacedRun
from quire.contracts.judgement import Judgement
from quire.contracts.page import Classification, Usage
from quire.contracts.reading import Hyphens, ReadingOptions
from quire.contracts.results import DocumentReport


class LayerFacts(Lean):
    """What is known of a page's text layer besides its text."""

    # Shares: of unreadable characters, of impossible words, of text that nobody can see.
    bad: float = 0.0
    odd: float = 0.0
    hidden: float = 0.0
    # Its letters are drawn glyphs, of which nothing says what they mean.
    traced: bool = False
    # Pictures that may hold words and have none of the layer's: left, top, right and bottom as
    # shares of the drawn page.
    pictures: tuple[tuple[float, float, float, float], ...] = ()


class PageSurvey(Wire):
    """One surveyed page, kept in the store: never a payload."""

    page: int
    classification: Classification
    reason: str
    text: str = ""
    # The same with its lines as they stand, where torn words were joined in `text`.
    unjoined: str = ""
    layer: LayerFacts = Field(default=LayerFacts(), exclude_if=lambda f: f == LayerFacts())
    # Which share of the page is ink, where it was measured.
    ink: float | None = Field(default=None, exclude_if=is_none)
    # What a person can see of the text, where that is not all of it.
    visible: str | None = Field(default=None, exclude_if=is_none)

    @property
    def visible_text(self) -> str:
        """The text that a person can see too."""
        return self.text if self.visible is None else self.visible

    def text_with(self, hyphens: Hyphens) -> str:
        """The text as the setting wants it."""
        return self.unjoined if hyphens == "keep" and self.unjoined else self.text


class StoredLine(NamedTuple):
    """A line as an engine read it, with its score and where it stands on the page."""

    text: str
    score: float
    box: tuple[float, float, float, float]


class StoredAnswer(Wire):
    """One page as one route read it: the object behind an answer key."""

    text: str
    provider: str
    model: str
    milliseconds: int
    usage: Usage
    cost_usd: float | None = None
    request_id: str | None = None
    # The run of a workflow that paid for it: for every other one it is free.
    bought_by: str = ""
    # What an engine said of its reading, and how far the text can be believed; absent in answers
    # of versions from before.
    score: float | None = Field(default=None, exclude_if=is_none)
    lines: tuple[StoredLine, ...] = Field(default=(), exclude_if=is_empty)
    # By how many quarters to the left the page was turned to be read; lines stand on it as it then
    # was.
    turn: int = Field(default=0, exclude_if=is_false)
    judgement: Judgement | None = Field(default=None, exclude_if=is_none)


class Brief(Wire):
    """What all attempts of a document have in common: kept in the store, named in payloads."""

    job_id: str
    sha256: str
    page_count: int
    reading: ReadingOptions
    # (provider, model, timeout in seconds) of every route, by its place in the chain.
    routes: tuple[tuple[str, str, float], ...]
    # False while breakers count failures over a window: one failure then means little.
    stand_down: bool = True
    kind: DocumentKind = "pdf"
    sealed_password: str | None = None
    # Breakers follow the adaptive rule: a timeout alone closes no gate.
    adaptive: bool = Field(default=False, exclude_if=is_false)
    # Left out of the stored form, and so of the brief's name, where there are none.
    replaced: tuple[ReplacedRun, ...] = Field(default=(), exclude_if=is_empty)


class StoredResult(Wire):
    """A complete result, kept for later jobs with the same bytes and options."""

    report: DocumentReport
    text_sha256: str


# How the stored forms of `ImageList` and `ImageManifest` begin; no PDF or image does.
LIST_BEGINS = b'{"quire_images"'


class ImageList(Wire):
    """The files as they came, by the hash of their bytes; not yet looked into."""

    quire_images: tuple[str, ...]


class ImagePage(NamedTuple):
    """One page: a file, and which of its pictures."""

    sha256: str
    frame: int


class ImageManifest(Wire):
    """The document itself: its hash is the document's. Names are no part of it, so the same
    pictures are the same document whatever they are called."""

    quire_pages: tuple[ImagePage, ...]
