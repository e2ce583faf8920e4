"""The result of a document, as programs use it."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from quire.contracts.results import DocumentReport, ResultMetadata
from quire.domain.errors import UsageError, disk_full, is_disk_full, with_folder
from quire.jobs.page_feed import Page, result_pages
from quire.jobs.result import LoadedResult, save_result


@dataclass(frozen=True)
class Result:
    """A finished document. `report` is what `result.json` holds, `text` what `text.txt` holds."""

    report: DocumentReport
    text: str = field(repr=False)
    pages: tuple[Page, ...] = field(repr=False)

    @classmethod
    def of(cls, loaded: LoadedResult) -> "Result":
        """The result with its pages."""
        return cls(loaded.report, loaded.text.decode(), result_pages(loaded))

    @property
    def job_id(self) -> str:
        """The job that made it."""
        return self.report.job_id

    @property
    def metadata(self) -> ResultMetadata:
        """The counts: pages by how they ended, tokens, cost, warnings."""
        return self.report.metadata

    @property
    def cost_usd(self) -> float | None:
        """What this run paid; None where the price of a model is unknown."""
        return self.metadata.cost_usd

    @cached_property
    def degraded_pages(self) -> tuple[int, ...]:
        """The pages that a model should have read and none did."""
        return tuple(page.number for page in self.pages if page.degraded)

    @property
    def degraded(self) -> bool:
        """Whether there is such a page; `retry` reads them again."""
        return bool(self.degraded_pages)

    @cached_property
    def doubtful_pages(self) -> tuple[int, ...]:
        """The pages of whose text little can be believed (`DOUBT_BELOW`)."""
        return tuple(page.number for page in self.pages if page.doubtful)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `text.txt` and `result.json` into the folder, and return its path."""
        place = Path(folder).expanduser()
        try:
            save_result(LoadedResult(self.report, self.text.encode()), place)
        except OSError as error:
            if is_disk_full(error):
                raise with_folder(disk_full(error, "--out", place)) from None
            why = error.strerror or type(error).__name__
            raise UsageError(
                f"{place}: {why}.", "The result is kept; use another folder."
            ) from None
        return place
