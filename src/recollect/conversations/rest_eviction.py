"""The REST operation of eviction: one response when it is done, or a stream of its progress.

The run belongs to the service. A caller that disconnects ends the stream, not the run.
"""

from collections.abc import AsyncIterator
from typing import Annotated, Any, ClassVar

from pydantic import Field, PlainValidator, WithJsonSchema

from recollect.conversations.eviction import EvictionRun, EvictionService
from recollect.http.bodies import word_validator
from recollect.http.call import Call, Handler, Reply
from recollect.http.operation import Justified, Operation, admin_operation
from recollect.http.params import Schema, flag_param
from recollect.kernel.errors import Internal, RecollectError
from recollect.kernel.strict_json import dump
from recollect.text.dates.durations import CHARS_MAX as DURATION_CHARS_MAX
from recollect.text.dates.durations import Duration, parse_duration

_FAILED = "the eviction failed; the server's log says why"


def _read_duration(value: Any) -> Duration:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return parse_duration(value)


ResourceType = Annotated[
    str,
    word_validator({"conversations": "conversations"}),
    WithJsonSchema({"type": "string", "enum": ["conversations"]}),
]
Period = Annotated[
    Duration,
    PlainValidator(_read_duration),
    WithJsonSchema(
        {
            "type": "string",
            "format": "duration",
            "pattern": "^P[0-9.,YMWDTHS]+$",
            "maxLength": DURATION_CHARS_MAX,
            "examples": ["P90D"],
        }
    ),
]


class Evict(Justified):
    """What to remove for good: trees that were soft-deleted longer ago than the period."""

    optional: ClassVar[bool] = False
    retention_period: Period = Field(
        description="Trees that were deleted longer ago than this go, as an ISO-8601 duration.",
        examples=["P90D"],
    )
    resource_types: Annotated[list[ResourceType], Field(min_length=1)] = Field(
        description="What to remove.", examples=[["conversations"]]
    )


RESOURCES: dict[str, Schema] = {}
OPERATIONS: tuple[Operation, ...] = (
    admin_operation(
        "adminEvict",
        "POST /v1/admin/evict",
        204,
        "Remove for good what was soft-deleted longer ago than a period. Answers when done, or "
        "with a stream of progress when asked by `async` or by `Accept: text/event-stream`; the "
        "run goes on when the caller hangs up.",
        audit="evict",
        body=Evict,
        query=(flag_param("async", "Answer with a stream of progress."),),
    ),
)


async def evict(call: Call) -> Reply | None:
    """Start an eviction, then wait for its end or stream its progress."""
    body: Evict = call.body
    eviction = await call.services[EvictionService].begin(
        call.principal, body.retention_period, justification=call.justification
    )
    if call.query["async"] or b"text/event-stream" in call.headers.get(b"accept", b"").lower():
        return Reply(200, media=b"text/event-stream", stream=_event_stream(eviction))
    await eviction.wait()
    return None


async def _event_stream(eviction: EvictionRun) -> AsyncIterator[bytes]:
    """Progress as server-sent events. A failure is an event too: the status is already sent."""
    try:
        async for progress in eviction.progress():
            yield _event_bytes({"progress": progress})
    except RecollectError as error:
        text = _FAILED if isinstance(error, Internal) else error.message
        yield b"event: error\n" + _event_bytes({"error": text})
    except Exception:  # noqa: BLE001 - outermost frame of a stream; the service has logged it
        yield b"event: error\n" + _event_bytes({"error": _FAILED})


def _event_bytes(value: dict[str, object]) -> bytes:
    return f"data: {dump(value)}\n\n".encode()


HANDLERS: dict[str, Handler] = {"adminEvict": evict}
