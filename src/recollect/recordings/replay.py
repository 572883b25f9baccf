"""Replay: finds a recording on this node or another, and streams it while the reader has access."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel.errors import AccessLost, Forbidden, InvalidInput, NotFound
from recollect.kernel.ids import ConversationId
from recollect.recordings.access import RecordingAccess
from recollect.recordings.ended import EndedRecordings
from recollect.recordings.model import ReplayCursor, ReplayItem
from recollect.recordings.recording import Recording
from recollect.recordings.registry import RecordingRegistry
from recollect.recordings.stream_limits import StreamLimits


@dataclass(frozen=True, slots=True)
class RemoteNode:
    """The node that has the recording, as `host:port`."""

    address: str

    @classmethod
    def from_address(cls, address: str | None) -> "RemoteNode | None":
        return None if address is None else cls(address)


class RecordingReplayer:
    """The readers of this node. Their access is checked again every `check_seconds`."""

    def __init__(
        self,
        running: Mapping[ConversationId, Recording],
        ended_recordings: EndedRecordings,
        *,
        registry: RecordingRegistry | None,
        access: RecordingAccess,
        stream_limits: StreamLimits,
        check_seconds: float,
    ) -> None:
        self._running = running
        self._ended = ended_recordings
        self._registry = registry
        self._access = access
        self._stream_limits = stream_limits
        self._check_seconds = check_seconds

    async def replay(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        after: ReplayCursor | None,
        *,
        forwarded: bool,
    ) -> AsyncIterator[ReplayItem] | RemoteNode | None:
        """See `RecorderService.replay`."""
        await self._access.authorize(principal, Action.READ, conversation_id)
        found = await self._find_recording(conversation_id, after, forwarded=forwarded)
        if not isinstance(found, Recording):
            return found
        offset = after.offset if after is not None and after.recording_id == found.id else 0
        if offset and not await _is_valid_offset(found, offset):
            raise InvalidInput("no such position in the recording", field="Last-Event-ID")
        # A browser that read to the end reconnects once more. "Nothing to follow" becomes a 204,
        # which tells it to stop; an empty stream would make it come back for ever.
        if offset and found.ended and offset == found.tape.end:
            return None
        # Checked here although the reservation comes later: now the refusal can still be an error
        # response. In the stream the status is already sent.
        self._stream_limits.check(principal.user_id)
        return self._follow(principal, found, offset)

    async def find_remote(self, conversation_id: ConversationId) -> RemoteNode | None:
        """The other node that records the conversation now, if any."""
        if self._registry is None:
            return None
        return RemoteNode.from_address(await self._registry.find_running_node(conversation_id))

    async def _follow(
        self, principal: Principal, recording: Recording, offset: int
    ) -> AsyncIterator[ReplayItem]:
        """Stream the chunks and the end. The stream is counted from the first read on: a generator
        that is never started would never run its clean-up."""

        async def check() -> None:
            try:
                await self._access.authorize(principal, Action.READ, recording.conversation_id)
            except (Forbidden, NotFound) as error:
                raise AccessLost("the conversation can no longer be read") from error

        with self._stream_limits.reserve(principal.user_id):
            pieces = recording.follow(offset, check, every=self._check_seconds)
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece

    async def _find_recording(
        self, conversation_id: ConversationId, after: ReplayCursor | None, *, forwarded: bool
    ) -> Recording | RemoteNode | None:
        """Find what the reader should get.

        A reader with a cursor gets the rest of the recording that the cursor names, before
        anything that runs now. The order is: the running recording of this node if the cursor is
        of it, one that ended and is kept here, one that is kept on another node. Otherwise, and
        without a cursor, it is what runs now, here or on another node.
        """
        running = self._running.get(conversation_id)
        if after is not None and (running is None or running.id != after.recording_id):
            kept = self._ended.get(after.recording_id)
            if kept is not None and kept.conversation_id == conversation_id:
                return kept
            elsewhere = await self._find_ended_remote(conversation_id, after, forwarded=forwarded)
            if elsewhere is not None:
                return elsewhere
        return await self.find_remote(conversation_id) if running is None else running

    async def _find_ended_remote(
        self, conversation_id: ConversationId, after: ReplayCursor, *, forwarded: bool
    ) -> RemoteNode | None:
        """The other node that keeps the recording of the cursor.

        None for a forwarded request: another node has looked it up already and was sent here. If
        the recording is not here any more, a second look-up could send the request in circles.
        """
        if self._registry is None or forwarded:
            return None
        return RemoteNode.from_address(await self._registry.find_ended_node(conversation_id, after))


async def _is_valid_offset(recording: Recording, offset: int) -> bool:
    try:
        await recording.tape.read(offset)
    except ValueError:
        return False
    return True
