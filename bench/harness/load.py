"""The load, as a benchmark asks for it. The clients are in a process of their own, see `clients`.

This module imports nothing of the project: the clients' process imports it and must stay small.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

Lane = Sequence[bytes]
"""Requests that one client sends one after the other, over and over."""


@dataclass(frozen=True, slots=True)
class Job:
    """Each lane sends `each` requests to one of the ports; `first` is where in the lane it starts.
    With `grpc` the requests are calls as `http2` makes them."""

    ports: Sequence[int]
    lanes: Sequence[Lane]
    first: int
    each: int
    grpc: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How long a job took, how long each of its requests, and the first answer that was no
    success."""

    seconds: float
    latencies: Sequence[float]
    failure: bytes | None


class Load:
    """Clients of one server, or of several: lanes take turns with their ports."""

    def __init__(self, process: "subprocess.Popen[bytes]", ports: Sequence[int]) -> None:
        self._process = process
        self._ports = ports

    @property
    def pid(self) -> int:
        """The clients' process."""
        return self._process.pid

    def at(self, *ports: int) -> "Load":
        """The same clients, at other ports."""
        return Load(self._process, ports)

    def side(self, lanes: Sequence[Lane], *, grpc: bool = False) -> Callable[[int], float]:
        """One side of a comparison: sends about so many requests and says the time for as many.

        A lane goes on where it stopped the last time.
        """
        send = self._sender(lanes, grpc=grpc)

        def run(count: int) -> float:
            outcome = send(count)
            return outcome.seconds * count / len(outcome.latencies)

        return run

    def slow_side(self, lanes: Sequence[Lane]) -> Callable[[int], float]:
        """The same, but as if each request took as long as the slowest of 20 do: the p95."""
        send = self._sender(lanes)
        return lambda count: p95(send(count).latencies) * count

    def _sender(self, lanes: Sequence[Lane], *, grpc: bool = False) -> Callable[[int], Outcome]:
        first = 0

        def send(count: int) -> Outcome:
            nonlocal first
            each = max(1, count // len(lanes))
            outcome = self._send(Job(self._ports, lanes, first, each, grpc))
            first += each
            return outcome

        return send

    def _send(self, job: Job) -> Outcome:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        outcome: Outcome = pickle.load(self._process.stdout)
        if outcome.failure is not None:
            raise RuntimeError(f"the server answered {outcome.failure[:500]!r}")
        return outcome


def p95(latencies: Sequence[float]) -> float:
    """Nineteen of twenty are not slower."""
    return sorted(latencies)[max(0, -(-len(latencies) * 19 // 20) - 1)]


@contextmanager
def clients_of(*ports: int) -> Iterator[Load]:
    """Clients of the servers on these ports."""
    command = [sys.executable, "-m", "bench.harness.clients"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Load(process, ports)
        finally:
            process.kill()
