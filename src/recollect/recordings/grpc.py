"""gRPC methods of recordings: one stream in, many streams out."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from google.protobuf.message import Message

from recollect.identity.model import Principal
from recollect.kernel.errors import Conflict, RecordingFull, ValidationFailed
from recollect.kernel.ids import ConversationId
from recollect.recordings.model import RecordingEnd, RecordingStatus
from recollect.recordings.replay import RemoteNode
from recollect.recordings.service import CHECK_IDS_MAX, RecorderService
from recollect.rpc.context import GrpcContext
from recollect.rpc.generated import memory_service_pb2 as pb
from recollect.rpc.request_reader import RequestReader
from recollect.rpc.values import id_to_bytes, required_id

# How the recording ended, in the trailing metadata of `Record` and `Replay`.
STATUS_TRAILER = "status"
_STATUS = {
    RecordingStatus.COMPLETED: pb.RECORD_STATUS_SUCCESS,
    RecordingStatus.CANCELLED: pb.RECORD_STATUS_CANCELLED,
    RecordingStatus.FORBIDDEN: pb.RECORD_STATUS_CANCELLED,
}


class RecorderMethods:
    """The methods of `ResponseRecorderService`."""

    def __init__(
        self,
        recorder: RecorderService,
        authenticate: Callable[[GrpcContext], Awaitable[Principal]],
    ) -> None:
        self._recorder = recorder
        self._authenticate = authenticate

    async def record(self, inbox: RequestReader[pb.RecordRequest], context: GrpcContext) -> Message:
        """Record texts until there are no more. A recording that is refused or full is reported
        in the response, as the protocol says, and not as a failed call."""
        principal = await self._authenticate(context)
        first = await inbox.read_one()
        conversation_id = _parse_conversation_id(first.conversation_id)
        try:
            outcome = await self._recorder.record(
                principal, conversation_id, _iter_texts(first, inbox)
            )
        except (Conflict, RecordingFull) as error:
            return pb.RecordResponse(status=pb.RECORD_STATUS_ERROR, error_message=error.message)
        _tell_status(context, outcome)
        return pb.RecordResponse(status=_STATUS[outcome])

    async def replay(
        self, inbox: RequestReader[pb.ReplayRequest], context: GrpcContext
    ) -> AsyncIterator[pb.ReplayResponse]:
        """Follow a recording, or return the address of the node that has it. How the recording
        ended comes in the trailing metadata."""
        principal = await self._authenticate(context)
        conversation_id = _parse_conversation_id((await inbox.read_one()).conversation_id)
        found = await self._recorder.replay(principal, conversation_id)
        if isinstance(found, RemoteNode):
            yield pb.ReplayResponse(redirect_address=found.address)
        elif found is not None:
            async for piece in found:
                if isinstance(piece, RecordingEnd):
                    _tell_status(context, piece.status)
                elif piece.text:
                    yield pb.ReplayResponse(content=piece.text)

    async def cancel(
        self, inbox: RequestReader[pb.CancelRecordRequest], context: GrpcContext
    ) -> Message:
        """End a recording, or return the address of the node that has it."""
        principal = await self._authenticate(context)
        conversation_id = _parse_conversation_id((await inbox.read_one()).conversation_id)
        elsewhere = await self._recorder.cancel(principal, conversation_id)
        if elsewhere is None:
            return pb.CancelRecordResponse(accepted=True)
        return pb.CancelRecordResponse(redirect_address=elsewhere.address)

    async def is_enabled(self, _: RequestReader[Any], context: GrpcContext) -> Message:
        await self._authenticate(context)
        return pb.IsEnabledResponse(enabled=self._recorder.enabled)

    async def check(
        self, inbox: RequestReader[pb.CheckRecordingsRequest], context: GrpcContext
    ) -> Message:
        """Which of some conversations are being recorded."""
        principal = await self._authenticate(context)
        sent = (await inbox.read_one()).conversation_ids
        if len(sent) > CHECK_IDS_MAX:
            raise ValidationFailed.for_field(
                "conversation_ids", f"must be at most {CHECK_IDS_MAX} ids"
            )
        wanted = [ConversationId(required_id(raw, "conversation_ids")) for raw in sent]
        found = await self._recorder.check(principal, wanted)
        return pb.CheckRecordingsResponse(conversation_ids=map(id_to_bytes, found))


async def _iter_texts(
    first: pb.RecordRequest, inbox: RequestReader[pb.RecordRequest]
) -> AsyncIterator[str]:
    """The texts of the stream, up to the message with `complete`. Later messages are ignored.
    Raises ValidationFailed if a message names another conversation."""
    message: pb.RecordRequest | None = first
    while message is not None:
        if message.conversation_id not in (b"", first.conversation_id):
            raise ValidationFailed.for_field(
                "conversation_id", "must be that of the first message, or empty"
            )
        yield message.content
        message = None if message.complete else await inbox.read_next()


def _tell_status(context: GrpcContext, status: RecordingStatus) -> None:
    context.set_trailing_metadata(((STATUS_TRAILER, str(status)),))


def _parse_conversation_id(raw: bytes) -> ConversationId:
    return ConversationId(required_id(raw, "conversation_id"))
