"""How one document will be read.

The worker's settings give the defaults; `plan_document` writes the plan from them and the request,
and the workflow and its next runs read it from history."""

from typing import Literal

from pydantic import Field

from quire.contracts.base import Wire, is_false
from quire.contracts.reading import Hyphens, ImageOptions, ReadingOptions
from quire.contracts.routing import BreakerPolicy, Chain, DispatchPolicy, ProviderPlan


class PlanDefaults(Wire):
    """What the worker's settings say where a request is silent."""

    engine: str
    other_engine: str
    providers: dict[str, ProviderPlan]
    route_chain: tuple[str, ...] = ()
    local_ocr: Literal["auto", "always", "never"] = "auto"
    local_missing: str = ""
    limit: int = 2
    rate: float | None = None
    local_limit: int = 1
    local_timeout_s: float = 120.0
    deadline_s: float = 180.0
    # A person has set it: it is not the default.
    deadline_given: bool = False
    breaker: BreakerPolicy = BreakerPolicy()
    dispatch: DispatchPolicy = DispatchPolicy()
    image: ImageOptions = ImageOptions()
    system_prompt: str
    context_radius: int = 1
    context_bytes: int = 3000
    every_page: bool = False
    hyphens: Hyphens = "join"


class DocumentPlan(Wire):
    """The plan as it stands in history: a retry or a replay reads the same one."""

    chain: Chain
    deadline_s: float
    breaker: BreakerPolicy
    dispatch: DispatchPolicy
    reading: ReadingOptions
    every_page: bool
    # 0 in plans from before there was a head: then everything is surveyed first.
    survey_head: int = 0
    # How long local OCR takes for a page, where it alone reads and nobody asked for a deadline:
    # that then grows with the pages. 0 where the deadline is fixed.
    page_s: float = Field(default=0.0, exclude_if=is_false)

    @property
    def engine(self) -> str:
        """The provider of the first route, as lists show it."""
        return self.chain.routes[0].provider if self.chain.routes else "none"
