"""What this node tells the others about its recordings, and what they tell it."""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import suppress

import structlog

from recollect.domain.ids import ConversationId
from recollect.domain.recordings import Location, Place, location_key, tail_key
from recollect.errors import RecollectError
from recollect.ports.recordings import Locator
from recollect.services.recording import Recording

log = structlog.get_logger("recollect.recorder")
_AGAIN_SECONDS = 1


class RecordingPlaces:
    """The locations of recordings. `address` is where other nodes reach this one."""

    def __init__(self, locator: Locator, *, lifetime: float, keep_seconds: float) -> None:
        self.address = ""
        self._locator = locator
        self._lifetime = lifetime
        self._keep_seconds = keep_seconds

    async def claim(self, conversation_id: ConversationId, recording_id: str) -> bool:
        """Take the place of the one recording that a conversation may have; was it free?"""
        key, value = location_key(conversation_id), self._value(recording_id)
        return await self._locator.claim(key, value, self._lifetime)

    async def hold(self, recording: Recording) -> bool:
        """Stay there. A place that ran out, on a node that slept, is taken again if nobody else
        has it."""
        key, value = location_key(recording.conversation_id), self._value(recording.id)
        return await self._locator.renew(key, value, self._lifetime) or await self._locator.claim(
            key, value, self._lifetime
        )

    async def leave(
        self, conversation_id: ConversationId, recording_id: str, *, keep: bool
    ) -> bool:
        """Make room. Where it is kept is told to those who had begun to follow it. False if it is
        not known whether there is room now."""
        value = self._value(recording_id)
        if keep:
            tail = tail_key(conversation_id, recording_id)
            told = self._locator.claim(tail, value, self._keep_seconds)
            if not await self._is_told(told, recording_id):
                return False
        left = self._locator.release(location_key(conversation_id), value)
        return await self._is_told(left, recording_id)

    async def withdraw(self, conversation_id: ConversationId, recording_id: str) -> None:
        """Make room where nobody knows whether there is: a store that hangs takes in a claim when
        it wakes up. So this is tried for as long as the claim would be in the way."""
        key, value = location_key(conversation_id), self._value(recording_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._lifetime):
                while not await self._is_told(self._locator.release(key, value), recording_id):
                    await asyncio.sleep(_AGAIN_SECONDS)

    async def forget(self, recording: Recording) -> None:
        """It is kept no more."""
        tail = tail_key(recording.conversation_id, recording.id)
        gone = self._locator.release(tail, self._value(recording.id))
        await self._is_told(gone, recording.id)

    async def find(self, conversation_id: ConversationId) -> str | None:
        """The address of another node that records it now."""
        return await self._other(location_key(conversation_id))

    async def find_kept(self, conversation_id: ConversationId, place: Place) -> str | None:
        """The address of another node that keeps what somebody had begun to follow."""
        return await self._other(tail_key(conversation_id, place.recording_id))

    async def taken(self, conversation_ids: Iterable[ConversationId]) -> list[ConversationId]:
        """Those that are being recorded, on whatever node."""
        keys = {location_key(id_): id_ for id_ in conversation_ids}
        found = await self._locator.find(keys)
        return [id_ for key, id_ in keys.items() if key in found]

    async def close(self) -> None:
        """Let go of connections."""
        await self._locator.close()

    async def _is_told(self, told: Awaitable[object], recording_id: str) -> bool:
        try:
            await told
        except RecollectError:  # it runs out by itself
            log.warning("the location of a recording was not removed", recording_id=recording_id)
            return False
        return True

    async def _other(self, key: str) -> str | None:
        location = Location.parse((await self._locator.find([key])).get(key, ""))
        if location is None or location.address == self.address:
            return None
        return location.address

    def _value(self, recording_id: str) -> str:
        return str(Location(self.address, recording_id))
