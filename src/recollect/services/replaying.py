"""Replay: finds a recording on this node or another, and streams it while the reader has access."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from recollect.domain.ids import ConversationId
from recollect.domain.recordings import Piece, Place
from recollect.errors import InvalidInput
from recollect.policy.actions import Action
from recollect.policy.principals import Principal
from recollect.services.recording import Recording
from recollect.services.recording_access import RecordingAccess
from recollect.services.recording_places import RecordingPlaces
from recollect.services.recording_seats import Seats
from recollect.services.recording_shelf import Shelf


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The node that has the recording, as `host:port`."""

    address: str

    @classmethod
    def at(cls, address: str | None) -> "Elsewhere | None":
        return None if address is None else cls(address)


class Replaying:
    """The readers of this node. Their access is checked again every `check_seconds`."""

    def __init__(
        self,
        running: Mapping[ConversationId, Recording],
        shelf: Shelf,
        *,
        places: RecordingPlaces | None,
        access: RecordingAccess,
        seats: Seats,
        check_seconds: float,
    ) -> None:
        self._running = running
        self._shelf = shelf
        self._places = places
        self._access = access
        self._seats = seats
        self._check_seconds = check_seconds

    async def replay(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        after: Place | None,
        *,
        forwarded: bool,
    ) -> AsyncIterator[Piece] | Elsewhere | None:
        """See `RecorderService.replay`."""
        await self._access.enter(principal, Action.READ, conversation_id)
        found = await self._find(conversation_id, after, forwarded=forwarded)
        if not isinstance(found, Recording):
            return found
        offset = after.offset if after is not None and after.recording_id == found.id else 0
        if offset and not await _is_place(found, offset):
            raise InvalidInput("no such position in the recording", field="Last-Event-ID")
        # A browser that read to the end reconnects once more. "Nothing to follow" becomes a 204,
        # which tells it to stop; an empty stream would make it come back for ever.
        if offset and found.ended and offset == found.tape.end:
            return None
        # Checked here although the reservation comes later: now the refusal can still be an error
        # response. In the stream the status is already sent.
        self._seats.check(principal.user_id)
        return self._follow(principal, found, offset)

    async def elsewhere(self, conversation_id: ConversationId) -> Elsewhere | None:
        """The other node that records the conversation now, if any."""
        if self._places is None:
            return None
        return Elsewhere.at(await self._places.find(conversation_id))

    async def _follow(
        self, principal: Principal, recording: Recording, offset: int
    ) -> AsyncIterator[Piece]:
        """Stream the chunks. The stream is counted from the first read on: a generator that is
        never started would never run its clean-up."""

        async def check() -> None:
            await self._access.enter(principal, Action.READ, recording.conversation_id)

        with self._seats.taken(principal.user_id):
            pieces = recording.follow(offset, check, every=self._check_seconds)
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece

    async def _find(
        self, conversation_id: ConversationId, after: Place | None, *, forwarded: bool
    ) -> Recording | Elsewhere | None:
        """Find what the reader should get.

        A reader with a cursor gets the rest of the recording that the cursor names, before
        anything that runs now. The order is: the running recording of this node if the cursor is
        of it, one that ended and is kept here, one that is kept on another node. Otherwise, and
        without a cursor, it is what runs now, here or on another node.
        """
        running = self._running.get(conversation_id)
        if after is not None and (running is None or running.id != after.recording_id):
            kept = self._shelf.get(after.recording_id)
            if kept is not None and kept.conversation_id == conversation_id:
                return kept
            elsewhere = await self._kept_elsewhere(conversation_id, after, forwarded=forwarded)
            if elsewhere is not None:
                return elsewhere
        return await self.elsewhere(conversation_id) if running is None else running

    async def _kept_elsewhere(
        self, conversation_id: ConversationId, after: Place, *, forwarded: bool
    ) -> Elsewhere | None:
        """The other node that keeps the recording of the cursor.

        None for a forwarded request: another node has looked it up already and was sent here. If
        the recording is not here any more, a second look-up could send the request in circles.
        """
        if self._places is None or forwarded:
            return None
        return Elsewhere.at(await self._places.find_kept(conversation_id, after))


async def _is_place(recording: Recording, offset: int) -> bool:
    try:
        await recording.tape.read(offset)
    except ValueError:
        return False
    return True
