"""A collector of spans: it speaks OTLP over HTTP, as the real one does."""

import gzip
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


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


class Collector:
    """`with Collector() as collector:`; spans as they came."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
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
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        Span(
                            span.name,
                            span.trace_id.hex(),
                            span.span_id.hex(),
                            span.parent_span_id.hex(),
                            {a.key: a.value.string_value for a in span.attributes},
                            span.start_time_unix_nano / 1e9,
                            span.end_time_unix_nano / 1e9,
                        )
                    )

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
