"""Housekeeping: what goes, what stays, what is written down, and that a dry run tells the truth."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    ArchiveReason,
    MemoryStatus,
    MemoryType,
    TrustLevel,
)
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.memory.callers import Callers
from tests.support.memory.store import StoredMemories, open_stored_memories
from tests.support.world import World, at_once

CAP = 100
DAY = timedelta(days=1)
RULES = """
default_ttl: {{session: 3600, long_term: 2592000, org: 7776000}}
vacuum: {{enabled: false}}
backup: {{directory: "{folder}", keep_days: 30}}
"""


@dataclass(frozen=True)
class House:
    """A server that tidies up only when it is told to, with nothing on its shelf."""

    stored_memories: StoredMemories
    backups: Path

    @property
    def world(self) -> World:
        return self.stored_memories.world

    def orders(self, job: str, **members: Any) -> dict[str, Any]:
        """An admin's call."""
        body = {"dry_run": False} | members
        report: dict[str, Any] = (
            Callers(self.world).admin.post(f"/admin/{job}", body=body).expect(200)
        )
        return report

    def puts(self, name: str = "ann", *, age: timedelta = timedelta(), **fields: Any) -> str:
        """A memory of a user's space, made so long ago."""
        space = fields.pop("space", Space(SpaceKind.USER, name))
        return self.stored_memories.puts(space, at=self.stored_memories.now - age, **fields)

    def fills(self, name: str, ages: Sequence[timedelta], **fields: Any) -> list[str]:
        """One memory of a user's space for each age."""
        now, space = self.stored_memories.now, Space(SpaceKind.USER, name)
        return self.stored_memories.insert_all([(space, now - age) for age in ages], **fields)

    def files(self) -> list[Path]:
        return sorted(self.backups.glob("*"))


@pytest.fixture(scope="module")
def server(
    new_database: Callable[[], TestDatabase], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, Path]]:
    folder = tmp_path_factory.mktemp("housekeeping")
    rules = folder / "rules.yaml"
    rules.write_text(RULES.format(folder=folder / "backups"))
    flags = {"retention.file": str(rules), "memory.auto_gc": False, "memory.max_entries": CAP}
    with a_world(new_database(), flags) as world:
        yield world, folder / "backups"


@pytest.fixture
def house(server: tuple[World, Path]) -> Iterator[House]:
    world, backups = server
    for file in backups.glob("*"):
        file.unlink()
    for table in ("memories", "memory_versions", "audit_events"):
        world.database.rows(f"DELETE FROM {table}")
    with open_stored_memories(world) as stored_memories:
        yield House(stored_memories, backups)


def a_record(**fields: Any) -> dict[str, Any]:
    return {"key": "k", "value": {"n": 1}} | fields


@pytest.mark.scenario(23)
def test_expire_removes_exactly_what_is_due_whatever_the_offset(house: House) -> None:
    with house.world.clock.hold() as now:
        there = now.astimezone(timezone(timedelta(hours=9)))
        due = [house.puts(expires_at=at, expiry_rule="explicit") for at in (now, there)]
        later = house.puts(expires_at=now + timedelta(microseconds=1), expiry_rule="explicit")
        lasting = house.puts()
        report = house.orders("expire")
    assert report == {
        "deleted_count": 2,
        "would_delete_count": 2,
        "by_rule": {"explicit": 2},
    }
    assert house.stored_memories.has([*due, later, lasting]) == [False, False, True, True]


@pytest.mark.scenario(21)
def test_an_observation_is_hidden_from_its_instant_on_without_any_job(house: House) -> None:
    clock, ann = house.world.clock, Callers(house.world).person("ann")
    mine = {"spaces": [{"kind": "user", "id": ann.name}]}

    def shown(id_: str) -> list[bool]:
        """In get, list, search and recall."""
        query = {"query": "heron", **mine}
        recalled = ann.post("/memories/recall", body=query).expect(200)["items"]
        return [
            ann.get("/memories/{}", id_).status == 200,
            bool(ann.lists("/memories", user_id=ann.name)),
            bool(ann.finds("heron", **mine)),
            bool(recalled),
        ]

    with clock.hold():
        space = {"kind": "user"}
        memory = ann.adds("a heron by the pond", space=space, type="observation")
        clock.advance(seconds=259_199)
        assert shown(memory["id"]) == [True] * 4
        assert house.orders("expire", dry_run=True)["would_delete_count"] == 0
        clock.advance(seconds=1)
        assert shown(memory["id"]) == [False] * 4
        writer = {"user_id": ann.name, "include_expired": True}
        (hidden,) = ann.lists("/memories", **writer)
        assert (hidden["id"], hidden["status"]) == (memory["id"], "expired")
        assert house.orders("expire")["by_rule"] == {"type:observation": 1}
        assert ann.lists("/memories", **writer) == []


def test_expire_keeps_to_its_scope(house: House) -> None:
    spaces = {
        "session": Space(SpaceKind.RUN, "r"),
        "org": Space(SpaceKind.ORG, "o"),
        "long_term": Space(SpaceKind.AGENT_PUBLIC, "a"),
    }
    past = house.stored_memories.now - DAY
    ids = {scope: house.puts(space=space, expires_at=past) for scope, space in spaces.items()}
    for scope in spaces:
        assert house.orders("expire", scope=scope)["deleted_count"] == 1
        assert house.stored_memories.has([ids.pop(scope)]) == [False]
        assert all(house.stored_memories.has(list(ids.values())))


@pytest.mark.scenario(30)
def test_vacuum_removes_the_plain_record_and_keeps_what_policies_keep(house: House) -> None:
    now = house.stored_memories.now
    plain = house.puts(age=100 * DAY, **a_record(value={"colour": "ochre"}))
    compliance = house.puts(
        age=100 * DAY,
        **a_record(retention_policy="compliance", expires_at=now + 265 * DAY),
    )
    permanent = house.puts(age=400 * DAY, **a_record(retention_policy="permanent"))
    dry = house.orders("vacuum", older_than_days=90, dry_run=True)
    assert (dry["would_delete_count"], dry["deleted_count"]) == (1, 0)
    assert (dry["backup"], house.files()) == (None, [])
    assert house.stored_memories.has([plain, compliance, permanent]) == [True] * 3
    done = house.orders("vacuum", older_than_days=90, justification="yearly")
    assert (done["deleted_count"], done["skipped_count"]) == (1, 2)
    assert (done["scope"], done["older_than_days"], done["dry_run"]) == ("all", 90, False)
    assert house.stored_memories.has([plain, compliance, permanent]) == [False, True, True]
    (file,) = house.files()
    assert done["backup"] == str(file)
    (line,) = map(json.loads, file.read_text().splitlines())
    assert (line["memory"]["id"], line["memory"]["value"]) == (plain, {"colour": "ochre"})
    told = [
        event for event in house.stored_memories.events("memory", "vacuum") if not event["dry_run"]
    ]
    (event,) = told
    assert (event["skipped_count"], event["by_rule"]) == (2, {"age": 1})
    assert event["backup"] == file.name


def test_vacuum_spares_statements_young_records_and_later_ends(house: House) -> None:
    statement = house.puts(age=500 * DAY)
    young = house.puts(age=89 * DAY, **a_record())
    later = house.puts(age=100 * DAY, **a_record(expires_at=house.stored_memories.now + DAY))
    assert house.orders("vacuum")["skipped_count"] == 0
    assert house.stored_memories.has([statement, young, later]) == [True] * 3
    assert house.files() == []


def test_vacuum_gives_a_due_row_its_grace_and_critical_data_none(house: House) -> None:
    now = house.stored_memories.now
    fresh = house.puts(expires_at=now - 6 * DAY)
    over = house.puts(expires_at=now - 8 * DAY, expiry_rule="type:task")
    critical = house.puts(expires_at=now - timedelta(hours=1), pii_tags=("ssn",), content="078-05")
    assert house.orders("vacuum")["deleted_count"] == 2
    assert house.stored_memories.has([fresh, over, critical]) == [True, False, False]
    (file,) = house.files()
    whole, bare = map(json.loads, file.read_text().splitlines())
    assert whole["memory"]["content"] == f"content of {over}"
    # A backup that keeps personal data past its term would undo the term.
    assert (bare["type"], bare["id"], len(bare)) == ("removed", critical, 4)


def test_without_a_backup_nothing_is_removed(house: House) -> None:
    gone = house.puts(age=100 * DAY, **a_record())
    if house.backups.exists():
        house.backups.rmdir()
    house.backups.write_text("a file where the folder should be")
    try:
        body = {"dry_run": False}
        refused = Callers(house.world).admin.post("/admin/vacuum", body=body)
        refused.refused(503, "unavailable")
        assert house.stored_memories.has([gone]) == [True]
        assert house.stored_memories.events("memory", "vacuum") == []
    finally:
        house.backups.unlink()
    assert house.orders("vacuum")["deleted_count"] == 1


def test_old_backups_go_when_a_new_one_is_written(house: House) -> None:
    house.backups.mkdir(exist_ok=True)
    now = house.stored_memories.now
    names = {
        age: f"memories-{(now - age * DAY).astimezone(UTC):%Y%m%dT%H%M%S.%fZ}-0123abcd.jsonl"
        for age in (29, 31)
    }
    for name in (*names.values(), "memories-of-mine.jsonl"):
        house.backups.joinpath(name).write_text("")
    house.puts(age=100 * DAY, **a_record())
    kept = Path(house.orders("vacuum")["backup"]).name
    found = {file.name for file in house.files()}
    assert found == {names[29], "memories-of-mine.jsonl", kept}


def test_dry_run_must_be_said(house: House) -> None:
    admin = Callers(house.world).admin
    for job in ("expire", "vacuum", "gc", "compact"):
        (violation,) = admin.post(f"/admin/{job}", body={}).refused(422, "validation_error")[
            "violations"
        ]
        assert violation["field"] == "dry_run"
    body = {"dry_run": True, "older_than_days": -1}
    admin.post("/admin/vacuum", body=body).refused(422, "validation_error")


def test_only_an_admin_tidies_up(house: House) -> None:
    callers = Callers(house.world)
    for job in ("expire", "vacuum", "gc", "compact"):
        for caller in (callers.person("ann"), callers.auditor):
            caller.post(f"/admin/{job}", body={"dry_run": True}).refused(403, "forbidden")


def test_an_age_beyond_the_calendar_spares_everything(house: House) -> None:
    old = house.puts(age=4_000 * DAY, **a_record())
    assert house.orders("vacuum", older_than_days=10_000_000)["deleted_count"] == 0
    assert house.stored_memories.has([old]) == [True]


def test_gc_purges_what_is_due_beyond_grace(house: House) -> None:
    now = house.stored_memories.now
    over = house.puts(expires_at=now - 8 * DAY)
    fresh = house.puts(expires_at=now - 6 * DAY)
    old = house.puts(age=500 * DAY, **a_record())
    dry = house.orders("gc", dry_run=True)
    assert dry == {"by_step": {"purge": 1, "evict": 0, "compact": 0}, "count": 1}
    assert house.orders("gc") == dry
    assert house.stored_memories.has([over, fresh, old]) == [False, True, True]


@pytest.mark.scenario(31)
def test_a_flood_evicts_its_own_ephemeral_rows_and_nobody_elses(house: House) -> None:
    ephemeral = {"type": MemoryType.OBSERVATION}
    flood = house.fills("p", [8 * DAY + n * timedelta(hours=1) for n in range(30)], **ephemeral)
    young = house.fills("p", [6 * DAY] * 20, **ephemeral)
    facts = house.fills("p", [50 * DAY] * (CAP - 40))
    others = house.fills("q", [50 * DAY] * CAP, **ephemeral)
    before = {id_: house.stored_memories.stored(id_) for id_ in others}
    dry = house.orders("gc", dry_run=True)
    report = house.orders("gc")
    assert report == dry == {"by_step": {"purge": 0, "evict": 10, "compact": 0}, "count": 10}
    gone = {
        id_
        for id_ in flood
        if house.stored_memories.stored(id_).memory.status is MemoryStatus.ARCHIVED
    }
    # Nobody used any of them, so the oldest of the flood go.
    assert gone == set(flood[-10:])
    kept = [house.stored_memories.stored(id_).memory.status for id_ in (*young, *facts)]
    assert set(kept) == {MemoryStatus.ACTIVE}
    assert {id_: house.stored_memories.stored(id_) for id_ in others} == before
    reasons = {house.stored_memories.stored(id_).memory.archive_reason for id_ in gone}
    assert reasons == {ArchiveReason.EVICTED}
    assert house.orders("gc")["count"] == 0


def test_eviction_prefers_low_trust_then_what_was_not_used(house: House) -> None:
    hearsay = house.puts(age=50 * DAY, trust=TrustLevel.HEARSAY)
    unused = house.puts(age=50 * DAY, trust=TrustLevel.FACT)
    used = house.puts(age=50 * DAY, trust=TrustLevel.FACT, used_at=house.stored_memories.now - DAY)
    policy = house.puts(age=90 * DAY, trust=TrustLevel.HEARSAY, retention_policy="permanent")
    identity = house.puts(age=90 * DAY, trust=TrustLevel.HEARSAY, type=MemoryType.IDENTITY)
    house.fills("ann", [DAY] * (CAP - 4))
    for expected in (hearsay, unused, used):
        assert house.orders("gc")["by_step"]["evict"] == 1
        assert house.stored_memories.stored(expected).memory.status is MemoryStatus.ARCHIVED
        house.puts(age=DAY)
    assert house.stored_memories.stored(identity).memory.status is MemoryStatus.ACTIVE
    assert house.orders("gc")["by_step"]["evict"] == 1
    assert house.stored_memories.stored(identity).memory.status is MemoryStatus.ARCHIVED
    assert house.stored_memories.stored(policy).memory.status is MemoryStatus.ACTIVE


@pytest.mark.scenario(31)
def test_what_was_read_outlasts_a_flood(house: House) -> None:
    ann = Callers(house.world).person("ann")
    texts = ("a grey heron", "a green lizard", "a blue whale", "a red fox")
    got, found, recalled, unread = (ann.adds(text, space={"kind": "user"}) for text in texts)
    house.world.clock.advance(days=30)
    trust = TrustLevel(unread["trust"])
    flood = house.fills(ann.name, [20 * DAY] * (CAP - 1), trust=trust)
    shown = ann.get("/memories/{}", got["id"]).expect(200)
    ann.finds("lizard", user_id=ann.name)
    ann.post("/memories/recall", body={"query": "whale", "user_id": ann.name}).expect(200)

    assert house.orders("gc")["by_step"]["evict"] == 3
    assert ann.get("/memories/{}", got["id"]).expect(200) == shown == got
    for used in (found, recalled):
        assert ann.get("/memories/{}", used["id"]).expect(200)["status"] == "active"
    left = ann.get("/memories/{}", unread["id"]).expect(200)
    assert (left["status"], left["archive_reason"]) == ("archived", "evicted")
    assert (
        sum(
            house.stored_memories.stored(id_).memory.status is MemoryStatus.ARCHIVED
            for id_ in flood
        )
        == 2
    )


def test_a_space_that_cannot_be_relieved_is_told_of(house: House) -> None:
    house.fills("ann", [DAY] * (CAP + 3))
    assert house.orders("gc")["by_step"]["evict"] == 0
    (event,) = house.stored_memories.events("memory", "evict")
    assert event["shortfall"] == 3


def test_compaction_takes_the_text_and_leaves_ids_times_and_links(house: House) -> None:
    stored_memories, memories = house.stored_memories, house.stored_memories.storage.stores.memories
    successor = house.puts(content="lives in Lisbon")
    gone = house.puts(
        age=200 * DAY,
        content="lives in Porto",
        metadata={"a": "Porto"},
        subjects=("p-1",),
        status=MemoryStatus.SUPERSEDED,
        superseded_by=successor,
        status_at=house.stored_memories.now - 91 * DAY,
    )
    recent = house.puts(
        age=200 * DAY, status=MemoryStatus.ARCHIVED, status_at=house.stored_memories.now - 89 * DAY
    )
    due = house.puts(
        age=200 * DAY,
        status=MemoryStatus.ARCHIVED,
        status_at=house.stored_memories.now - 91 * DAY,
        expires_at=house.stored_memories.now - DAY,
    )
    before = [stored_memories.stored(id_) for id_ in (recent, due, successor)]
    dry = house.orders("compact", dry_run=True)
    assert house.orders("compact") == dry == {"by_step": {"compact": 1}, "count": 1}
    empty = stored_memories.stored(gone)
    assert (empty.memory.content, empty.memory.metadata) == ("", {})
    assert (empty.memory.superseded_by, empty.memory.subjects) == (successor, ("p-1",))
    assert empty.compacted_at is not None
    assert [stored_memories.stored(id_) for id_ in (recent, due, successor)] == before
    versions = stored_memories.storage.ask(memories.versions, [empty.memory.id])
    assert [str(version.change) for version in versions] == ["created", "compacted"]
    assert [version.snapshot for version in versions] == [None, None]
    assert "Porto" not in str(
        house.world.database.rows("SELECT * FROM memories WHERE id = :id", id=gone)
    )
    assert house.orders("compact")["count"] == 0


def test_compaction_of_any_age_spares_what_is_evicted_in_the_same_round(house: House) -> None:
    house.fills("ann", [50 * DAY] * (CAP + 1))
    dry = house.orders("gc", dry_run=True, older_than_days=0)
    assert house.orders("gc", older_than_days=0) == dry
    assert dry["by_step"] == {"purge": 0, "evict": 1, "compact": 0}


def test_two_vacuums_at_once_remove_each_row_once(house: House) -> None:
    house.fills("ann", [100 * DAY] * 30, **a_record())
    reports = at_once([lambda: house.orders("vacuum")] * 3)
    assert sum(report["deleted_count"] for report in reports) == 30


def test_an_order_is_told_with_role_and_reason(house: House) -> None:
    house.puts(expires_at=house.stored_memories.now - DAY, expiry_rule="type:task")
    house.orders("expire", justification="asked for by the office")
    rows = house.world.database.rows(
        "SELECT role, justification, count FROM audit_events "
        "WHERE kind = 'memory' AND action = 'expire'"
    )
    assert [tuple(row) for row in rows] == [("admin", "asked for by the office", 1)]
