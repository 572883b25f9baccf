"""Traces and metrics for an OpenTelemetry collector, over OTLP and HTTP.

Needs the extra `recollect[otel]`, and is imported only if `otel.enabled` is set. Where no setting
says otherwise, the standard variables `OTEL_*` hold, which the SDK reads.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, Sampler, TraceIdRatioBased
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from recollect.observability.metrics import TransactionKind
from recollect.observability.prometheus import (
    BATCH_SIZES,
    JOB_SECONDS,
    SECONDS,
    PrometheusMetrics,
    method_label,
)
from recollect.observability.tracing import Attributes, RequestSpan, Tracer, current_tracer

SCOPE = "recollect"
_SERVER_ERROR = 500
_PROPAGATOR = TraceContextTextMapPropagator()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelOptions:
    """Where to send what. None leaves a choice to the variables `OTEL_*`."""

    version: str
    endpoint: str | None
    traces: bool
    metrics: bool
    sample_ratio: float | None
    metric_seconds: int


class OtelMetrics(PrometheusMetrics):
    """The metrics of `/metrics`, and the same numbers for a collector. Has the tracer."""

    def __init__(self, options: OtelOptions) -> None:
        super().__init__()
        resource = _resource(options)
        self._traces = _trace_provider(options, resource) if options.traces else None
        self._meters = _meter_provider(options, resource)
        if self._traces is not None:
            self.tracer = OtelTracer(self._traces.get_tracer(SCOPE, options.version))
        self._create_instruments(options.version)

    def _create_instruments(self, version: str) -> None:
        meter = self._meters.get_meter(SCOPE, version)

        def histogram(name: str, unit: str, bounds: Iterable[float]) -> Histogram:
            return meter.create_histogram(
                name, unit=unit, explicit_bucket_boundaries_advisory=list(bounds)
            )

        self._otel_requests = meter.create_counter("recollect_requests")
        self._otel_request_seconds = histogram("recollect_request_seconds", "s", SECONDS)
        self._otel_transaction_seconds = histogram("recollect_transaction_seconds", "s", SECONDS)
        self._otel_batch_size = histogram("recollect_commit_batch_size", "1", BATCH_SIZES)
        self._otel_jobs = meter.create_counter("recollect_jobs")
        self._otel_job_seconds = histogram("recollect_job_seconds", "s", JOB_SECONDS)
        self._otel_depth = meter.create_gauge("recollect_queue_depth")
        self._otel_age = meter.create_gauge("recollect_queue_age_seconds", unit="s")
        self._otel_stuck = meter.create_gauge("recollect_queue_stuck")
        self._otel_indexed = meter.create_counter("recollect_index_entries")
        self._otel_pending = meter.create_gauge("recollect_index_pending")

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        super().record_request(method, route, status, seconds)
        labels: dict[str, str | int] = {"method": method_label(method), "route": route}
        self._otel_request_seconds.record(seconds, labels)
        self._otel_requests.add(1, labels | {"status": status})

    def record_transaction(self, kind: TransactionKind, seconds: float) -> None:
        super().record_transaction(kind, seconds)
        self._otel_transaction_seconds.record(seconds, {"kind": kind})

    def record_commit_batch(self, size: int) -> None:
        super().record_commit_batch(size)
        self._otel_batch_size.record(size)

    def record_job(self, type: str, outcome: str, seconds: float) -> None:
        super().record_job(type, outcome, seconds)
        self._otel_jobs.add(1, {"type": type, "outcome": outcome})
        self._otel_job_seconds.record(seconds, {"type": type})

    def record_queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        super().record_queue(depth, age_seconds, stuck)
        self._otel_depth.set(depth)
        self._otel_age.set(age_seconds)
        self._otel_stuck.set(stuck)

    def record_indexed(self, entries: int) -> None:
        super().record_indexed(entries)
        self._otel_indexed.add(entries)

    def record_pending(self, entries: int) -> None:
        super().record_pending(entries)
        self._otel_pending.set(entries)

    def close(self) -> None:
        """Send what is left; a collector that does not answer costs the exporter's timeout."""
        if self._traces is not None:
            self._traces.shutdown()
        self._meters.shutdown()


class OtelTracer(Tracer):
    """Implements `Tracer`. No exception is recorded with its message: it may hold a content."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    def start_request(
        self, name: str, attributes: Attributes, headers: Iterable[tuple[str, str]]
    ) -> RequestSpan:
        carrier = {key: value for key, value in headers if key in ("traceparent", "tracestate")}
        parent = _PROPAGATOR.extract(carrier, context=contexts.Context())
        started = self._tracer.start_span(name, parent, SpanKind.SERVER, dict(attributes))
        # Never detached: each request has a context of its own, which ends with it.
        contexts.attach(trace.set_span_in_context(started))
        current_tracer.set(self)
        return _OtelRequestSpan(started)

    @contextmanager
    def run_job(self, type: str, attempt: int) -> Iterator[object]:
        earlier = current_tracer.set(self)
        try:
            with self._tracer.start_as_current_span(
                f"job {type}",
                contexts.Context(),
                SpanKind.CONSUMER,
                {"recollect.job.attempt": attempt},
                record_exception=False,
                set_status_on_exception=False,
            ):
                yield None
        finally:
            current_tracer.reset(earlier)

    def run_span(
        self, name: str, attributes: Attributes, *, outgoing: bool
    ) -> AbstractContextManager[object]:
        return self._tracer.start_as_current_span(
            name,
            kind=SpanKind.CLIENT if outgoing else SpanKind.INTERNAL,
            attributes=dict(attributes),
            record_exception=False,
            set_status_on_exception=False,
        )

    def outgoing_headers(self) -> dict[str, str]:
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier


@dataclass(frozen=True, slots=True)
class _OtelRequestSpan:
    span: Span

    def end(self, status: int) -> None:
        self.span.set_attribute("http.response.status_code", status)
        if status >= _SERVER_ERROR:
            self.span.set_status(Status(StatusCode.ERROR))
        self.span.end()


def _resource(options: OtelOptions) -> Resource:
    default = Resource({"service.name": "recollect", "service.version": options.version})
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES.
    return default.merge(OTELResourceDetector().detect())


def _trace_provider(options: OtelOptions, resource: Resource) -> TracerProvider:
    sampler: Sampler | None = None
    if options.sample_ratio is not None:
        sampler = ParentBased(TraceIdRatioBased(options.sample_ratio))
    provider = TracerProvider(sampler, resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=_address(options, "traces"))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _meter_provider(options: OtelOptions, resource: Resource) -> MeterProvider:
    if not options.metrics:
        return MeterProvider((), resource, shutdown_on_exit=False)
    exporter = OTLPMetricExporter(endpoint=_address(options, "metrics"))
    reader = PeriodicExportingMetricReader(
        exporter, export_interval_millis=options.metric_seconds * 1000
    )
    return MeterProvider([reader], resource, shutdown_on_exit=False)


def _address(options: OtelOptions, signal: str) -> str | None:
    return f"{options.endpoint.rstrip('/')}/v1/{signal}" if options.endpoint else None
