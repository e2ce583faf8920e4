"""Which spans leave this process, and what they may hold. Imported only when tracing is on."""

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status

# Of an exception, its class; never its message or its stack trace. There are no other events.
_KEPT = ("exception.type",)


class DiscreetProcessor(BatchSpanProcessor):
    """Sends every span without the texts of exceptions. Temporal's own spans record them, and
    they may hold a vendor's words, a page's text or a server's path.

    Queries are left out: `watch` sends several a second, and they say nothing of the document.
    """

    def on_end(self, span: ReadableSpan) -> None:
        """Queue the span for sending, unless it is a query."""
        if "Query" not in span.name.partition(":")[0]:
            super().on_end(discreet(span))


def discreet(span: ReadableSpan) -> ReadableSpan:
    """The same span with its status as a code alone, and exceptions by class."""
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=span.attributes,
        events=[_by_class(event) for event in span.events],
        links=span.links,
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _by_class(event: Event) -> Event:
    recorded = event.attributes or {}
    kept = {name: recorded[name] for name in _KEPT if name in recorded}
    return Event(event.name, kept, event.timestamp)
