"""What the application needs of the world: store, providers, documents, tracing."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quire.contracts.document import DocumentRequest
from quire.contracts.reading import ImageOptions
from quire.contracts.stored import PageSurvey
from quire.contracts.watch import StuckDocument
from quire.domain.document.origin import Fetched
from quire.domain.document.transcription import PageAnswer, PageImage, PageQuestion


@dataclass(frozen=True)
class Entry:
    """One object of a listing; `modified` is seconds since the epoch."""

    key: str
    bytes: int
    modified: float


@dataclass(frozen=True)
class Damage:
    """A stored object that is not what was written under its key."""

    key: str
    kind: str
    why: str
    # Whether it could be moved away; its bytes are kept for examination.
    set_aside: bool = True


class Store(Protocol):
    """Small objects by key, and documents as files. Writing the same key again is harmless."""

    async def get(self, key: str) -> bytes | None:
        """The object, or None. It counts as used now: what is old may be removed."""
        ...

    async def peek(self, key: str) -> bytes | None:
        """The object, or None; this does not count as a use."""
        ...

    async def put(self, key: str, data: bytes, *, replace: bool = True) -> bool:
        """Write the object whole or not at all; without `replace`, the first writer wins, and
        False says that it was another."""
        ...

    async def exists(self, key: str) -> bool:
        """Whether the object is there."""
        ...

    async def look(self, key: str) -> Entry | None:
        """The object as a listing shows it, or None."""
        ...

    async def put_file(self, key: str, path: Path, *, replace: bool = False) -> None:
        """Copy a file in, streaming; without `replace`, an existing one only counts as used now."""
        ...

    async def holds(self, key: str, path: Path) -> bool:
        """Whether the object is known, without being read, to have the bytes of this file."""
        ...

    async def local_path(self, key: str) -> Path | None:
        """A path on this machine that a child process can open, or None if the key is gone.

        A store that is elsewhere keeps the file here for at least a quarter of an hour.
        """
        ...

    def describe(self, key: str) -> tuple[str | None, str | None]:
        """Where a person finds the object: (local path, URL), one of them."""
        ...

    async def link(self, key: str, seconds: int) -> str | None:
        """A URL that reads the object without credentials for so long, where there are such."""
        ...

    def entries(self, folder: str = "") -> AsyncIterator[Entry]:
        """Every object, or those of a folder (`name/`), in no order."""
        ...

    async def delete(self, key: str) -> None:
        """Remove the object; one that is gone already is no error."""
        ...


class SourceFetcher(Protocol):
    """Brings a document to this machine, and refuses what cannot be one."""

    async def fetch(self, source: str, name: str, folder: Path) -> Fetched:
        """Write the document into the folder."""
        ...


class Unsealer(Protocol):
    """Opens what a client sealed for a job."""

    def __call__(self, token: str, job_id: str) -> str: ...


class StartCheck(Protocol):
    """Says whether a job may be taken up as it was started."""

    async def __call__(self, request: DocumentRequest, workflow_id: str) -> None:
        """Raise `StartRefused` if not."""
        ...


class ResultPlaces(Protocol):
    """Where a job's result goes."""

    def place(self, source: str) -> Store:
        """The store for results of documents from this source."""
        ...


class DocumentReader(Protocol):
    """Opens, surveys and draws documents, never in this process."""

    async def inspect(self, path: Path, password: str | None = None) -> int:
        """The number of pages; refuses what is no PDF."""
        ...

    async def survey(
        self,
        path: Path,
        first: int,
        last: int,
        password: str | None = None,
        *,
        patient: bool = True,
    ) -> list[PageSurvey]:
        """Text and class of each page; a patient survey yields to pages that are being drawn."""
        ...

    async def render(
        self,
        path: Path,
        page: int,
        options: ImageOptions,
        password: str | None = None,
        *,
        scale: float = 1.0,
        turn: int = 0,
    ) -> PageImage:
        """One page as an image, turned to the left by so many quarters."""
        ...

    async def count_frames(self, path: Path) -> int:
        """The number of pictures in an image file."""
        ...

    async def survey_image(self, path: Path, frame: int, page: int) -> PageSurvey:
        """The survey of one picture of an image file, as a page."""
        ...

    async def render_image(
        self,
        path: Path,
        frame: int,
        page: int,
        options: ImageOptions,
        *,
        scale: float = 1.0,
        turn: int = 0,
    ) -> PageImage:
        """One picture of an image file, as a page's image."""
        ...


class TurnFinder(Protocol):
    """Sees which way up a page lies."""

    async def find_turn(self, image: PageImage, timeout_s: float) -> int:
        """By how many quarters to the left it must be turned; raises `AttemptFailed` alone."""
        ...


class Tracing(Protocol):
    """Spans around what takes time."""

    def step(self, name: str, page: int) -> AbstractContextManager[object]:
        """Around a part of an activity."""
        ...

    def just_took(self, name: str, page: int, seconds: float) -> None:
        """Note a part that has just ended."""
        ...

    def vendor_call(self, route: str, page: int) -> AbstractContextManager[object]:
        """Around one call to a model."""
        ...


class Provider(Protocol):
    """One vendor, or one engine on this machine."""

    async def read_page(self, model: str, question: PageQuestion, timeout_s: float) -> PageAnswer:
        """Ask once. Raises `AttemptFailed`, and nothing else, when there is no good answer.

        `timeout_s` is the total time of the call, however slowly the reply arrives.
        """
        ...

    async def close(self) -> None:
        """Close connections and end child processes."""
        ...


class Runs(Protocol):
    """The open documents on the server."""

    async def find_stuck(self) -> list[StuckDocument]:
        """Those that do not come to their end by themselves."""
        ...

    async def start_again(self, stuck: StuckDocument) -> bool:
        """End the run and start the same request under the same id; False when it is no longer
        stuck. May be repeated."""
        ...
