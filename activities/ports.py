"""What activities need of documents/ and telemetry/; store and providers have their own ports."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from domain.contracts import ImageOptions, PageSurvey
from domain.page import PageImage
from domain.sources import Fetched
from storage.protocol import Store


class SourceFetcher(Protocol):
    """Brings a document to this machine, and refuses what cannot be one."""

    async def fetch(self, source: str, name: str, folder: Path) -> Fetched: ...


class Unsealer(Protocol):
    """Opens what a client sealed for a job."""

    def __call__(self, token: str, job_id: str) -> str: ...


class ResultPlaces(Protocol):
    """Where a job's result goes."""

    def place(self, source: str) -> Store: ...


class DocumentReader(Protocol):
    """Opens, surveys and draws documents, never in this process."""

    async def inspect(self, path: Path, password: str | None = None) -> int: ...

    async def survey(
        self,
        path: Path,
        first: int,
        last: int,
        password: str | None = None,
        *,
        patient: bool = True,
    ) -> list[PageSurvey]: ...

    async def render(
        self,
        path: Path,
        page: int,
        options: ImageOptions,
        password: str | None = None,
        *,
        scale: float = 1.0,
    ) -> PageImage: ...

    async def count_frames(self, path: Path) -> int: ...

    async def survey_image(self, path: Path, frame: int, page: int) -> PageSurvey: ...

    async def render_image(
        self, path: Path, frame: int, page: int, options: ImageOptions, *, scale: float = 1.0
    ) -> PageImage: ...


class Tracing(Protocol):
    """Spans around what takes time."""

    def step(self, name: str, page: int) -> AbstractContextManager[object]: ...

    def just_took(self, name: str, page: int, seconds: float) -> None: ...

    def vendor_call(self, route: str, page: int) -> AbstractContextManager[object]: ...
