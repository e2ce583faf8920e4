"""What activities need of documents/; the store's and the providers' ports stand with them."""

from pathlib import Path
from typing import Protocol

from domain.contracts import ImageOptions, PageSurvey
from domain.page import PageImage


class DocumentReader(Protocol):
    """Opens, surveys and draws documents, never in this process."""

    async def inspect(self, path: Path, password: str | None = None) -> int: ...

    async def survey(
        self, path: Path, first: int, last: int, password: str | None = None
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
