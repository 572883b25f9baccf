"""Backup and restore of many memories, beside the engine's own copy of the same rows; and what
clients that append notice of a backup."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, partial
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Event, Thread

import apsw
import psycopg

from bench.appends import CLIENTS, lanes, tree_of
from bench.harness import library, memory_library, speech
from bench.harness.load import clients_of
from bench.harness.memory_library import Size
from bench.harness.results import Result
from bench.harness.rounds import Rounds, alternate
from bench.harness.seeds import Tree, plant
from bench.harness.server import serving
from bench.harness.stage import Stage
from recollect.app.stores import open_engine
from recollect.backup.model import BackupSummary
from recollect.backup.read import restore_backup
from recollect.backup.write import write_backup
from recollect.db.engines.base import Engine
from recollect.kernel.clock import SystemClock
from recollect.observability.metrics import NoMetrics

BACKUP, RESTORE, APPENDS = "backup", "restore", "appends-during-backup"
MANY, QUICK = Size(200, 500), Size(2, 20)
ROUNDS = 3
_MEGABYTE = 1_000_000
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"


def run_backup(stage: Stage) -> Result:
    """How many times the engine's own copy takes of the time of a backup."""
    times, summary = _measured(stage)
    ratios = [own / ours for own, ours in zip(times["own"], times["backup"], strict=True)]
    figures = f"{_rates(times['backup'], summary)}; own copy {median(times['own']):.2f} s"
    return Result(BACKUP, stage.engine, median(ratios), (min(ratios), max(ratios)), None, figures)


def run_restore(stage: Stage) -> Result:
    """How many times a backup takes of the time of a restore, which also makes all indexes."""
    times, summary = _measured(stage)
    ratios = [one / other for one, other in zip(times["backup"], times["restore"], strict=True)]
    figures = _rates(times["restore"], summary)
    return Result(RESTORE, stage.engine, median(ratios), (min(ratios), max(ratios)), None, figures)


def run_appends(stage: Stage) -> Result:
    """The rate of appends beside backups, one after the other, against the rate without any."""
    trees = [tree_of(number) for number in range(CLIENTS)]
    with (
        _filled(stage) as url,
        TemporaryDirectory(dir=stage.folder) as folder,
        serving(_planted(url, trees), stage.folder, JOBS__EMBEDDED_WORKER="false") as server,
        clients_of(server.port) as load,
    ):
        side = load.side(lanes(trees))

        def beside(count: int) -> float:
            with _backups(stage, url, Path(folder)):
                return side(count)

        rounds: Rounds = alternate({"alone": side, "beside": beside}, stage.effort)
    ratio, spread = rounds.ratio("beside", "alone")
    figures = f"{rounds.rate('beside'):.0f}/s beside a backup, {rounds.rate('alone'):.0f}/s alone"
    return Result(APPENDS, stage.engine, ratio, spread, None, figures)


@cache
def _measured(stage: Stage) -> tuple[dict[str, list[float]], BackupSummary]:
    """Seconds of each round; one run for both results."""
    times: dict[str, list[float]] = {"own": [], "backup": [], "restore": []}
    with _filled(stage) as url, TemporaryDirectory(dir=stage.folder) as name:
        path = Path(name) / "backup"
        for _ in range(stage.size(ROUNDS, 1)):
            times["own"].append(_seconds(lambda: _own_copy(stage, url, Path(name) / "own")))
            times["backup"].append(_seconds(lambda: _back_up(stage, url, path)))
            with stage.database() as target:
                times["restore"].append(_seconds(partial(_restore, _engine(stage, target), path)))
        return times, _back_up(stage, url, path)


def _rates(seconds: list[float], summary: BackupSummary) -> str:
    took, size = median(seconds), summary.size_bytes / _MEGABYTE
    rows = summary.manifest.rows
    return f"{took:.2f} s: {rows / took:,.0f} rows/s, {size / took:.1f} MB/s of {size:.1f} MB"


@contextmanager
def _filled(stage: Stage) -> Iterator[str]:
    with stage.database() as url:
        size = QUICK if stage.quick else MANY
        asked = list(islice(speech.questions(seed=1), 50))
        memory_library.write(url, size, near=library.vectors_of(asked))
        yield url


def _planted(url: str, trees: list[Tree]) -> str:
    plant(url, trees)
    return url


@contextmanager
def _backups(stage: Stage, url: str, folder: Path) -> Iterator[None]:
    """As many as come to an end; the last one ends soon after."""
    stop = Event()

    def work() -> None:
        while not stop.is_set():
            _back_up(stage, url, folder / "backup")

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _back_up(stage: Stage, url: str, path: Path) -> BackupSummary:
    return write_backup(
        _engine(stage, url),
        path,
        passphrase=None,
        overwrite=True,
        clock=SystemClock(),
        progress=lambda done, total: None,
    )


def _restore(engine: Engine, path: Path) -> None:
    restore_backup(engine, path, passphrase=None, progress=lambda done, total: None)


def _own_copy(stage: Stage, url: str, path: Path) -> None:
    """Of SQLite its backup API, of PostgreSQL a COPY of each table: pages and rows as they are."""
    path.unlink(missing_ok=True)
    if stage.engine == "sqlite":
        source, copy = apsw.Connection(url.removeprefix("sqlite:///")), apsw.Connection(str(path))
        with closing(source), closing(copy), copy.backup("main", source, "main") as backup:
            backup.step()
        return
    with psycopg.connect(url) as connection, path.open("wb") as file:
        for (table,) in connection.execute(_TABLES).fetchall():
            statement = f'COPY "{table}" TO STDOUT (FORMAT binary)'.encode()
            with connection.cursor() as cursor, cursor.copy(statement) as rows:
                for chunk in rows:
                    file.write(chunk)


def _engine(stage: Stage, url: str) -> Engine:
    file = Path(url.removeprefix("sqlite:///")) if stage.engine == "sqlite" else None
    return open_engine(url, file=file, readers=1, connections=1, metrics=NoMetrics())


def _seconds(work: Callable[[], object]) -> float:
    started_at = time.perf_counter()
    work()
    return time.perf_counter() - started_at
