"""Quire turns documents into faithful text with vision models, and always finishes.

`quire.Client` and `quire.AsyncClient` are its Python API; docs/python.md has examples. Names are
imported when they are used, so that `import quire` costs nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire import errors as errors
    from quire.client.async_client import AsyncClient as AsyncClient
    from quire.client.async_client import AsyncJob as AsyncJob
    from quire.client.options import Options as Options
    from quire.client.result import Result as Result
    from quire.client.sync_client import Client as Client
    from quire.client.sync_client import Job as Job
    from quire.contracts.page import TextSource as TextSource
    from quire.contracts.status import DocumentStatus as DocumentStatus
    from quire.jobs.estimate import Estimate as Estimate
    from quire.jobs.list_jobs import JobList as JobList
    from quire.jobs.list_jobs import JobRow as JobRow
    from quire.jobs.page_feed import Page as Page
    from quire.settings import Settings as Settings

    __version__: str

_PLACES = {
    "AsyncClient": "quire.client.async_client",
    "AsyncJob": "quire.client.async_client",
    "Client": "quire.client.sync_client",
    "DocumentStatus": "quire.contracts.status",
    "Estimate": "quire.jobs.estimate",
    "Job": "quire.client.sync_client",
    "JobList": "quire.jobs.list_jobs",
    "JobRow": "quire.jobs.list_jobs",
    "Options": "quire.client.options",
    "Page": "quire.jobs.page_feed",
    "Result": "quire.client.result",
    "Settings": "quire.settings",
    "TextSource": "quire.contracts.page",
}

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "Client",
    "DocumentStatus",
    "Estimate",
    "Job",
    "JobList",
    "JobRow",
    "Options",
    "Page",
    "Result",
    "Settings",
    "TextSource",
    "__version__",
    "errors",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("quire.errors")
    if name == "__version__":
        from importlib.metadata import version

        return version("quire")
    if name not in _PLACES:
        raise AttributeError(f"module 'quire' has no attribute {name!r}")
    return getattr(importlib.import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
