"""REST handler of eviction: one response when it is done, or a stream of its progress.

The run belongs to the service. A caller that disconnects ends the stream, not the run.
"""

from collections.abc import AsyncIterator

from recollect.conversations.bodies import Evict
from recollect.conversations.eviction import EvictionRun, EvictionService
from recollect.http.call import Call, Handler, Reply
from recollect.kernel.errors import Internal, RecollectError
from recollect.kernel.strict_json import dump

_FAILED = "the eviction failed; the server's log says why"


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
