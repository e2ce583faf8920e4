"""Which spans leave this process, and what they may say. Imported only when tracing is on."""

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status

# Of an exception, its class; never its message or its stack trace. There are no other events.
_TOLD = ("exception.type",)


class DiscreetProcessor(BatchSpanProcessor):
    """Sends spans without the texts of exceptions, whoever opened them: Temporal's own spans
    record every exception, and its words may be a vendor's, a page's or a server's path.

    Queries are left out: a person who watches asks several times a second, and that is no part
    of the story.
    """

    def on_end(self, span: ReadableSpan) -> None:
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
    told = event.attributes or {}
    return Event(event.name, {name: told[name] for name in _TOLD if name in told}, event.timestamp)
