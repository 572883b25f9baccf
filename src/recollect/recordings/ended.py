"""Ended recordings, stored for a while for readers who lost their connection."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect.recordings.model import StreamQuota
from recollect.recordings.recording import Recording


@dataclass(frozen=True, slots=True)
class _EndedRecording:
    recording: Recording
    timer: asyncio.TimerHandle


class EndedRecordings:
    """Keeps ended recordings for some seconds, up to a number per user and per node.

    At the limit the oldest one is removed early; `dropped` is called with it, so that its location
    can be released. A recording whose time is up needs no call: its location expires then too.
    """

    def __init__(
        self, seconds: float, most: StreamQuota, dropped: Callable[[Recording], None]
    ) -> None:
        self._seconds = seconds
        self._most = most
        self._dropped = dropped
        self._kept: dict[str, _EndedRecording] = {}

    def __iter__(self) -> Iterator[Recording]:
        return iter([kept.recording for kept in self._kept.values()])

    def get(self, recording_id: str) -> Recording | None:
        """The recording with this id, if it is kept here."""
        kept = self._kept.get(recording_id)
        return None if kept is None else kept.recording

    def add(self, recording: Recording) -> None:
        """Keep a recording. At the user's limit it replaces the user's oldest, else any oldest."""
        who = recording.principal.user_id
        of_one = [one for one in self if one.principal.user_id == who]
        if len(of_one) >= self._most.of_one:
            self._evict(of_one[0])
        elif len(self._kept) >= self._most.of_all:
            self._evict(next(iter(self)))
        timer = asyncio.get_running_loop().call_later(self._seconds, self._drop, recording)
        self._kept[recording.id] = _EndedRecording(recording, timer)

    def clear(self) -> None:
        """Remove all, when the node stops."""
        for recording in self:
            self._drop(recording)

    def _evict(self, oldest: Recording) -> None:
        self._drop(oldest)
        self._dropped(oldest)

    def _drop(self, recording: Recording) -> None:
        self._kept.pop(recording.id).timer.cancel()
        recording.tape.close()
