"""Follow recordings: find them, here or elsewhere, and read as long as the caller may."""

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
    """Another node has the recording: `host:port`."""

    address: str

    @classmethod
    def at(cls, address: str | None) -> "Elsewhere | None":
        """There, if it is anywhere."""
        return None if address is None else cls(address)


class Replaying:
    """The readers of one node. Who may is looked up again every `check_seconds`."""

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
            raise InvalidInput("no such place in the recording", field="Last-Event-ID")
        if offset and found.ended and offset == found.tape.end:
            return None
        self._seats.check(principal.user_id)
        return self._follow(principal, found, offset)

    async def elsewhere(self, conversation_id: ConversationId) -> Elsewhere | None:
        """Another node that records it now."""
        if self._places is None:
            return None
        return Elsewhere.at(await self._places.find(conversation_id))

    async def _follow(
        self, principal: Principal, recording: Recording, offset: int
    ) -> AsyncIterator[Piece]:
        """A seat is taken when the first piece is asked for: who never does leaves none taken."""

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
        """What somebody had begun to follow comes before what runs now."""
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
        """Not twice: a node that has lost it would send the caller back, in circles."""
        if self._places is None or forwarded:
            return None
        return Elsewhere.at(await self._places.find_kept(conversation_id, after))


async def _is_place(recording: Recording, offset: int) -> bool:
    try:
        await recording.tape.read(offset)
    except ValueError:
        return False
    return True
