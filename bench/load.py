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
    """Each lane sends `each` requests; `first` is where in the lane it starts."""

    port: int
    lanes: Sequence[Lane]
    first: int
    each: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How long a job took, and the first answer that was no success."""

    seconds: float
    failure: bytes | None


class Load:
    """Clients of one server."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self._process = process
        self._port = port

    def side(self, lanes: Sequence[Lane]) -> Callable[[int], float]:
        """One side of a comparison: sends about so many requests and says the time for as many.

        A lane goes on where it stopped the last time.
        """
        first = 0

        def run(count: int) -> float:
            nonlocal first
            each = max(1, count // len(lanes))
            seconds = self._send(Job(self._port, lanes, first, each))
            first += each
            return seconds * count / (each * len(lanes))

        return run

    def _send(self, job: Job) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(job, self._process.stdin)
        self._process.stdin.flush()
        outcome: Outcome = pickle.load(self._process.stdout)
        if outcome.failure is not None:
            raise RuntimeError(f"the server answered {outcome.failure[:500]!r}")
        return outcome.seconds


@contextmanager
def clients_of(port: int) -> Iterator[Load]:
    """Clients of the server on `port`."""
    command = [sys.executable, "-m", "bench.clients"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Load(process, port)
        finally:
            process.kill()
