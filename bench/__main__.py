"""`python -m bench [NAME…] [--engine …] [--quick]`: run benchmarks, print one line for each."""

import argparse
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from bench import (
    appends,
    backups,
    client,
    forks,
    grpc,
    indexing,
    lists,
    memories,
    memory,
    nodes,
    pages,
    queries,
    recorder,
    search,
    syncs,
)
from bench.harness.results import Result, to_table
from bench.harness.rounds import Effort
from bench.harness.stage import ENGINES, Stage, stage

BENCHMARKS: dict[str, Callable[[Stage], Result]] = {
    appends.NAME: appends.run,
    pages.NAME: pages.run,
    forks.NAME: forks.run,
    lists.NAME: lists.run,
    syncs.NAME: syncs.run,
    search.NAME: search.run,
    search.HYBRID: search.run_hybrid,
    queries.NAME: queries.run,
    indexing.NAME: indexing.run,
    memory.NAME: memory.run,
    grpc.APPEND: grpc.run_append,
    grpc.LIST: grpc.run_list,
    nodes.NAME: nodes.run,
    recorder.RECORD: recorder.run_record,
    recorder.REPLAY: recorder.run_replay,
    memories.ADD: memories.run_add,
    memories.SEARCH: memories.run_search,
    memories.RECALL: memories.run_recall,
    **memories.flat_reads(),
    memories.DOCTOR: memories.run_doctor,
    memories.GC: memories.run_gc,
    client.REMEMBER: client.run_remember,
    client.SEARCH: client.run_search,
    client.REMOTE: client.run_remote,
    client.PEERS: client.run_peers,
    backups.BACKUP: backups.run_backup,
    backups.RESTORE: backups.run_restore,
    backups.APPENDS: backups.run_appends,
}
# Several processes on one database: the other engine has no such thing.
ON_POSTGRES_ONLY = {nodes.NAME}
# The peers are files, too. They are installed first, so a tiny run leaves them out.
ON_SQLITE_ONLY = {client.PEERS}
NOT_QUICK = {client.PEERS}
FULL = Effort(rounds=15, seconds=0.5)
QUICK = Effort(rounds=1, seconds=0.05)
INTERRUPTED_EXIT = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for. Goals are for reading: a missed one is no failure of the run."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Run benchmarks.")
    parser.add_argument(
        "name",
        nargs="*",
        help=f"of {', '.join(BENCHMARKS)}, or how some begin; all if none is named",
    )
    parser.add_argument("--engine", choices=ENGINES, help="this engine only")
    parser.add_argument("--quick", action="store_true", help="tiny: shows only that they work")
    asked = parser.parse_args(arguments)
    for word in asked.name:
        if not benchmarks_named(word):
            parser.error(f"there is no benchmark {word!r}")
    names = [name for word in asked.name for name in benchmarks_named(word)]
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        engines = [asked.engine] if asked.engine else ENGINES
        results = list(_run(names or list(BENCHMARKS), engines, quick=asked.quick))
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT
    print(to_table(sorted(results, key=lambda result: list(BENCHMARKS).index(result.name))))
    return 0


def benchmarks_named(word: str) -> list[str]:
    """The benchmark of this name, or else all whose names begin with the word."""
    return [word] if word in BENCHMARKS else [n for n in BENCHMARKS if n.startswith(f"{word}-")]


def benchmarks_on(engine: str, names: Sequence[str], *, quick: bool) -> list[str]:
    """Those of the named ones that the engine can run in such a run."""
    other = ON_POSTGRES_ONLY if engine == "sqlite" else ON_SQLITE_ONLY
    left_out = other | (NOT_QUICK if quick else set())
    return [name for name in names if name not in left_out]


def _run(names: Sequence[str], engines: Sequence[str], *, quick: bool) -> Iterator[Result]:
    for engine in engines:
        with stage(engine, QUICK if quick else FULL, quick=quick) as where:
            for name in benchmarks_on(engine, names, quick=quick):
                started_at = time.perf_counter()
                yield BENCHMARKS[name](where)
                seconds = time.perf_counter() - started_at
                print(f"{name} on {engine}: {seconds:.0f} s", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """A request to end unwinds everything that was started, as Ctrl-C does."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
