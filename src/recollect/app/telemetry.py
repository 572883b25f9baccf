"""Builds the metrics of a process, with those of OpenTelemetry if they are switched on."""

import asyncio
from contextlib import suppress

from recollect import __version__
from recollect.doctor.health import StatusService
from recollect.kernel.errors import InvalidInput, Unavailable
from recollect.observability.prometheus import PrometheusMetrics
from recollect.settings import Settings


def build_metrics(settings: Settings) -> PrometheusMetrics:
    """The metrics, and the tracer in them. Nothing of OpenTelemetry is imported unless
    `otel.enabled` is set."""
    otel = settings.otel
    if not otel.enabled:
        return PrometheusMetrics()
    try:
        from recollect.observability.otel import OtelMetrics, OtelOptions  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise InvalidInput(
            "otel.enabled: OpenTelemetry is not installed: pip install 'recollect[otel]'"
        ) from error
    return OtelMetrics(
        OtelOptions(
            version=__version__,
            endpoint=otel.endpoint,
            traces=otel.traces,
            metrics=otel.metrics,
            sample_ratio=otel.sample_ratio,
            metric_seconds=otel.metric_seconds,
        )
    )


async def measure_queue_regularly(status: StatusService, pause_seconds: float) -> None:
    """Read the state of the queue for ever. Nobody scrapes `/metrics` where they are sent."""
    while True:
        with suppress(Unavailable):
            await status.measure_queue()
        await asyncio.sleep(pause_seconds)
