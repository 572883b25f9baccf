"""Prometheus metrics, in a registry of their own, so that two servers in a process don't mix."""

from functools import cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from recollect.observability.metrics import TransactionKind
from recollect.observability.tracing import Tracer

# A `_created` series for every series would double the page and tell nothing that we need.
disable_created_metrics()  # type: ignore[no-untyped-call]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GRPC"})
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
JOB_SECONDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def method_label(method: str) -> str:
    """The method; `OTHER` for one that no operation has."""
    return method if method in _METHODS else "OTHER"


class PrometheusMetrics:
    """Implements `Metrics`. Traces nothing."""

    tracer: Tracer | None = None

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "recollect_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._request_seconds = Histogram(
            "recollect_request_seconds",
            "Time to answer a request.",
            ("method", "route"),
            registry=registry,
            buckets=SECONDS,
        )
        self._transaction_seconds = Histogram(
            "recollect_transaction_seconds",
            "Time from the call of a transaction to its end.",
            ("kind",),
            registry=registry,
            buckets=SECONDS,
        )
        self._batch_size = Histogram(
            "recollect_commit_batch_size",
            "Transactions committed together.",
            registry=registry,
            buckets=BATCH_SIZES,
        )
        self._jobs = Counter(
            "recollect_jobs", "Runs of jobs.", ("type", "outcome"), registry=registry
        )
        self._job_seconds = Histogram(
            "recollect_job_seconds",
            "Time of one run of a job.",
            ("type",),
            registry=registry,
            buckets=JOB_SECONDS,
        )
        self._depth = Gauge("recollect_queue_depth", "Jobs that wait.", registry=registry)
        self._age = Gauge(
            "recollect_queue_age_seconds", "Age of the oldest job due.", registry=registry
        )
        self._stuck = Gauge(
            "recollect_queue_stuck", "Jobs that used up their attempts.", registry=registry
        )
        self._indexed = Counter(
            "recollect_index_entries", "Entries that got their vectors.", registry=registry
        )
        self._pending = Gauge(
            "recollect_index_pending", "Entries that wait for their vectors.", registry=registry
        )
        self._bind_children()

    def _bind_children(self) -> None:
        # `labels()` checks and locks at every call; a cache reduces that to a dictionary lookup.
        # The caches are bounded, because labels come from our own tables only.
        self._counted_request = cache(self._requests.labels)
        self._timed_request = cache(self._request_seconds.labels)
        self._timed_transaction = cache(self._transaction_seconds.labels)
        self._counted_job = cache(self._jobs.labels)
        self._timed_job = cache(self._job_seconds.labels)

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count and time a request. An unknown method counts as `OTHER`."""
        name = method_label(method)
        self._counted_request(name, route, status).inc()
        self._timed_request(name, route).observe(seconds)

    def record_transaction(self, kind: TransactionKind, seconds: float) -> None:
        self._timed_transaction(kind).observe(seconds)

    def record_commit_batch(self, size: int) -> None:
        self._batch_size.observe(size)

    def record_job(self, type: str, outcome: str, seconds: float) -> None:
        self._counted_job(type, outcome).inc()
        self._timed_job(type).observe(seconds)

    def record_queue(self, depth: int, age_seconds: float, stuck: int) -> None:
        self._depth.set(depth)
        self._age.set(age_seconds)
        self._stuck.set(stuck)

    def record_indexed(self, entries: int) -> None:
        self._indexed.inc(entries)

    def record_pending(self, entries: int) -> None:
        self._pending.set(entries)

    def render(self) -> tuple[bytes, str]:
        """All metrics in the text format, with its content type."""
        return generate_latest(self._registry), CONTENT_TYPE

    def close(self) -> None:
        """Nothing is kept outside of the process's memory."""
