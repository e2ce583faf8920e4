"""Counts, surveys and draws the pages of documents: the interface of this package."""

from pathlib import Path
from typing import Any

from quire.contracts.reading import ImageOptions
from quire.contracts.stored import PageSurvey
from quire.domain import errors
from quire.domain.document.transcription import PageImage
from quire.pdf.child_pool import (
    ChildCannotStart,
    ChildDied,
    ChildOutOfMemory,
    ChildPool,
    ChildTimedOut,
)
from quire.pdf.classify import unsurveyed

# About 30 ms of work: a page that is to be drawn may have to wait this long for a child.
_CHUNK_PAGES = 10
# A chunk ends early after this time, so that only a single page can reach the hard limit.
_CHUNK_BUDGET_S = 2.0
_NO_ANSWER = (ChildTimedOut, ChildDied, ChildOutOfMemory)
_WHY = {
    ChildTimedOut: "it takes too long",
    ChildDied: "it crashes the reader",
    ChildOutOfMemory: "it needs too much memory",
}
# Some pages hang at one zoom and draw at once at another.
_OTHER_ZOOM = 0.83


class Documents:
    """Reads documents in child processes, each call within limits of time and memory.

    Belongs to one event loop. No process is started before the first call or `warm_up`.
    """

    def __init__(
        self,
        *,
        processes: int,
        survey_timeout_s: float = 10.0,
        render_timeout_s: float = 20.0,
        memory_bytes: int = 2 * 1024**3,
    ) -> None:
        self._survey_timeout_s = survey_timeout_s
        self._render_timeout_s = render_timeout_s
        self._children = ChildPool(processes, memory_bytes)

    def warm_up(self) -> None:
        """Start a child now, without waiting for it."""
        self._children.warm_up()

    async def inspect(self, path: Path, password: str | None = None) -> int:
        """The number of pages; raises DocumentRefused if there is no document to read."""
        try:
            pages = await self._twice(
                "count_pages", str(path), password, timeout_s=self._survey_timeout_s
            )
        except _NO_ANSWER as error:
            raise errors.pdf_cannot_be_opened(_WHY[type(error)]) from None
        return int(pages)

    async def survey(
        self,
        path: Path,
        first: int,
        last: int,
        password: str | None = None,
        *,
        patient: bool = True,
    ) -> list[PageSurvey]:
        """Text and classification of the pages from `first` to `last`, both included.

        A page that cannot be surveyed does not fail the survey; its reason says why.
        A patient survey lets drawings of pages go first.
        """
        surveyed: list[PageSurvey] = []
        page = first
        while page <= last:
            end = min(last, page + _CHUNK_PAGES - 1)
            try:
                done = await self._survey_chunk(path, page, end, password, patient)
            except _NO_ANSWER as error:
                if page == end and isinstance(error, ChildTimedOut):
                    done = [unsurveyed(page, _WHY[ChildTimedOut])]
                else:
                    numbers = range(page, end + 1)
                    done = [await self._survey_alone(path, n, password, patient) for n in numbers]
            surveyed.extend(done)
            page += len(done)
        return surveyed

    async def _survey_chunk(
        self, path: Path, first: int, last: int, password: str | None, patient: bool
    ) -> list[PageSurvey]:
        args = (str(path), first, last, password, _CHUNK_BUDGET_S)
        done: list[PageSurvey] = await self._once(
            "survey_pages", *args, timeout_s=self._survey_timeout_s, patient=patient
        )
        return done

    async def _survey_alone(
        self, path: Path, page: int, password: str | None, patient: bool
    ) -> PageSurvey:
        args = (str(path), page, page, password, 0.0)
        limit = self._survey_timeout_s
        try:
            done = await self._twice("survey_pages", *args, timeout_s=limit, patient=patient)
        except _NO_ANSWER as error:
            return unsurveyed(page, _WHY[type(error)])
        return PageSurvey.model_validate(done[0])

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
        """Draw a page for a model; raises AttemptFailed(RENDER) if it cannot be drawn."""
        limit = self._render_timeout_s
        try:
            try:
                image = await self._draw(path, page, options, password, scale, turn, limit * 2 / 3)
            except ChildTimedOut:
                smaller = scale * _OTHER_ZOOM
                image = await self._draw(path, page, options, password, smaller, turn, limit / 3)
        except _NO_ANSWER as error:
            raise errors.page_not_drawn(page, f": {_WHY[type(error)]}") from None
        return image

    async def _draw(
        self,
        path: Path,
        page: int,
        options: ImageOptions,
        password: str | None,
        scale: float,
        turn: int,
        timeout_s: float,
    ) -> PageImage:
        args = (str(path), page, options, password, scale, turn)
        image: PageImage = await self._twice("draw", *args, timeout_s=timeout_s)
        return image

    async def count_frames(self, path: Path) -> int:
        """The pages of an image file; 0 when it cannot be opened."""
        try:
            frames = await self._twice("count_frames", str(path), timeout_s=self._survey_timeout_s)
        except _NO_ANSWER:
            return 0
        return int(frames)

    async def survey_image(self, path: Path, frame: int, page: int) -> PageSurvey:
        """The class of a page image; the reason says when it could not be surveyed."""
        args = (str(path), frame, page)
        try:
            done = await self._twice("survey_image", *args, timeout_s=self._survey_timeout_s)
        except _NO_ANSWER as error:
            return unsurveyed(page, _WHY[type(error)])
        return PageSurvey.model_validate(done)

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
        """Draw a page image for a model; raises AttemptFailed(RENDER) if it cannot be drawn."""
        args = (str(path), frame, page, options, scale, turn)
        try:
            image: PageImage = await self._twice(
                "draw_image", *args, timeout_s=self._render_timeout_s
            )
        except _NO_ANSWER as error:
            raise errors.page_not_drawn(page, f": {_WHY[type(error)]}") from None
        return image

    async def _twice(
        self, name: str, *args: object, timeout_s: float, patient: bool = False
    ) -> Any:
        """Call again, in a new child, when the first one died or ran out of memory: the cause may
        have been another page."""
        try:
            return await self._once(name, *args, timeout_s=timeout_s, patient=patient)
        except (ChildDied, ChildOutOfMemory):
            return await self._once(name, *args, timeout_s=timeout_s, patient=patient)

    async def _once(self, name: str, *args: object, timeout_s: float, patient: bool) -> Any:
        """Call in a child; where none can start, neither document nor page is to blame."""
        try:
            return await self._children.run(name, *args, timeout_s=timeout_s, patient=patient)
        except ChildCannotStart:
            raise errors.reader_cannot_start() from None

    def close(self) -> None:
        """End all child processes; nothing can be read afterwards."""
        self._children.close()
