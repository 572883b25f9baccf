"""Housekeeping beside its surface: a dry run tells the truth, a backup holds all that goes, and
what nobody ordered is done at its time."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.statements import Query
from recollect.db.transaction import Tx
from recollect.kernel.errors import Unavailable
from recollect.kernel.ids import MemoryId
from recollect.kernel.retention_rules import PII_TAGS, VacuumRules
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.cleanup_rules import can_evict, eviction_order
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryStatus,
    MemoryType,
    StoredMemory,
    TrustLevel,
)
from recollect.memories.usage import UsageTracker
from recollect.retention.backup import VacuumBackup
from recollect.retention.backup_files import FileBackupFolder
from recollect.retention.cleanup_jobs import CleanupJobs, CleanupSchedule
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.commands import ExpireMemories, TidyMemories, VacuumMemories
from recollect.retention.compaction import Compaction
from recollect.retention.space_quota import SpaceQuota
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.job_queue import JobQueue
from tests.support.memory.builders import ANN, a_memory, dump
from tests.support.storage import Storage, a_storage

DAY = timedelta(days=1)
EXPIRE, VACUUM, TIDY = (
    ExpireMemories(dry_run=False),
    VacuumMemories(dry_run=False),
    TidyMemories(dry_run=False),
)
CAP = 3
EMPTY = [
    Query(text(f"DELETE FROM {table}"))
    for table in ("memories", "memory_versions", "audit_events", "tasks")
]


@dataclass(frozen=True)
class Cellar:
    """A store, a folder and a clock that stands still."""

    storage: Storage
    clock: TestClock
    folder: Path

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def service(self, backups: FileBackupFolder | None = None) -> CleanupService:
        context = self.storage.context
        audit = MemoryAudit(context)
        return CleanupService(
            context,
            audit,
            archive_days=90,
            quota=SpaceQuota(context, audit, usage=UsageTracker(context), max_entries=CAP),
            compaction=Compaction(context.stores),
            backup=VacuumBackup(
                context,
                rules=context.rules.backup,
                backups=backups or FileBackupFolder(self.folder),
            ),
        )

    def jobs(self, *, auto_gc: bool, vacuum: bool) -> CleanupJobs:
        storage = self.storage
        timetable = CleanupSchedule(auto_gc, timedelta(hours=24), VacuumRules(enabled=vacuum))
        return CleanupJobs(storage.context, self.service(), timetable)

    def empty(self) -> None:
        """As if nothing had ever been here."""

        def work(tx: Tx) -> None:
            for statement in EMPTY:
                tx.run(statement, {})

        self.storage.write(work)

    def put(self, *made: StoredMemory) -> None:
        insert = self.storage.stores.memories.insert
        self.storage.write(lambda tx: [insert(tx, stored) for stored in made])

    def a_row(self, *, age: timedelta = timedelta(), **fields: Any) -> StoredMemory:
        """A memory of one user's space, made so long ago."""
        at = self.now - age
        times = dict.fromkeys(("created_at", "updated_at", "observed_at"), at)
        beside = {name: fields.pop(name) for name in ("status_at", "used_at") if name in fields}
        memory = a_memory(self.storage, **({"space": ANNS} | times | fields))
        return StoredMemory(memory, ANN, **beside)

    def ids(self) -> set[str]:
        return {row[1] for row in dump(self.storage, "memories")}

    def lines(self) -> list[dict[str, Any]]:
        files = self.folder.glob("*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


ANNS = Space(SpaceKind.USER, "ann")


@contextmanager
def a_cellar(
    database: TestDatabase, folder: Path, keys: Sequence[tuple[str, bytes]] = ()
) -> Iterator[Cellar]:
    clock = TestClock()
    with a_storage(database, clock=clock, keys=keys) as storage, clock.hold():
        yield Cellar(storage, clock, folder)


@pytest.fixture(scope="module")
def kept(
    new_database: Callable[[], TestDatabase], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cellar]:
    with a_cellar(new_database(), tmp_path_factory.mktemp("backups")) as cellar:
        yield cellar


@pytest.fixture
def cellar(kept: Cellar) -> Cellar:
    kept.empty()
    for file in kept.folder.iterdir():
        file.unlink()
    return kept


ages = st.integers(0, 120).map(lambda days: days * DAY)
facts = st.fixed_dictionaries(
    {
        "age": ages,
        "space": st.sampled_from([ANNS, Space(SpaceKind.RUN, "r"), Space(SpaceKind.ORG, "o")]),
        "record": st.booleans(),
        "type": st.sampled_from(MemoryType),
        "trust": st.sampled_from(TrustLevel),
        "status": st.sampled_from(
            [status for status in MemoryStatus if status is not MemoryStatus.EXPIRED]
        ),
        "put_away": ages,
        "ends_in": st.none() | st.integers(-20, 20).map(lambda days: days * DAY),
        "policy": st.none() | st.sampled_from(["compliance", "permanent"]),
        "pii_tags": st.lists(st.sampled_from(PII_TAGS), max_size=1).map(tuple),
        "used": st.none() | ages,
    }
)


def drawn(cellar: Cellar, fact: dict[str, Any]) -> StoredMemory:
    used, ends_in = fact["used"], fact["ends_in"]
    record = {"key": "k", "value": {}} if fact["record"] else {}
    return cellar.a_row(
        age=fact["age"],
        space=fact["space"],
        type=fact["type"],
        trust=fact["trust"],
        status=fact["status"],
        status_at=cellar.now - fact["put_away"],
        expires_at=None if ends_in is None else cellar.now + ends_in,
        retention_policy=fact["policy"],
        pii_tags=fact["pii_tags"],
        used_at=None if used is None else cellar.now - used,
        **record,
    )


@settings(max_examples=25, deadline=None)
@given(given_facts=st.lists(facts, max_size=12), days=st.integers(1, 120))
def test_a_dry_run_changes_nothing_and_counts_what_the_real_run_does(
    kept: Cellar, given_facts: list[dict[str, Any]], days: int
) -> None:
    service = kept.service()

    def tidy(*, dry_run: bool) -> TidyMemories:
        return TidyMemories(dry_run=dry_run, older_than_days=days)

    def vacuum(*, dry_run: bool) -> VacuumMemories:
        return VacuumMemories(dry_run=dry_run, older_than_days=days)

    jobs: dict[str, Callable[[bool], Any]] = {
        "compact": lambda dry: service.compact(tidy(dry_run=dry)),
        "gc": lambda dry: service.gc(tidy(dry_run=dry)),
        "vacuum": lambda dry: service.vacuum(vacuum(dry_run=dry)),
        "expire": lambda dry: service.expire(ExpireMemories(dry_run=dry)),
    }
    kept.empty()
    kept.put(*(drawn(kept, fact) for fact in given_facts))
    for name, job in jobs.items():
        before = sorted(dump(kept.storage, "memories"))
        planned = kept.storage.run(job(True))
        assert sorted(dump(kept.storage, "memories")) == before, name
        done = kept.storage.run(job(False))
        if name in ("gc", "compact"):
            assert done == planned
        else:
            assert done.deleted_count == done.would_delete_count == planned.would_delete_count
            assert len(before) - len(kept.ids()) == done.deleted_count
        again = kept.storage.run(job(True))
        left = again.count if name in ("gc", "compact") else again.would_delete_count
        assert left == 0, name


@settings(max_examples=25, deadline=None)
@given(given_facts=st.lists(facts, min_size=2, max_size=12))
def test_the_store_evicts_in_the_order_of_the_rule(
    kept: Cellar, given_facts: list[dict[str, Any]]
) -> None:
    kept.empty()
    kept.put(*(drawn(kept, fact | {"space": ANNS}) for fact in given_facts))
    bulk, now = kept.storage.stores.memory_bulk, kept.now
    docs = [row[0] for row in dump(kept.storage, "memories")]
    rows = [row for row in kept.storage.ask(bulk.fetch, docs) if can_evict(row, now)]
    found = kept.storage.ask(bulk.eviction_candidates, ANNS, now=now, limit=100)
    assert found == sorted(rows, key=eviction_order)


def test_every_removed_row_is_in_the_backup_as_it_was(cellar: Cellar) -> None:
    rows = [
        cellar.a_row(age=100 * DAY, key="k", value={"n": n}, tags=("a", "b"), subjects=("p",))
        for n in range(7)
    ]
    cellar.put(*rows)
    done = cellar.storage.run(cellar.service().vacuum(VACUUM))
    assert done.deleted_count == 7
    lines = {line["memory"]["id"]: line for line in cellar.lines()}
    assert {id_: line["memory"]["value"] for id_, line in lines.items()} == {
        row.memory.id: row.memory.value for row in rows
    }
    line = lines[rows[0].memory.id]
    assert (line["schema"], line["type"], line["written_by"]) == (1, "memory", "ann")
    assert (line["memory"]["tags"], line["memory"]["subjects"]) == (["a", "b"], ["p"])
    assert line["memory"]["space"] == {"kind": "user", "id": "ann"}
    assert set(line["memory"]) == set(Memory.__dataclass_fields__)


def test_a_backup_is_sealed_where_the_database_is(
    new_database: Callable[[], TestDatabase], tmp_path: Path
) -> None:
    with a_cellar(new_database(), tmp_path, [("k1", b"k" * 32)]) as cellar:
        row = cellar.a_row(age=100 * DAY, key="k", value={"colour": "ochre"})
        cellar.put(row)
        cellar.storage.run(cellar.service().vacuum(VACUUM))
        (line,) = cellar.lines()
        assert (line["type"], line["id"]) == ("sealed", row.memory.id)
        assert "ochre" not in line["line"]
        opened = cellar.storage.runtime.cipher.open(
            line["line"], table="backups", column="line", row_id=row.memory.id
        )
        assert json.loads(opened)["memory"]["value"] == {"colour": "ochre"}


def test_a_backup_that_fails_at_its_end_removes_nothing_and_leaves_no_file(
    cellar: Cellar, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    cellar.put(cellar.a_row(age=100 * DAY, key="k", value={}))
    monkeypatch.setattr("recollect.retention.backup_files.os.fsync", full)
    with pytest.raises(Unavailable, match="nothing was removed"):
        cellar.storage.run(cellar.service().vacuum(VACUUM))
    assert len(cellar.ids()) == 1
    assert list(cellar.folder.iterdir()) == []


def test_a_backup_is_for_its_owner_alone(cellar: Cellar) -> None:
    cellar.put(cellar.a_row(age=100 * DAY, key="k", value={}))
    cellar.storage.run(cellar.service().vacuum(VACUUM))
    (file,) = cellar.folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_is_being_erased_is_left_alone(cellar: Cellar) -> None:
    memory = cellar.a_row(age=100 * DAY, key="k", value={}, expires_at=cellar.now - 9 * DAY)
    cellar.put(StoredMemory(memory.memory, ANN, erasure_id="e"))
    assert cellar.storage.run(cellar.service().expire(EXPIRE)).deleted_count == 0
    assert cellar.storage.run(cellar.service().vacuum(VACUUM)).deleted_count == 0
    assert cellar.lines() == []


def test_a_row_that_changed_after_the_plan_stays(cellar: Cellar) -> None:
    """The backup holds the row as it was planned, so another version must not go."""
    storage, row = cellar.storage, cellar.a_row(age=100 * DAY, key="k", value={"n": 1})
    cellar.put(row)

    class Meddling(FileBackupFolder):
        def prune(self, before: datetime) -> int:
            storage.write(lambda tx: tx.run(Query(text("UPDATE memories SET version = 2")), {}))
            return super().prune(before)

    service = cellar.service(Meddling(cellar.folder))
    assert storage.run(service.vacuum(VACUUM)).deleted_count == 0
    assert cellar.ids() == {row.memory.id}


def test_a_server_tidies_up_at_its_start_and_at_its_time(cellar: Cellar) -> None:
    job_queue, jobs = JobQueue(cellar.storage, cellar.clock), cellar.jobs(auto_gc=True, vacuum=True)
    worker = job_queue.worker_of(jobs.handlers())

    def gone(row: StoredMemory) -> bool:
        return row.memory.id not in cellar.ids()

    first = cellar.a_row(expires_at=cellar.now - 8 * DAY)
    cellar.put(first)
    cellar.storage.run(jobs.schedule())
    assert (job_queue.work(worker), gone(first)) == (1, True)
    second = cellar.a_row(expires_at=cellar.now - 8 * DAY)
    old = cellar.a_row(age=31 * DAY, key="k", value={})
    cellar.put(second, old)
    assert (job_queue.work(worker), gone(second)) == (0, False)
    cellar.clock.advance(hours=24)
    job_queue.work(worker)
    assert (gone(second), gone(old)) == (True, True)
    assert [line["memory"]["id"] for line in cellar.lines()] == [old.memory.id]
    cellar.storage.run(jobs.schedule())
    third = cellar.a_row(expires_at=cellar.now - 8 * DAY)
    cellar.put(third)
    job_queue.work(worker)
    assert gone(third)


def test_what_is_switched_off_ends_when_its_turn_comes(cellar: Cellar) -> None:
    job_queue = JobQueue(cellar.storage, cellar.clock)
    cellar.storage.run(cellar.jobs(auto_gc=True, vacuum=True).schedule())
    row = cellar.a_row(expires_at=cellar.now - 8 * DAY)
    cellar.put(row)
    off = cellar.jobs(auto_gc=False, vacuum=False)
    cellar.clock.advance(hours=24)
    job_queue.work(job_queue.worker_of(off.handlers()))
    cellar.storage.run(off.schedule())
    assert dump(cellar.storage, "tasks") == []
    assert cellar.ids() == {MemoryId(row.memory.id)}


def test_a_scheduled_round_with_nothing_to_do_writes_no_event(cellar: Cellar) -> None:
    cellar.put(cellar.a_row(kind=MemoryKind.STATEMENT))
    cellar.storage.run(cellar.service().gc(TIDY))
    cellar.storage.run(cellar.service().vacuum(VACUUM))
    assert dump(cellar.storage, "audit_events") == []
