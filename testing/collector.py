"""A collector of spans: it speaks OTLP over HTTP, as the real one does."""

import gzip
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Status


@dataclass(frozen=True)
class Span:
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    # Seconds since the epoch.
    started: float
    ended: float
    failed: bool = False
    # What its status says besides, and what happened meanwhile: a name and attributes each.
    description: str = ""
    events: tuple[tuple[str, dict[str, Any]], ...] = ()
    # The process that sent it.
    resource: dict[str, Any] = field(default_factory=dict)


class Collector:
    """`with Collector() as collector:`; spans as they came."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        # All that ever came, to look for what must not.
        self.raw = b""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.take(body)
                answer = ExportTraceServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def take(self, body: bytes) -> None:
        self.raw += body
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            sender = _plain(resource.resource.attributes)
            for scope in resource.scope_spans:
                self.spans += [_span(span, sender) for span in scope.spans]

    def named(self, beginning: str) -> list[Span]:
        return [span for span in self.spans if span.name.startswith(beginning)]

    def wait_for(self, beginning: str, count: int, timeout: float = 20.0) -> None:
        end = time.monotonic() + timeout
        while len(self.named(beginning)) < count:
            assert time.monotonic() < end, [span.name for span in self.spans]
            time.sleep(0.02)

    def ancestors(self, span: Span) -> list[str]:
        """Names from the span's parent up to the root."""
        by_id = {one.id: one for one in self.spans}
        names = []
        while span.parent:
            span = by_id[span.parent]
            names.append(span.name)
        return names

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()


def _span(span: Any, sender: dict[str, Any]) -> Span:
    return Span(
        span.name,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _plain(span.attributes),
        span.start_time_unix_nano / 1e9,
        span.end_time_unix_nano / 1e9,
        span.status.code == Status.STATUS_CODE_ERROR,
        span.status.message,
        tuple((event.name, _plain(event.attributes)) for event in span.events),
        sender,
    )


def _plain(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    """Of whatever type; lists and the like as the protocol writes them."""
    found = {}
    for one in attributes:
        kind = one.value.WhichOneof("value")
        found[one.key] = getattr(one.value, kind) if kind else None
    return found
