"""Every type that crosses a process border or is stored, by a label that outlives its name."""

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel
from temporalio.common import RawValue

from quire.contracts.base import Lean, StrictWire, Wire
from quire.contracts.carried import Carried, CarriedDispatch, CarriedPage, DocumentRun
from quire.contracts.codes import ErrorInfo
from quire.contracts.document import (
    CancelRequest,
    DocumentRequest,
    ReplacedRun,
    RetryRequest,
    RetryResult,
)
from quire.contracts.judgement import Choice, Difference, Disagreement, DoubtPolicy, Judgement
from quire.contracts.money import Paid
from quire.contracts.page import Attempt, AttemptNote, PageError, PageRecord, Usage
from quire.contracts.plan import DocumentPlan, PlanDefaults
from quire.contracts.reading import ImageOptions, ReadingOptions, TextOptions
from quire.contracts.results import DocumentReport, DocumentResult, PageResult, ResultMetadata
from quire.contracts.routing import (
    Breaker,
    BreakerPolicy,
    Chain,
    ChainRequest,
    DispatchPolicy,
    ProviderPlan,
    Route,
)
from quire.contracts.selection import (
    Assignment,
    Deferral,
    FlightView,
    PageView,
    RouteView,
    Selection,
    Snapshot,
)
from quire.contracts.status import (
    BreakerStatus,
    DocumentStatus,
    PageRange,
    PageStatus,
    PageTexts,
    ProgressDetail,
)
from quire.contracts.steps import (
    AttemptFailure,
    AttemptReceipt,
    AttemptRequest,
    AttemptRest,
    DocumentReceipt,
    FinalizeRequest,
    PreviousReceipt,
    PreviousRequest,
    ReuseReceipt,
    ReuseRequest,
    SurveyReceipt,
    SurveyRequest,
)
from quire.contracts.stored import (
    Brief,
    ImageList,
    ImageManifest,
    ImagePage,
    LayerFacts,
    PageSurvey,
    StoredAnswer,
    StoredLine,
    StoredResult,
)
from quire.contracts.watch import Healed, StuckDocument, WatchRequest, WatchResult

# They have no fields of their own, and nothing is sent as one of them.
BASES: tuple[type[BaseModel], ...] = (Wire, StrictWire, Lean)

MODELS: dict[str, type[BaseModel]] = {
    "Attempt": Attempt,
    "AttemptFailure": AttemptFailure,
    "AttemptRest": AttemptRest,
    "AttemptReceipt": AttemptReceipt,
    "AttemptRequest": AttemptRequest,
    "Breaker": Breaker,
    "BreakerPolicy": BreakerPolicy,
    "BreakerStatus": BreakerStatus,
    "Brief": Brief,
    "CancelRequest": CancelRequest,
    "Carried": Carried,
    "CarriedDispatch": CarriedDispatch,
    "CarriedPage": CarriedPage,
    "Chain": Chain,
    "ChainRequest": ChainRequest,
    "Choice": Choice,
    "Deferral": Deferral,
    "Difference": Difference,
    "Disagreement": Disagreement,
    "DispatchPolicy": DispatchPolicy,
    "DocumentPlan": DocumentPlan,
    "DocumentReport": DocumentReport,
    "DocumentRequest": DocumentRequest,
    "DocumentResult": DocumentResult,
    "DocumentRun": DocumentRun,
    "DocumentStatus": DocumentStatus,
    "DoubtPolicy": DoubtPolicy,
    "ErrorInfo": ErrorInfo,
    "FinalizeRequest": FinalizeRequest,
    "Healed": Healed,
    "ImageList": ImageList,
    "ImageManifest": ImageManifest,
    "ImageOptions": ImageOptions,
    "Judgement": Judgement,
    "LayerFacts": LayerFacts,
    "PageError": PageError,
    "PageRange": PageRange,
    "PageRecord": PageRecord,
    "PageResult": PageResult,
    "PageStatus": PageStatus,
    "PageSurvey": PageSurvey,
    "PageTexts": PageTexts,
    "PageView": PageView,
    "PlanDefaults": PlanDefaults,
    "PreviousReceipt": PreviousReceipt,
    "PreviousRequest": PreviousRequest,
    "ProgressDetail": ProgressDetail,
    "ProviderPlan": ProviderPlan,
    "ReadingOptions": ReadingOptions,
    "ReplacedRun": ReplacedRun,
    "ResultMetadata": ResultMetadata,
    "RetryRequest": RetryRequest,
    "RetryResult": RetryResult,
    "ReuseReceipt": ReuseReceipt,
    "ReuseRequest": ReuseRequest,
    "Route": Route,
    "RouteView": RouteView,
    "Selection": Selection,
    "Snapshot": Snapshot,
    "SourceReceipt": DocumentReceipt,
    "StoredAnswer": StoredAnswer,
    "StoredResult": StoredResult,
    "SurveyReceipt": SurveyReceipt,
    "SurveyRequest": SurveyRequest,
    "StuckDocument": StuckDocument,
    "TextOptions": TextOptions,
    "Usage": Usage,
    "WatchRequest": WatchRequest,
    "WatchResult": WatchResult,
}

# On the wire they are lists: the place of a field counts, and its name does not.
TUPLES: dict[str, type[tuple[Any, ...]]] = {
    "Assignment": Assignment,
    "AttemptNote": AttemptNote,
    "FlightView": FlightView,
    "ImagePage": ImagePage,
    "Paid": Paid,
    "StoredLine": StoredLine,
}

_LABELS: dict[Any, str] = {kind: label for label, kind in {**MODELS, **TUPLES}.items()}
_LABELS[RawValue] = "payload"


def label(kind: Any) -> str:
    """A type as a signature names it, without the names of our classes."""
    if kind in _LABELS:
        return _LABELS[kind]
    if kind is None or kind is NoneType:
        return "None"
    origin, parts = get_origin(kind), [label(part) for part in get_args(kind)]
    if origin in (UnionType, Union):
        return " | ".join(parts)
    if origin is not None:
        return f"{origin.__name__}[{', '.join(parts)}]"
    if kind.__module__ != "builtins":
        raise LookupError(f"{kind} stands in a signature and is not listed")
    return str(kind.__name__)
