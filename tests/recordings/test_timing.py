"""What takes its time, with times of our own: a cancel that nobody hears, a place that is lost."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from recollect.conversations.model import Conversation
from recollect.db.encryption import AesGcmCipher
from recollect.identity.model import Principal
from recollect.kernel.errors import Conflict, Unauthenticated, Unavailable
from recollect.kernel.ids import UserId
from recollect.recordings.files import LocalRecordingFiles
from recollect.recordings.locators.local import LocalLocator
from recollect.recordings.model import (
    RecordingChunk,
    RecordingEnd,
    RecordingStatus,
    RecordingTiming,
    ReplayItem,
    location_key,
)
from recollect.recordings.replay import RemoteNode
from recollect.recordings.service import RecorderService
from tests.support.builders import plant
from tests.support.engines import a_sqlite_database
from tests.support.storage import Storage, a_storage

ANN = Principal(UserId("ann"))
QUICK = RecordingTiming(lifetime=0.2, renewal=0.1, cancel=0.1)
SLEEPY = RecordingTiming(lifetime=0.05, renewal=30, cancel=0.1)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """Who may record is the database's to say; one engine will do."""
    with a_storage(a_sqlite_database(tmp_path_factory.mktemp("tempo"))) as running:
        yield running


@pytest.fixture
def conversation(storage: Storage) -> Conversation:
    return plant(storage)


@pytest.fixture
def locator() -> LocalLocator:
    """Shared by two nodes."""
    return LocalLocator()


def recorder(
    storage: Storage, locator: LocalLocator, folder: Path, timing: RecordingTiming
) -> RecorderService:
    tapes = LocalRecordingFiles(folder, AesGcmCipher([]), bytes_max=10**6, leftover_seconds=0)
    service = RecorderService(
        storage.context, locator=locator, tapes=tapes, keep_seconds=0, timing=timing
    )
    service.set_address("here:1")
    return service


class Speech:
    """Texts that come when the test says so; a stubborn one does not listen to who stops it."""

    def __init__(self, *texts: str, stubborn: bool = False) -> None:
        self._texts = texts
        self._stubborn = stubborn
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def texts(self) -> AsyncIterator[str]:
        for text in self._texts:
            yield text
            self.begun.set()
            while not self.go_on.is_set():
                try:
                    await self.go_on.wait()
                except asyncio.CancelledError:
                    if not self._stubborn:
                        raise


def test_a_cancel_that_is_not_heard_closes_the_recording_itself(
    storage: Storage, locator: LocalLocator, conversation: Conversation, tmp_path: Path
) -> None:
    async def scene() -> None:
        here = recorder(storage, locator, tmp_path, QUICK)
        speech = Speech("what came", "never", stubborn=True)
        recording = asyncio.ensure_future(here.record(ANN, conversation.id, speech.texts()))
        await speech.begun.wait()
        replay = await here.replay(ANN, conversation.id)
        assert replay is not None
        assert not isinstance(replay, RemoteNode)
        assert _text(await anext(replay)) == "what came"
        assert await here.cancel(ANN, conversation.id) is None
        assert [one async for one in replay] == [RecordingEnd(RecordingStatus.CANCELLED)]
        assert list(tmp_path.iterdir()) == []
        again = Speech("another")
        again.go_on.set()
        outcome = await here.record(ANN, conversation.id, again.texts())
        assert outcome is RecordingStatus.COMPLETED
        speech.go_on.set()
        assert await recording is RecordingStatus.CANCELLED

    storage.run(scene())


def test_a_node_that_slept_writes_nothing_before_it_holds_its_place_again(
    storage: Storage, locator: LocalLocator, conversation: Conversation, tmp_path: Path
) -> None:
    """Nothing renews here but the writer itself."""

    async def scene() -> None:
        here = recorder(storage, locator, tmp_path, SLEEPY)
        speech = Speech("before", "after")
        recording = asyncio.ensure_future(here.record(ANN, conversation.id, speech.texts()))
        await speech.begun.wait()
        await asyncio.sleep(2 * SLEEPY.lifetime)
        key = location_key(conversation.id)
        assert await locator.claim(key, "another@there:1", 60)
        speech.go_on.set()
        with pytest.raises(Conflict, match="took its place"):
            await recording
        assert await locator.find([key]) == {key: "another@there:1"}
        assert list(tmp_path.iterdir()) == []

    storage.run(scene())


def test_a_node_that_slept_goes_on_if_nobody_took_its_place(
    storage: Storage, locator: LocalLocator, conversation: Conversation, tmp_path: Path
) -> None:
    async def scene() -> None:
        here = recorder(storage, locator, tmp_path, SLEEPY)
        speech = Speech("before", "after")
        recording = asyncio.ensure_future(here.record(ANN, conversation.id, speech.texts()))
        await speech.begun.wait()
        await asyncio.sleep(2 * SLEEPY.lifetime)
        assert await here.check(ANN, [conversation.id]) == []
        speech.go_on.set()
        assert await recording is RecordingStatus.COMPLETED

    storage.run(scene())


def test_a_recording_lasts_as_long_as_it_is_renewed(
    storage: Storage, locator: LocalLocator, conversation: Conversation, tmp_path: Path
) -> None:
    async def scene() -> None:
        here = recorder(storage, locator, tmp_path, QUICK)
        await here.start()
        speech = Speech("before", "after")
        recording = asyncio.ensure_future(here.record(ANN, conversation.id, speech.texts()))
        await speech.begun.wait()
        for _ in range(10):
            await asyncio.sleep(QUICK.lifetime / 4)
            assert await here.check(ANN, [conversation.id]) == [conversation.id]
        await here.close()
        with pytest.raises(Unavailable, match="shutting down"):
            await recording
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(Unavailable, match="shutting down"):
            await here.record(ANN, conversation.id, Speech("too late").texts())

    storage.run(scene())


def test_a_reader_that_stalled_is_asked_before_it_gets_more(
    storage: Storage, locator: LocalLocator, conversation: Conversation, tmp_path: Path
) -> None:
    async def scene() -> None:
        here = recorder(storage, locator, tmp_path, QUICK)
        speech = Speech("in time", "too late")
        recording = asyncio.ensure_future(here.record(ANN, conversation.id, speech.texts()))
        await speech.begun.wait()
        ending = storage.runtime.clock.now().timestamp() + QUICK.renewal
        replay = await here.replay(Principal(ANN.user_id, expires_at=ending), conversation.id)
        assert replay is not None
        assert not isinstance(replay, RemoteNode)
        assert _text(await anext(replay)) == "in time"
        speech.go_on.set()
        assert await recording is RecordingStatus.COMPLETED
        await asyncio.sleep(2 * QUICK.renewal)
        with pytest.raises(Unauthenticated):
            await anext(replay)

    storage.run(scene())


def _text(item: ReplayItem) -> str:
    assert isinstance(item, RecordingChunk)
    return item.text
