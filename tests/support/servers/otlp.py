"""A small OpenTelemetry collector: takes OTLP over HTTP and decodes it."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.support.servers.loopback import LoopbackServer


class Collector(LoopbackServer):
    """`with Collector() as collector`: on a free port until the end of the block."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.bodies: list[bytes] = []
        self.spans: list[Span] = []
        self.metrics: dict[str, Metric] = {}
        self.resources: list[dict[str, str]] = []
        self._lock = threading.Lock()

    def named(self, name: str) -> list[Span]:
        """The spans with this name."""
        return [span for span in self.spans if span.name == name]

    def below(self, parent: Span) -> list[Span]:
        """The spans inside of this one, at any depth."""
        direct = [span for span in self.spans if span.parent_span_id == parent.span_id]
        return [*direct, *(deeper for span in direct for deeper in self.below(span))]

    def take(self, path: str, body: bytes) -> None:
        """Decode what was sent. Of a metric the newest state is kept."""
        with self._lock:
            self.bodies.append(body)
            if path == "/v1/traces":
                self.spans.extend(self._spans(body))
            else:
                self.metrics.update((one.name, one) for one in self._metrics(body))

    def _spans(self, body: bytes) -> Iterator[Span]:
        for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            attributes = of_resource.resource.attributes
            self.resources.append({one.key: one.value.string_value for one in attributes})
            for of_scope in of_resource.scope_spans:
                yield from of_scope.spans

    @staticmethod
    def _metrics(body: bytes) -> Iterator[Metric]:
        for of_resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            for of_scope in of_resource.scope_metrics:
                yield from of_scope.metrics


def attributes(holder: Any) -> dict[str, Any]:
    """The attributes of a span or of a data point."""
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in holder.attributes}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 1.0
    disable_nagle_algorithm = True
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.take(self.path, body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Tests print nothing."""
