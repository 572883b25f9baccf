"""A client ends without a trace: by `close`, when it is forgotten, and when its process ends."""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect_client import AsyncRecollect, Recollect, RecollectError, ServerUnreachable
from tests.client.conftest import EMBEDDED

WAIT_SECONDS = 60
# What a system leaves behind: its file, and the key of cursors.
LEFT = {"memory.db", "recollect.key"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def threads() -> set[threading.Thread]:
    return {one for one in threading.enumerate() if one.name.startswith("recollect")}


def left_in(folder: Path) -> set[str]:
    return {one.name for one in folder.rglob("*") if one.is_file()}


def run(path: Path, program: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own, with `memory` on the file."""
    # A program that hangs says where.
    begin = f"import faulthandler; faulthandler.dump_traceback_later({WAIT_SECONDS}, exit=True)\n"
    begin += "from recollect_client import Recollect, ServerUnreachable\n"
    begin += f"memory = Recollect.open({str(path)!r}, settings={EMBEDDED!r})\n"
    return subprocess.run(
        [sys.executable, "-c", begin + program],
        capture_output=True,
        text=True,
        timeout=2 * WAIT_SECONDS,
        check=False,
    )


def test_a_client_that_is_closed_leaves_no_thread_and_no_file(path: Path) -> None:
    before = threads()
    with Recollect.open(path, settings=EMBEDDED) as memory:
        memory.user("ann").remember("The tea is gone.")
        assert threads() - before
    assert threads() == before
    assert left_in(path.parent) == LEFT


def test_a_client_that_is_forgotten_ends_by_itself(path: Path) -> None:
    before = threads()
    memory = Recollect.open(path, settings=EMBEDDED)
    ann = memory.user("ann")
    del memory
    ann.remember("A handle keeps its system.")
    mine = threads() - before
    del ann
    gc.collect()
    for thread in mine:
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()
    assert left_in(path.parent) == LEFT


def test_a_process_may_fork_and_end_without_closing(path: Path) -> None:
    program = """
import os
child = os.fork()
if child == 0:
    try:
        memory.user('ann').remember('In the child.')
    except ServerUnreachable as error:
        print(error, flush=True)
    # As `multiprocessing` ends its children: a thread of the parent may have held a lock of
    # SQLite, so nothing may be cleaned up here.
    os._exit(0)
os.waitpid(child, 0)
memory.user('ann').remember('In the parent.')
print(*[one.content for one in memory.user('ann').memories()])
"""
    done = run(path, program)
    assert done.stdout.splitlines() == [
        "this client was opened before the process was forked: open one in the new process",
        "In the parent.",
    ], done.stderr
    assert left_in(path.parent) == LEFT
    with Recollect.open(path, settings=EMBEDDED) as memory:
        assert [one.content for one in memory.user("ann").memories()] == ["In the parent."]


def test_an_interrupted_program_can_still_close(path: Path) -> None:
    program = """
import signal, threading, _thread
# A program that was started in the background of a shell ignores interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
talk = memory.user('ann').conversation()
talk.append('Count')
began, go_on = threading.Event(), threading.Event()
def pieces():
    yield 'one '
    began.set()
    go_on.wait(60)
writer = threading.Thread(target=lambda: talk.respond(pieces()))
writer.start()
began.wait(60)
try:
    for piece in talk.follow():
        _thread.interrupt_main()
except KeyboardInterrupt:
    print('interrupted after', piece)
go_on.set()
writer.join(60)
memory.close()
print([one.name for one in threading.enumerate()])
"""
    done = run(path, program)
    assert done.stdout.splitlines() == ["interrupted after one ", "['MainThread']"], done.stderr
    assert left_in(path.parent) == LEFT


def test_close_ends_what_is_followed(path: Path) -> None:
    memory = Recollect.open(path, settings=EMBEDDED)
    talk = memory.user("ann").conversation()
    talk.append("Count")
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    raised: list[BaseException] = []

    def pieces() -> Iterator[str]:
        yield "one "
        began.set()
        go_on.wait(WAIT_SECONDS)

    def respond() -> None:
        try:
            talk.respond(pieces())
        except RecollectError as error:
            raised.append(error)

    def follow() -> None:
        try:
            for _ in talk.follow():
                began.set()
        except RecollectError as error:
            raised.append(error)
        ended.set()

    writer = threading.Thread(target=respond)
    writer.start()
    assert began.wait(WAIT_SECONDS)
    began.clear()
    reader = threading.Thread(target=follow)
    reader.start()
    assert began.wait(WAIT_SECONDS)
    closing = threading.Thread(target=memory.close)
    closing.start()
    assert ended.wait(WAIT_SECONDS)
    go_on.set()
    for thread in (writer, reader, closing):
        thread.join(WAIT_SECONDS)
        assert not thread.is_alive()
    assert raised
    assert all(isinstance(error, RecollectError) for error in raised)


def test_the_waiting_client_works_where_a_loop_runs(path: Path) -> None:
    """As in a notebook, where no `asyncio.run` is possible."""

    async def cell() -> list[str]:
        with Recollect.open(path, settings=EMBEDDED) as memory:
            memory.user("ann").remember("The tea is gone.")
            return [one.content for one in memory.user("ann").memories()]

    assert asyncio.run(cell()) == ["The tea is gone."]


def test_a_second_one_on_the_file_works_and_warns(path: Path) -> None:
    with Recollect.open(path, settings=EMBEDDED) as memory:
        with pytest.warns(RuntimeWarning, match="open elsewhere too"):
            second = Recollect.open(path, settings=EMBEDDED)
        with second:
            written = second.user("ann").remember("The tea is gone.")
        assert memory.user("ann").get(written.id).content == "The tea is gone."


def test_a_cancelled_call_ends_and_the_client_goes_on(path: Path) -> None:
    async def main() -> None:
        async with AsyncRecollect.open(path, settings=EMBEDDED) as memory:
            ann = memory.user("ann")
            calls = [asyncio.create_task(ann.remember(f"Number {n}")) for n in range(20)]
            await asyncio.sleep(0)
            for call in calls[::2]:
                call.cancel()
            done = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(one) for one in done[::2]} == {asyncio.CancelledError}
            kept = {one.content async for one in ann.memories()}
            assert kept >= {f"Number {n}" for n in range(1, 20, 2)}

    asyncio.run(main())


def test_after_the_end_every_call_says_that_the_client_is_closed(path: Path) -> None:
    memory = Recollect.open(path, settings=EMBEDDED)
    talk = memory.user("ann").conversation()
    talk.append("Hello")
    memory.close()
    for call in (talk.details, lambda: list(talk.history()), lambda: list(talk.follow())):
        with pytest.raises(ServerUnreachable) as caught:
            call()
        assert caught.value.code == "closed"
