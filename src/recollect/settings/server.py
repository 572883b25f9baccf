"""Sections of the server process: listening, responses, jobs, logging, OpenTelemetry, audit log,
transfers, gRPC."""

from typing import Literal

from pydantic import Field

from recollect.settings.section import Port, Section


class ServerSettings(Section):
    """Where the server listens, and how it stops."""

    host: str = Field(
        "127.0.0.1", min_length=1, description="address to listen on; loopback in mode `local`"
    )
    port: Port = Field(8080, description="TCP port of REST; 0 takes a free one")
    shutdown_grace_seconds: int = Field(
        20, ge=0, description="how long running requests may take to end when the server stops"
    )


class ApiSettings(Section):
    """What answers look like."""

    emit_after_cursor: bool = Field(
        False, description="repeat the next cursor under its older name `afterCursor` as well"
    )


class AdminSettings(Section):
    """Rules of the admin calls."""

    require_justification: bool = Field(
        False, description="refuse admin calls without a `justification`"
    )


class AuditSettings(Section):
    """The audit log."""

    retention_days: int = Field(365, ge=1, description="age at which events are removed")


class EvictionSettings(Section):
    """Removal of deleted trees for good."""

    batch_size: int = Field(1000, ge=1, description="trees removed between two pauses")
    batch_delay_ms: int = Field(100, ge=0, description="pause between two batches")


class TransfersSettings(Section):
    """Offers of ownership."""

    ttl_days: int = Field(30, ge=1, description="age at which an offer that nobody took lapses")


class JobsSettings(Section):
    """Background work."""

    embedded_worker: bool = Field(
        True, description="`recollect serve` also works on jobs; no: run `recollect worker`"
    )
    attempts_max: int = Field(8, ge=1, description="attempts before a job is stuck")
    poll_ms: int = Field(500, ge=10, description="pause of an idle worker between two queries")
    lease_seconds: int = Field(
        60, ge=1, description="time after which another worker takes the job of a worker that died"
    )


class LogSettings(Section):
    """What is logged, and how."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="lowest level that is written"
    )
    format: Literal["auto", "text", "json"] = Field(
        "auto", description="`auto`: text on a terminal, JSON lines elsewhere"
    )


class OtelSettings(Section):
    """Traces and metrics for an OpenTelemetry collector, over OTLP and HTTP."""

    enabled: bool = Field(False, description="send them; needs the extra `recollect[otel]`")
    endpoint: str | None = Field(
        None,
        pattern=r"^https?://[^\s@?#]+$",
        description="address of the collector, without the path of a signal; without it the "
        "variables `OTEL_EXPORTER_OTLP_*` hold, and then http://localhost:4318",
    )
    traces: bool = Field(True, description="send traces")
    metrics: bool = Field(True, description="send the metrics of `/metrics` too")
    sample_ratio: float | None = Field(
        None,
        ge=0,
        le=1,
        description="share of the requests that are traced, where no caller has decided; without "
        "it the variables `OTEL_TRACES_SAMPLER*` hold, and then all are",
    )
    metric_seconds: int = Field(60, ge=1, description="time between two sendings of metrics")


class GrpcSettings(Section):
    """gRPC is answered on `server.port`, beside REST."""

    port: Port | None = Field(
        None, description="one more TCP port, for gRPC alone; 0 takes a free one"
    )
    max_connections: int = Field(
        1_000, ge=1, description="most connections of gRPC at once, on each of its ports"
    )
