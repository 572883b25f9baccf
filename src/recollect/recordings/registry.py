"""The registry of recordings over all nodes, on top of a locator.

A running recording has a location under its conversation's key; claiming that key is what allows
one recording at a time. A recording that ended and is kept has a location under a key with its
own id, so that readers who reconnect to another node find it.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from contextlib import suppress

import structlog

from recollect.kernel.errors import RecollectError
from recollect.kernel.ids import ConversationId
from recollect.recordings.model import (
    RecordingLocation,
    ReplayCursor,
    ended_key,
    location_key,
)
from recollect.recordings.ports import Locator
from recollect.recordings.recording import Recording

log = structlog.get_logger("recollect.recorder")
_RETRY_SECONDS = 1


class RecordingRegistry:
    """Claims, renews and releases locations. `address` is where other nodes reach this one."""

    def __init__(self, locator: Locator, *, lifetime: float, keep_seconds: float) -> None:
        self.address = ""
        self._locator = locator
        self._lifetime = lifetime
        self._keep_seconds = keep_seconds

    async def claim(self, conversation_id: ConversationId, recording_id: str) -> bool:
        """Claim the conversation for a recording. False if another recording has it."""
        key, value = location_key(conversation_id), self._location_value(recording_id)
        return await self._locator.claim(key, value, self._lifetime)

    async def renew(self, recording: Recording) -> bool:
        """Renew the location. False if another recording has taken the conversation.

        A location that expired, because the node was suspended, is claimed again if it is free.
        """
        key, value = location_key(recording.conversation_id), self._location_value(recording.id)
        return await self._locator.renew(key, value, self._lifetime) or await self._locator.claim(
            key, value, self._lifetime
        )

    async def release(
        self, conversation_id: ConversationId, recording_id: str, *, keep: bool
    ) -> bool:
        """Release the conversation for the next recording. With `keep`, publish where the ended
        recording can be read. False if the locator failed, so the location may still be there.
        """
        # Publish before release. Between the two steps both keys exist, and readers find the
        # recording under either. The other way round there would be a moment without any.
        value = self._location_value(recording_id)
        if keep:
            tail = ended_key(conversation_id, recording_id)
            update = self._locator.claim(tail, value, self._keep_seconds)
            if not await self._try_update(update, recording_id):
                return False
        left = self._locator.release(location_key(conversation_id), value)
        return await self._try_update(left, recording_id)

    async def release_with_retry(self, conversation_id: ConversationId, recording_id: str) -> None:
        """Release a location of which it is unknown whether it exists, with retries.

        A locator that hangs may execute a claim long after its caller gave up. So this repeats
        for one lifetime; after that the location has expired anyway.
        """
        key, value = location_key(conversation_id), self._location_value(recording_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._lifetime):
                while not await self._try_update(self._locator.release(key, value), recording_id):
                    await asyncio.sleep(_RETRY_SECONDS)

    async def release_ended(self, recording: Recording) -> None:
        """Remove the location of an ended recording that is no longer kept."""
        tail = ended_key(recording.conversation_id, recording.id)
        gone = self._locator.release(tail, self._location_value(recording.id))
        await self._try_update(gone, recording.id)

    async def find_running_node(self, conversation_id: ConversationId) -> str | None:
        """The address of another node that records the conversation now."""
        return await self._find_other_node(location_key(conversation_id))

    async def find_ended_node(
        self, conversation_id: ConversationId, place: ReplayCursor
    ) -> str | None:
        """The address of another node that keeps the ended recording of a cursor."""
        return await self._find_other_node(ended_key(conversation_id, place.recording_id))

    async def filter_recorded(
        self, conversation_ids: Iterable[ConversationId]
    ) -> list[ConversationId]:
        """Those of the conversations that are being recorded, on any node."""
        keys = {location_key(id_): id_ for id_ in conversation_ids}
        found = await self._locator.find(keys)
        return [id_ for key, id_ in keys.items() if key in found]

    async def close(self) -> None:
        await self._locator.close()

    async def _try_update(self, update: Awaitable[object], recording_id: str) -> bool:
        try:
            await update
        except RecollectError:  # not fatal: the location expires by itself
            log.warning("could not update the location of a recording", recording_id=recording_id)
            return False
        return True

    async def _find_other_node(self, key: str) -> str | None:
        location = RecordingLocation.parse((await self._locator.find([key])).get(key, ""))
        if location is None or location.address == self.address:
            return None
        return location.address

    def _location_value(self, recording_id: str) -> str:
        return str(RecordingLocation(self.address, recording_id))
