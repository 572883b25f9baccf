"""Embedded stores: what is written, read, changed, found and cleaned up."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.ir import (
    MemoryEntry,
    MemoryScope,
    SecretRefused,
    SQLiteMemoryStore,
)
from recollect.kernel.retention_rules import PiiRisk
from tests.conftest import Host
from tests.ir.library import DAY, Library, a_store, an_entry, done, ids, new_name
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Callers

LONG_TERM, SESSION, ORG = MemoryScope.LONG_TERM, MemoryScope.SESSION, MemoryScope.ORG
SECRET = "sk-" + "a1b2c3d4e5f6g7h8i9"


def test_a_stored_entry_is_read_as_it_was_returned(library: Library) -> None:
    entry = an_entry(tags=["b", "a"], metadata={"n": 1}, pii_tags=["name"])
    stored = done(library.store.create_memory(entry))
    assert library.gets(entry) == stored
    assert (stored.memory_id, stored.created_at) == (entry.memory_id, entry.created_at)
    assert (stored.tags, stored.metadata, stored.pii_tags) == (["b", "a"], {"n": 1}, ["name"])


def test_storing_does_not_change_the_argument_or_share_with_it(library: Library) -> None:
    entry = an_entry(value={"list": [1]})
    before = entry.model_copy(deep=True)
    stored = done(library.store.create_memory(entry))
    assert entry == before
    stored.value["list"].append(2)
    assert entry.value == {"list": [1]}
    assert library.gets(entry) == done(library.store.get_memory(entry.memory_id))


@pytest.mark.scenario(24)
@pytest.mark.parametrize(("scope", "days"), [(SESSION, 1 / 24), (LONG_TERM, 30), (ORG, 90)])
def test_records_without_a_term_get_that_of_their_scope_from_the_store(
    library: Library, scope: MemoryScope, days: float
) -> None:
    entry = an_entry(scope=scope, run_id=new_name("run"))
    assert entry.expires_at is None
    stored = done(library.store.create_memory(entry))
    assert stored.expires_at == stored.created_at + timedelta(days=days)


@pytest.mark.scenario(26)
def test_personal_data_ends_at_its_cap_whatever_the_policy(library: Library) -> None:
    contact = {"email": "user@example.com", "phone": "+1-555-0123"}
    high = library.adds(value=contact, pii_tags=["email", "phone"], retention_policy="compliance")
    assert high.expires_at == high.created_at + 90 * DAY
    critical = library.adds(value={"number": "219-09-9999"}, retention_policy="permanent")
    assert critical.pii_tags == ["ssn"]
    assert critical.expires_at == critical.created_at + 30 * DAY
    with pytest.raises(ValueError, match="personal data"):
        library.adds(value={"number": "219-09-9999"}, scope=ORG)


def test_an_entry_made_long_ago_is_not_younger_for_being_stored_now(library: Library) -> None:
    old = an_entry(age=29 * DAY)
    stored = done(library.store.create_memory(old))
    assert (stored.created_at, stored.expires_at) == (old.created_at, old.created_at + 30 * DAY)
    assert library.gets(library.adds(age=31 * DAY)) is None


def test_an_entry_from_the_future_is_refused(library: Library) -> None:
    entry = an_entry()
    entry.created_at = datetime.now(UTC) + timedelta(hours=1)
    with pytest.raises(ValueError, match="created_at"):
        done(library.store.create_memory(entry))


def test_an_id_is_taken_once(library: Library) -> None:
    entry = library.adds()
    with pytest.raises(ValueError, match="id"):
        done(library.store.create_memory(entry))


def test_what_was_put_into_a_value_behind_its_back_is_refused(library: Library) -> None:
    entry = an_entry()
    entry.value["handle"] = object()
    with pytest.raises(ValueError, match="value"):
        done(library.store.create_memory(entry))


@pytest.mark.parametrize(
    "members",
    [{"value": {"note": SECRET}}, {"metadata": {"db_password": "hunter2"}}, {"tags": [SECRET]}],
    ids=["value", "metadata", "tags"],
)
def test_a_secret_is_refused_by_family_and_field_and_left_nowhere(
    library: Library, members: dict[str, Any]
) -> None:
    with pytest.raises(SecretRefused) as refusal:
        library.adds(**members)
    (field,) = members
    assert refusal.value.field.startswith(field)
    assert refusal.value.family in ("provider_key", "record_member")
    said = str(refusal.value) + library.database.stored_text()
    assert SECRET not in said
    assert "hunter2" not in said


def test_an_update_replaces_what_may_change_and_keeps_the_versions(library: Library) -> None:
    entry = library.adds(tags=["old"])
    entry.value["name"] = "umber"
    entry.tags, entry.metadata = ["new"], {"by": "hand"}
    entry.retention_policy, entry.pii_tags = "compliance", ["name"]
    changed = done(library.store.update_memory(entry))
    assert (changed.value, changed.tags, changed.metadata) == (
        {"name": "umber"},
        ["new"],
        {"by": "hand"},
    )
    assert changed.created_at == entry.created_at < changed.updated_at
    assert changed.expires_at == entry.created_at + 365 * DAY
    assert library.gets(entry) == changed
    versions = library.database.rows(
        "SELECT version FROM memory_versions WHERE memory_id = :id ORDER BY version",
        id=entry.memory_id,
    )
    assert versions == [(1,), (2,)]


def test_an_update_of_capped_data_is_no_wish_for_a_longer_life(library: Library) -> None:
    entry = library.adds(value={"n": "219-09-9999"}, retention_policy="compliance")
    entry.tags = ["kept"]
    changed = done(library.store.update_memory(entry))
    assert (changed.tags, changed.expires_at) == (["kept"], entry.expires_at)
    assert changed.retention_policy == "compliance"
    changed.value, changed.pii_tags = {"n": "at the office"}, []
    again = done(library.store.update_memory(changed))
    assert (again.pii_tags, again.expires_at) == (["ssn"], entry.expires_at)


def test_personal_data_is_as_risky_as_the_retention_file_says(
    new_database: Callable[[], TestDatabase], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "rules.yaml"
    terms = "default_ttl: {session: 3600, long_term: 7776000, org: 7776000}"
    rules.write_text(f"{terms}\npii: {{tags: {{name: {{risk: critical}}}}}}\n")
    monkeypatch.setenv("RECOLLECT_RETENTION__FILE", str(rules))
    database = new_database()
    library = Library(a_store(database), database)
    done(library.store.initialize())
    try:
        entry = library.adds(key="captain", pii_tags=["name"])
        assert entry.expires_at == entry.created_at + 30 * DAY
        assert library.gets(entry) == entry
        risks = database.rows("SELECT pii_risk FROM memories WHERE id = :id", id=entry.memory_id)
        assert risks == [(PiiRisk.CRITICAL,)]
        told = database.rows("SELECT action, params FROM audit_events WHERE kind = 'memory'")
        assert {action for action, _ in told} == {"write", "read"}
        assert "captain" not in str(told)
    finally:
        done(library.store.close())


def test_a_new_term_counts_and_an_untouched_one_stays(library: Library) -> None:
    entry = library.adds(ttl_seconds=3_600)
    entry.value["name"] = "umber"
    assert done(library.store.update_memory(entry)).expires_at == entry.expires_at
    entry.set_ttl(60)
    assert done(library.store.update_memory(entry)).expires_at == entry.expires_at


def test_the_last_writer_wins(library: Library) -> None:
    entry = library.adds()
    other = entry.model_copy(deep=True)
    entry.value, other.value = {"name": "umber"}, {"name": "sienna"}
    done(library.store.update_memory(entry))
    done(library.store.update_memory(other))
    kept = library.gets(entry)
    assert kept is not None
    assert kept.value == {"name": "sienna"}


@pytest.mark.scenario(33)
@pytest.mark.parametrize(
    "change",
    [{"scope": ORG}, {"agent_slug": "somebody-else"}, {"run_id": "run-x"}, {"key": "other"}],
    ids=lambda change: next(iter(change)),
)
def test_what_an_entry_is_does_not_change(library: Library, change: dict[str, Any]) -> None:
    entry = library.adds()
    other = MemoryEntry(**entry.model_dump() | change)
    with pytest.raises(ValueError, match=next(iter(change))):
        done(library.store.update_memory(other))
    assert library.gets(entry) == entry


@pytest.mark.scenario(33)
def test_an_expired_entry_is_hidden_and_not_revived(library: Library) -> None:
    slug = new_name()
    entry = library.adds(slug, ttl_seconds=3_600, age=timedelta(hours=1))
    assert library.gets(entry) is None
    assert library.lists(agent_slug=slug) == []
    assert library.finds("ochre", agent_slug=slug) == []
    assert ids(library.lists(agent_slug=slug, include_expired=True)) == [entry.memory_id]
    entry.set_ttl(3_600)
    with pytest.raises(ValueError, match="no such memory"):
        done(library.store.update_memory(entry))


def test_unknown_entries_are_none_false_and_a_value_error(library: Library) -> None:
    entry = an_entry()
    for memory_id in (entry.memory_id, "", "a b", "\x00"):
        assert done(library.store.get_memory(memory_id)) is None
        assert done(library.store.delete_memory(memory_id)) is False
    with pytest.raises(ValueError, match="no such memory"):
        done(library.store.update_memory(entry))


def test_critical_data_gets_no_more_time_without_an_approval(library: Library) -> None:
    entry = library.adds(value={"number": "219-09-9999"})
    entry.value["number"] = "219-09-9998"
    entry.set_ttl(40 * 86_400)
    with pytest.raises(PermissionError, match="approval"):
        done(library.store.update_memory(entry))
    kept = library.gets(entry)
    assert kept is not None
    assert kept.value == {"number": "219-09-9999"}


def test_a_list_is_the_newest_first_in_pages(library: Library) -> None:
    slug = new_name()
    made = [library.adds(slug, age=timedelta(minutes=n)) for n in (3, 1, 2)]
    newest = [made[1].memory_id, made[2].memory_id, made[0].memory_id]
    assert ids(library.lists(agent_slug=slug)) == newest
    assert ids(library.lists(agent_slug=slug, limit=1)) == newest[:1]
    assert ids(library.lists(agent_slug=slug, limit=2, offset=1)) == newest[1:]
    assert library.lists(agent_slug=slug, offset=3) == []


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"limit": 1001}, {"limit": True}, {"offset": -1}, {"tags": "preferences"}],
    ids=repr,
)
def test_a_list_refuses_wrong_bounds(library: Library, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        library.lists(**wrong)


def test_filters_narrow_together_and_exactly(library: Library) -> None:
    slug, run = new_name(), new_name("run")
    both = library.adds(slug, key="a", tags=["ml", "production"])
    one = library.adds(slug, key="b", tags=["ml"])
    session = library.adds(slug, key="a", scope=SESSION, run_id=run, tags=["ML"])
    assert ids(library.lists(agent_slug=slug, tags=["production", "ml"])) == [both.memory_id]
    assert ids(library.lists(agent_slug=slug, tags=["ml"])) == ids([one, both])
    assert ids(library.lists(agent_slug=slug, scope=LONG_TERM, key="a")) == [both.memory_id]
    assert ids(library.lists(scope="session", run_id=run)) == [session.memory_id]
    for nothing in ({"tags": ["%"]}, {"key": "A"}, {"run_id": "\x00"}, {"key": ""}):
        assert library.lists(agent_slug=slug, **nothing) == []


def test_search_finds_words_of_keys_and_values_and_the_best_first(library: Library) -> None:
    slug = new_name()
    library.adds(slug, key="user_preferences", value={"theme": "dark", "language": "python"})
    library.adds(slug, key="python_setup", value={"python": {"version": "python 3.11"}})
    library.adds(slug, key="other", value={"colour": "ochre"}, scope=ORG)
    assert library.finds("python", agent_slug=slug) == ["python_setup", "user_preferences"]
    assert library.finds("python", agent_slug=slug, limit=1) == ["python_setup"]
    assert library.finds("ochre dark", agent_slug=slug, scope=LONG_TERM) == ["user_preferences"]
    assert library.finds("what is the theme?", agent_slug=slug)[0] == "user_preferences"


@pytest.mark.parametrize("query", ["", " ", '"', "(", "%", "NOT", "a:b", "it's", "\x00", "\ud800"])
def test_any_text_is_a_query(library: Library, query: str) -> None:
    assert library.finds(query, agent_slug=library.adds().agent_slug) == []


def test_search_without_full_text_finds_the_same(tmp_path: Path) -> None:
    async def keys(*, enable_fts: bool) -> list[str]:
        async with SQLiteMemoryStore(tmp_path / "m.db", enable_fts=enable_fts) as store:
            name = "on" if enable_fts else "off"
            await store.create_memory(an_entry("a", key=name, value={"colour": "ochre"}))
            return sorted(entry.key for entry in await store.search_memories("ochre"))

    assert done(keys(enable_fts=False)) == ["off"]
    assert done(keys(enable_fts=True)) == ["off", "on"]


def test_expired_entries_are_removed_and_counted(fresh: Library) -> None:
    due = fresh.adds(ttl_seconds=60, age=timedelta(minutes=2))
    kept = fresh.adds(ttl_seconds=60)
    assert done(fresh.store.expire_old_memories()) == 1
    assert ids(fresh.lists(include_expired=True)) == [kept.memory_id]
    assert done(fresh.store.expire_old_memories()) == 0
    assert done(fresh.store.delete_memory(due.memory_id)) is False


@pytest.mark.scenario(30)
def test_vacuum_removes_the_plain_record_and_keeps_what_policies_keep(fresh: Library) -> None:
    plain = fresh.adds(age=100 * DAY)
    compliance = fresh.adds(age=100 * DAY, retention_policy="compliance")
    permanent = fresh.adds(age=400 * DAY, retention_policy="permanent")
    dry = done(fresh.store.vacuum(older_than_days=90, dry_run=True))
    assert (dry["would_delete_count"], dry["deleted_count"], dry["backup"]) == (1, 0, None)
    assert len(fresh.lists(include_expired=True)) == 3
    report = done(fresh.store.vacuum(older_than_days=90))
    assert report | {"cutoff": "", "backup": ""} == {
        "deleted_count": 1,
        "would_delete_count": 1,
        "skipped_count": 2,
        "scope": "all",
        "older_than_days": 90,
        "cutoff": "",
        "dry_run": False,
        "backup": "",
    }
    assert ids(fresh.lists(include_expired=True)) == ids([compliance, permanent])
    (line,) = map(json.loads, Path(report["backup"]).read_text().splitlines())
    assert line["memory"]["id"] == plain.memory_id
    told = [one for one in fresh.events("memory", "vacuum") if not one["params"]["dry_run"]]
    assert [one["count"] for one in told] == [1]


def test_vacuum_keeps_to_its_scope(fresh: Library) -> None:
    for scope in (LONG_TERM, ORG):
        fresh.adds(scope=scope, age=200 * DAY)
    assert done(fresh.store.vacuum(ORG, 90))["scope"] == "org"
    assert [entry.scope for entry in fresh.lists(include_expired=True)] == [LONG_TERM]
    for wrong in (-1, True, 1.5):
        with pytest.raises(ValueError, match="older_than_days"):
            done(fresh.store.vacuum(older_than_days=wrong))  # type: ignore[arg-type]


@pytest.mark.scenario(32)
def test_each_of_many_deletes_at_once_counts_exactly_once(fresh: Library) -> None:
    async def scenario() -> list[bool]:
        entries = [an_entry("busy", value={"note": f"zanzibar {n}"}) for n in range(300)]
        for entry in entries:
            await fresh.store.create_memory(entry)
        known = [entry.memory_id for entry in entries]
        unknown = [an_entry("busy").memory_id for _ in range(300)]
        twice = [*known[:50], *known, *unknown]
        return await asyncio.gather(*(fresh.store.delete_memory(one) for one in twice))

    assert sum(done(scenario())) == 300
    assert fresh.lists(include_expired=True) == []
    assert len(fresh.events("memory", "delete")) == 300
    assert len(fresh.events("alert", "mass_deletion")) == 1
    events = fresh.database.rows("SELECT * FROM audit_events")
    assert "zanzibar" not in str(events)


def test_what_is_written_here_is_seen_in_the_server_and_the_other_way_round(
    host: Host, new_database: Callable[[], TestDatabase]
) -> None:
    database, slug = new_database(), new_name()
    store = a_store(database)
    done(store.initialize())
    entry = done(store.create_memory(an_entry(slug, scope=ORG)))
    done(store.close())
    with host(database) as world:
        agent = Callers(world).agent(slug)
        memory = agent.get("/memories/{}", entry.memory_id).expect(200)
        assert (memory["value"], memory["group_id"]) == ({"name": "ochre"}, "org-default")
        assert (memory["source"], memory["agent_id"]) == ("runner", slug)
        body = {"agent_id": slug, "key": "from_server", "value": {"a": 1}}
        agent.post("/memories", body=body).expect(201)
        for visibility in ("private", "public"):
            said = {"agent_id": slug, "content": "ochre it is", "visibility": visibility}
            agent.post("/memories", body=said).expect(201)
    done(store.initialize())
    found = done(store.list_memories(agent_slug=slug))
    searched = done(store.search_memories("ochre"))
    done(store.close())
    assert ids(searched) == [entry.memory_id]
    assert [entry.key for entry in found] == ["from_server", "colour"]
