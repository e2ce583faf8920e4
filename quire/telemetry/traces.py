"""Traces: one for each document, from the command over the workflow to each call of a vendor.

Off unless an OTLP endpoint is named; only then is OpenTelemetry imported. Spans hold what
happened, when, and the kind of its end; never the text of an exception.
"""

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from temporalio.exceptions import ApplicationError

from quire.domain.errors import AttemptFailed, QuireError, SettingsError


class NoTraces:
    """Tracing is off, and costs nothing."""

    plugins: tuple[Any, ...] = ()

    def command(self, name: str, job_id: str) -> AbstractContextManager[object]:
        """Around a person's command."""
        return nullcontext()

    def step(self, name: str, page: int) -> AbstractContextManager[object]:
        """Around a part of an activity."""
        return nullcontext()

    def just_took(self, name: str, page: int, seconds: float) -> None:
        """Note a part that has just ended."""

    def vendor_call(self, route: str, page: int) -> AbstractContextManager[object]:
        """Around one call to a model."""
        return nullcontext()

    async def close(self) -> None:
        """Nothing is left to send."""


class Traces(NoTraces):
    """Spans of this process, sent by OTLP over HTTP as the standard `OTEL_*` settings say."""

    def __init__(self, service: str, role: str) -> None:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from temporalio.contrib.opentelemetry import OpenTelemetryPlugin, create_tracer_provider

        from quire.telemetry.spans import DiscreetProcessor

        own = {
            "service.name": service,
            # As Temporal's Web UI names the worker.
            "service.instance.id": f"{os.getpid()}@{socket.gethostname()}",
            "quire.role": role,
        }
        # What an operator wrote into OTEL_RESOURCE_ATTRIBUTES takes precedence.
        resource = Resource.create(own).merge(OTELResourceDetector().detect())
        self._provider = create_tracer_provider(resource=resource)
        self._provider.add_span_processor(DiscreetProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(self._provider)
        self._tracer = trace.get_tracer("quire")
        self._client_kind = trace.SpanKind.CLIENT
        self._error = trace.StatusCode.ERROR
        self.plugins = (OpenTelemetryPlugin(add_temporal_spans=True),)

    def command(self, name: str, job_id: str) -> AbstractContextManager[None]:
        """The root: what a person asked for."""
        return self._span(f"quire {name}", {"quire.job_id": job_id})

    def step(self, name: str, page: int) -> AbstractContextManager[None]:
        """A part of an activity, from this page on."""
        return self._span(name, {"quire.page": page})

    def just_took(self, name: str, page: int, seconds: float) -> None:
        """A part that ended now, in a process that sends no spans of its own."""
        began = time.time_ns() - round(seconds * 1e9)
        self._tracer.start_span(name, start_time=began, attributes={"quire.page": page}).end()

    def vendor_call(self, route: str, page: int) -> AbstractContextManager[None]:
        """One call to a model. The span has the page's number, never its text or the answer."""
        provider, _, model = route.partition(":")
        attributes: dict[str, str | int] = {
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "quire.page": page,
        }
        return self._span(f"call {route}", attributes, kind=self._client_kind)

    @contextmanager
    def _span(self, name: str, attributes: dict[str, str | int], **options: Any) -> Iterator[None]:
        with self._tracer.start_as_current_span(
            name,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
            **options,
        ) as span:
            try:
                yield
            except Exception as error:
                span.set_attribute("error.type", kind_of(error))
                span.set_status(self._error)
                raise

    async def close(self) -> None:
        """Send what is left."""
        await asyncio.to_thread(self._provider.shutdown)


def kind_of(error: Exception) -> str:
    """The kind of an error. Its text is left out: it may be a vendor's, or name a file."""
    if isinstance(error, AttemptFailed):
        return error.kind.value
    if isinstance(error, QuireError):
        return error.info.code.value
    if isinstance(error, ApplicationError) and error.type:
        return error.type
    return type(error).__name__


def start_traces(service_name: str, role: str, *, wanted: bool) -> NoTraces:
    """Traces under the service's name and this process's role, or none at no cost."""
    if not wanted:
        return NoTraces()
    try:
        return Traces(service_name, role)
    except ImportError:
        raise SettingsError(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "the exporter is not installed",
            "pip install 'quire[otel]', or leave it unset",
        ) from None
