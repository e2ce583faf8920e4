"""Traces: one for each document, from the command over the workflow to each call of a vendor.

Off unless an OTLP endpoint is named; then, and only then, OpenTelemetry is imported.
"""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from domain.errors import SettingsError

if TYPE_CHECKING:
    from opentelemetry.trace import Span


class NoTraces:
    """Tracing is off, and costs nothing."""

    plugins: tuple[Any, ...] = ()

    def command(self, name: str, job_id: str) -> AbstractContextManager[object]:
        return nullcontext()

    def step(self, name: str, page: int) -> AbstractContextManager[object]:
        return nullcontext()

    def just_took(self, name: str, page: int, seconds: float) -> None:
        pass

    def vendor_call(self, route: str, page: int) -> AbstractContextManager[object]:
        return nullcontext()

    async def close(self) -> None:
        pass


class Traces(NoTraces):
    """Spans of this process, sent by OTLP over HTTP as the standard `OTEL_*` settings say."""

    def __init__(self, service: str) -> None:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from temporalio.contrib.opentelemetry import OpenTelemetryPlugin, create_tracer_provider

        class WithoutQueries(BatchSpanProcessor):
            """A person who watches asks several times a second: that is no part of the story."""

            def on_end(self, span: ReadableSpan) -> None:
                if "Query" not in span.name.partition(":")[0]:
                    super().on_end(span)

        self._provider = create_tracer_provider(resource=Resource.create({SERVICE_NAME: service}))
        self._provider.add_span_processor(WithoutQueries(OTLPSpanExporter()))
        trace.set_tracer_provider(self._provider)
        self._tracer = trace.get_tracer("quire")
        self._client_kind = trace.SpanKind.CLIENT
        self.plugins = (OpenTelemetryPlugin(add_temporal_spans=True),)

    def command(self, name: str, job_id: str) -> AbstractContextManager["Span"]:
        """The root: what a person asked for."""
        attributes = {"quire.job_id": job_id}
        return self._tracer.start_as_current_span(f"quire {name}", attributes=attributes)

    def step(self, name: str, page: int) -> AbstractContextManager["Span"]:
        """A part of an activity, from this page on."""
        return self._tracer.start_as_current_span(
            name, attributes={"quire.page": page}, record_exception=False
        )

    def just_took(self, name: str, page: int, seconds: float) -> None:
        """A part that ended now, in a process that sends no spans of its own."""
        began = time.time_ns() - round(seconds * 1e9)
        self._tracer.start_span(name, start_time=began, attributes={"quire.page": page}).end()

    def vendor_call(self, route: str, page: int) -> AbstractContextManager["Span"]:
        """One call to a model. The page's number is told, never its text or the answer."""
        provider, _, model = route.partition(":")
        return self._tracer.start_as_current_span(
            f"call {route}",
            kind=self._client_kind,
            attributes={
                "gen_ai.provider.name": provider,
                "gen_ai.request.model": model,
                "quire.page": page,
            },
            # An exception's text may be a vendor's; the outcome is in the attempt's failure.
            record_exception=False,
        )

    async def close(self) -> None:
        """Send what is left."""
        await asyncio.to_thread(self._provider.shutdown)


def start_traces(service_name: str, *, wanted: bool) -> NoTraces:
    """Traces under the service's name, or none at no cost."""
    if not wanted:
        return NoTraces()
    try:
        return Traces(service_name)
    except ImportError:
        raise SettingsError(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "the exporter is not installed",
            "pip install 'quire[otel]', or leave it unset",
        ) from None
