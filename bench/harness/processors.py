"""Who used the processors while a side ran. Told from `/proc`; elsewhere nothing is told."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psycopg

from bench.harness.rounds import Run

OTHERS = "others"
_PROC = Path("/proc")
_PARENT, _USER, _SYSTEM, _CHILDREN_USER, _CHILDREN_SYSTEM = 1, 11, 12, 13, 14
_IDLE, _WAITING = 3, 4


class Meter:
    """Counts the seconds of processors that groups of processes use in each side's rounds."""

    def __init__(self, groups: Mapping[str, Callable[[], float]]) -> None:
        self._groups = groups
        self._used: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._wall: dict[str, float] = defaultdict(float)
        self._requests: dict[str, int] = defaultdict(int)

    def watch(self, side: str, run: Run, *, lanes: int) -> Run:
        """The same side, and what it uses is counted. Each lane sends as many requests."""

        def watched(count: int) -> float:
            before, started_at = self._now(), time.perf_counter()
            seconds = run(count)
            self._wall[side] += time.perf_counter() - started_at
            self._requests[side] += max(1, count // lanes) * lanes
            for group, used in self._now().items():
                self._used[side][group] += used - before[group]
            return seconds

        return watched if _PROC.is_dir() else run

    def shares(self, side: str) -> str:
        """Processors that each group had in this side's rounds, on average."""
        if not self._wall[side]:
            return "processors unknown"
        used = {group: spent / self._wall[side] for group, spent in self._used[side].items()}
        told = ", ".join(f"{group} {share:.2f}" for group, share in used.items())
        return f"{told} of {os.cpu_count()} cores"

    def costs(self, side: str) -> str:
        """What each group uses for a request, which a busy machine changes less than a rate."""
        if not self._wall[side]:
            return "processors unknown"
        spent = {group: self._used[side][group] for group in self._groups}
        micros = {group: 1e6 * used / self._requests[side] for group, used in spent.items()}
        return ", ".join(f"{group} {cost:.0f} µs" for group, cost in micros.items())

    def _now(self) -> dict[str, float]:
        used = {group: seconds() for group, seconds in self._groups.items()}
        return used | {OTHERS: _all_seconds() - sum(used.values())}


def seconds_of(pids: Sequence[int]) -> Callable[[], float]:
    """What these processes have used so far."""
    return lambda: sum(_seconds(_stat(pid)) for pid in pids)


def postgres_seconds(url: str) -> Callable[[], float]:
    """What all processes of the server have used so far; nothing if it is on another machine."""
    with psycopg.connect(url) as connection:
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        server = int(_stat(backend)[_PARENT]) if _stat(backend) else None
    return lambda: _family_seconds(server) if server else 0.0


def _family_seconds(parent: int) -> float:
    """A process, its children, and those that have ended."""
    stat = _stat(parent)
    ended = (int(stat[at]) for at in (_CHILDREN_USER, _CHILDREN_SYSTEM))
    children = (_stat(int(path.name)) for path in _PROC.iterdir() if path.name.isdigit())
    running = (_seconds(child) for child in children if child and int(child[_PARENT]) == parent)
    return _seconds(stat) + sum(ended) / _ticks() + sum(running)


def _all_seconds() -> float:
    """What everything on this machine has used."""
    times = [int(ticks) for ticks in (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(times) - times[_IDLE] - times[_WAITING]) / _ticks()


def _seconds(stat: Sequence[str]) -> float:
    return (int(stat[_USER]) + int(stat[_SYSTEM])) / _ticks() if stat else 0.0


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold anything; none of a process that has ended."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _ticks() -> int:
    return os.sysconf("SC_CLK_TCK")
