"""A server that is killed and comes back, in the middle of writes, of a list and of a response."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollect_client import Interrupted, Recollect, RecollectError, RetryPolicy, User
from tests.support.engines import a_sqlite_database
from tests.support.processes import start_server

# Until the server is back, however busy the machine is.
PATIENT = RetryPolicy(attempts=200, pause_seconds=0.1, pause_seconds_max=0.3)
WRITERS, TEXTS_EACH = 4, 15
# So many writes are answered before the kill, so that it comes in the middle of others.
BEFORE_THE_KILL = 12
WAIT_SECONDS = 60


class Progress:
    """Counts, and says when there were enough."""

    def __init__(self, enough: int) -> None:
        self._left = enough
        self._lock = threading.Lock()
        self.reached = threading.Event()

    def count(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left <= 0:
                self.reached.set()


def write(user: User, writer: int, progress: Progress) -> list[str]:
    """The texts, all of which were answered."""
    texts = [f"Writer {writer} says {number}." for number in range(TEXTS_EACH)]
    for text in texts:
        user.remember(text)
        progress.count()
    return texts


def respond(user: User, conversation_id: str, killed: threading.Event) -> None:
    def pieces() -> Iterator[str]:
        yield "one "
        killed.wait(WAIT_SECONDS)
        yield "two"

    user.conversation(conversation_id).respond(pieces())


def test_a_kill_doubles_and_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    database = a_sqlite_database(tmp_path)
    began, killed = threading.Event(), threading.Event()
    progress = Progress(BEFORE_THE_KILL)
    heard: list[str] = []
    with ThreadPoolExecutor(WRITERS + 2) as pool, ExitStack() as open_:
        with start_server(tmp_path, database) as (process, port):
            url = f"http://127.0.0.1:{port}"
            memory = open_.enter_context(Recollect.connect(url, retries=PATIENT))
            ann, bob = memory.user("ann"), memory.user("bob")
            talk = bob.conversation()
            messages = [f"message {number}" for number in range(30)]
            for message in messages:
                talk.append(message)
            history = talk.history(limit=4)
            read = [next(history).text for _ in range(10)]
            writing = [pool.submit(write, ann, n, progress) for n in range(WRITERS)]
            responding = pool.submit(respond, bob, talk.id, killed)

            def follow() -> None:
                while not heard:  # until its first piece is there is nothing to follow
                    for piece in talk.follow():
                        heard.append(piece)
                        began.set()

            following = pool.submit(follow)
            assert began.wait(WAIT_SECONDS)
            assert progress.reached.wait(WAIT_SECONDS)
            process.kill()
            killed.set()
        with start_server(tmp_path, database, SERVER__PORT=port):
            written = [text for one in writing for text in one.result(WAIT_SECONDS)]
            read += [entry.text for entry in history]
            with pytest.raises(RecollectError):
                responding.result(WAIT_SECONDS)
            following_error = following.exception(WAIT_SECONDS)
            kept = [one.content for one in ann.memories(limit=20)]
    assert sorted(kept) == sorted(written)
    assert read == messages
    assert "".join(heard).startswith("one ")
    assert following_error is None or isinstance(following_error, Interrupted)
