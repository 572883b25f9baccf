"""The heartbeat of running recordings: renews their locations and checks their writers' access.

A node that can't renew must assume that another node has taken over. So a recording is stopped as
soon as its location must have expired, even if the locator can't be reached."""

import asyncio
from collections.abc import Callable, Iterable

import structlog

from recollect.identity.actions import Action
from recollect.kernel.errors import (
    Conflict,
    Forbidden,
    NotFound,
    RecollectError,
    Unauthenticated,
    Unavailable,
)
from recollect.recordings.access import RecordingAccess
from recollect.recordings.model import RecordingStatus, RecordingTiming
from recollect.recordings.recording import Recording
from recollect.recordings.registry import RecordingRegistry

log = structlog.get_logger("recollect.recorder")


class RecordingHeartbeat:
    """Renews the locations of running recordings, and stops those that may not go on."""

    def __init__(
        self,
        running: Callable[[], Iterable[Recording]],
        access: RecordingAccess,
        *,
        registry: RecordingRegistry,
        timing: RecordingTiming,
    ) -> None:
        self._running = running
        self._access = access
        self._registry = registry
        self._timing = timing

    async def run(self) -> None:
        """Renew all running recordings in a loop, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            # The interval counts from the beginning of a round, so a slow round is not added.
            due = loop.time() + self._timing.renewal
            await asyncio.gather(*map(self.renew, self._running()))
            await asyncio.sleep(max(0.0, due - loop.time()))

    def is_expired(self, recording: Recording) -> bool:
        """Must its location have expired? Then another node may be recording by now."""
        silent_for = asyncio.get_running_loop().time() - recording.renewed_at
        return silent_for >= self._timing.lifetime

    async def renew(self, recording: Recording) -> None:
        """Renew one recording. Failures are tolerated until its location must have expired."""
        # Taken before the request: the new lifetime begins at some later moment, so `is_expired`
        # errs on the safe side.
        asked_at = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self._timing.renewal):
                if await self._check_and_renew(recording):
                    recording.renewed_at = asked_at
        except (RecollectError, TimeoutError):
            self._stop_if_expired(recording)
        except Exception:  # must not stop the renewal of the others
            log.exception("a recording was not renewed", recording_id=recording.id)
            self._stop_if_expired(recording)

    async def _check_and_renew(self, recording: Recording) -> bool:
        try:
            await self._access.authorize(
                recording.principal, Action.RECORD, recording.conversation_id
            )
        except Forbidden:
            recording.stop(RecordingStatus.FORBIDDEN)
        except NotFound:
            recording.stop(RecordingStatus.CANCELLED)
        except Unauthenticated as error:
            recording.stop(error)
        # The access check may have taken a while. A recording that was stopped or finished
        # meanwhile must not be renewed: that could bring its released location back.
        if recording.stopped is None and not recording.ended:
            await self._renew_location(recording)
        return recording.stopped is None

    async def _renew_location(self, recording: Recording) -> None:
        if not await self._registry.renew(recording):
            recording.stop(Conflict("another recording of this conversation took its place"))

    def _stop_if_expired(self, recording: Recording) -> None:
        if self.is_expired(recording):
            recording.stop(Unavailable("the recording locator was unavailable for too long"))
