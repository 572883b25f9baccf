"""Recording and following a response over gRPC, against a file that a bare process writes from a
socket and sends into one. The client of both is this process."""

import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import UUID

import grpc

from bench.harness.bare_file import BLOCK_BYTES, SEND, TAKE
from bench.harness.results import Result
from bench.harness.rounds import Rounds, Run, alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import SECRET, running, serving
from bench.harness.stage import Stage
from recollect.identity.tokens.tokens import mint
from recollect.kernel.clock import SystemClock
from recollect.rpc.generated import memory_service_pb2 as pb

RECORD, REPLAY = "record", "replay"
RESPONSE_BYTES = 4 * 2**20
CHUNK = "The quick brown fox jumps over it." * (BLOCK_BYTES // 34)
CHUNKS = RESPONSE_BYTES // len(CHUNK)
_SERVICE = "/memory.v1.ResponseRecorderService"
_MEBIBYTES = CHUNKS * len(CHUNK) / 2**20


def run_record(stage: Stage) -> Result:
    """How much of the bare process's rate a recording reaches."""
    with _sides(stage) as (recorder, bare):
        sides = {"Record": _times(recorder.record), "socket to file": _times(bare.send)}
        rounds = alternate(sides, stage.effort)
    return _result(RECORD, stage, rounds, list(sides))


def run_replay(stage: Stage) -> Result:
    """The same of a replay."""
    with _sides(stage) as (recorder, bare), recorder.recorded():
        bare.send()
        sides = {"Replay": _times(recorder.replay), "file to socket": _times(bare.take)}
        rounds = alternate(sides, stage.effort)
    return _result(REPLAY, stage, rounds, list(sides))


class _Recorder:
    """A conversation on a server."""

    def __init__(self, channel: grpc.Channel, tree: Tree) -> None:
        now = SystemClock().now()
        token = mint(SECRET.encode(), user_id=tree.owner, ttl=timedelta(hours=12), now=now)
        self._metadata = (("authorization", f"Bearer {token}"),)
        self._id = UUID(tree.id).bytes
        self._record: Any = channel.stream_unary(
            f"{_SERVICE}/Record", pb.RecordRequest.SerializeToString, pb.RecordResponse.FromString
        )
        self._replay: Any = channel.unary_stream(
            f"{_SERVICE}/Replay", pb.ReplayRequest.SerializeToString, pb.ReplayResponse.FromString
        )

    def record(self) -> None:
        """A whole response."""
        answer = self._record(self._messages(), metadata=self._metadata)
        assert answer.status == pb.RECORD_STATUS_SUCCESS, answer.error_message

    def replay(self) -> None:
        """A whole response, that was recorded and has not ended."""
        call = self._replay(pb.ReplayRequest(conversation_id=self._id), metadata=self._metadata)
        left = CHUNKS * len(CHUNK)
        for piece in call:
            left -= len(piece.content)
            if left == 0:
                break
        call.cancel()

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Inside the block a recording runs, of which all has come."""
        end = Event()

        def messages() -> Iterator[pb.RecordRequest]:
            yield from self._messages()
            end.wait()

        call = self._record.future(messages(), metadata=self._metadata)
        try:
            self._await_beginning()
            yield
        finally:
            end.set()
            call.result()

    def _await_beginning(self) -> None:
        """A replay of what has not begun is empty."""
        asked = pb.ReplayRequest(conversation_id=self._id)
        while next(self._replay(asked, metadata=self._metadata), None) is None:
            time.sleep(0.01)

    def _messages(self) -> Iterator[pb.RecordRequest]:
        yield pb.RecordRequest(conversation_id=self._id)
        for _ in range(CHUNKS):
            yield pb.RecordRequest(content=CHUNK)


class _Bare:
    """The bare process."""

    def __init__(self, port: int) -> None:
        self._address = ("127.0.0.1", port)
        self._chunk = CHUNK.encode()

    def send(self) -> None:
        """As many bytes, until they are in the file."""
        with socket.create_connection(self._address) as connection:
            connection.sendall(SEND)
            for _ in range(CHUNKS):
                connection.sendall(self._chunk)
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(1) == SEND

    def take(self) -> None:
        """The bytes of the file."""
        with socket.create_connection(self._address) as connection:
            connection.sendall(TAKE)
            left = CHUNKS * len(self._chunk)
            while left:
                left -= len(connection.recv(BLOCK_BYTES))


@contextmanager
def _sides(stage: Stage) -> Iterator[tuple[_Recorder, _Bare]]:
    tree = Tree("ann", 1)
    tree.root()
    command = [
        sys.executable,
        "-m",
        "bench.harness.bare_file",
        str(stage.folder / "bare-recording"),
    ]
    with stage.database() as url, running(command, stage.folder, {}) as (_, port):
        plant(url, [tree])
        settings = {"RECORDER__DIRECTORY": str(stage.folder / "recordings")}
        with serving(url, stage.folder, **settings, RECORDER__KEEP_SECONDS="0") as server:
            channel = grpc.insecure_channel(f"127.0.0.1:{server.port}")
            try:
                yield _Recorder(channel, tree), _Bare(int(port))
            finally:
                channel.close()


def _times(act: Callable[[], None]) -> Run:
    def run(count: int) -> float:
        started_at = time.perf_counter()
        for _ in range(count):
            act()
        return time.perf_counter() - started_at

    return run


def _result(name: str, stage: Stage, rounds: Rounds, sides: Sequence[str]) -> Result:
    ours, bare = sides
    ratio, spread = rounds.ratio(ours, bare)
    figures = ", ".join(f"{side} {rounds.rate(side) * _MEBIBYTES:.0f} MiB/s" for side in sides)
    return Result(name, stage.engine, ratio, spread, None, figures)
