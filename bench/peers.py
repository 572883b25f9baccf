"""Peers in an environment of their own, which is made once and kept in the cache of the user."""

import itertools
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

PINNED = (
    "langgraph-checkpoint-sqlite==3.0.3",
    "mem0ai==2.2.1",
    "numpy>=2",
    # LangGraph loads an extension, which not every Python's own `sqlite3` can.
    "pysqlite3-binary==0.5.4",
)
_ROOT = Path(__file__).parents[1]


class Peer:
    """A running peer, which is given texts."""

    def __init__(self, process: "subprocess.Popen[str]", texts: Iterator[str]) -> None:
        self._process = process
        self._texts = texts

    def adds(self, count: int, *, writers: int) -> float:
        """The seconds of so many adds by so many threads."""
        seconds: float = self._ask("add", list(itertools.islice(self._texts, count)), writers)
        return seconds

    def add_latencies(self, count: int) -> list[float]:
        """The seconds of each add, one by one."""
        latencies: list[float] = self._ask("add", list(itertools.islice(self._texts, count)), 0)
        return latencies

    def search_latencies(self, questions: list[str]) -> list[float]:
        """The seconds of each search, one by one."""
        latencies: list[float] = self._ask("search", questions, 0)
        return latencies

    def _ask(self, do: str, texts: list[str], writers: int) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(
            json.dumps({"do": do, "texts": texts, "writers": writers}),
            file=self._process.stdin,
            flush=True,
        )
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the peer has ended; what it said is above")
        return json.loads(line)


@contextmanager
def peer(name: str, folder: Path, texts: Iterator[str]) -> Iterator[Peer]:
    """A peer on files in this folder."""
    place = folder / name
    place.mkdir()
    with subprocess.Popen(
        [str(_environment()), "-m", "bench.peer_process", name, str(place)],
        cwd=_ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield Peer(process, texts)
        finally:
            process.kill()


def _environment() -> Path:
    """The Python of the environment; installs it where it is missing."""
    named = sha256("\n".join((*PINNED, sys.version)).encode()).hexdigest()[:12]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "recollect" / f"bench-peers-{named}"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        print(f"installing {', '.join(PINNED)} into {folder}", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PINNED], check=True)
        done.touch()
    return python
