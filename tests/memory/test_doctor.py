"""The doctor: finds each thing that is wrong, mends it once, and changes nothing unless told to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.domain.doctor import SEVERITIES, Check
from recollect.domain.memories import Kind, MemoryId, MemoryType, Origin, Sensitivity, Status
from recollect.domain.spaces import Space, SpaceKind
from recollect.stores.columns import metadata
from tests.conftest import Serve, SoakSize
from tests.memory.shelf import Shelf, a_shelf
from tests.support.searching import settle_memories
from tests.support.town import Asker, Town
from tests.support.world import World, new_id

DAY = timedelta(days=1)
# The audit log tells of the call itself, and the server's own jobs come and go.
RESTLESS = {"audit_events", "tasks", "task_state"}


@dataclass(frozen=True)
class Ward:
    """A server, its store, and those who look after it."""

    world: World
    shelf: Shelf

    @property
    def town(self) -> Town:
        return Town(self.world)

    def asks(self, *checks: Check, by: Asker | None = None, **members: Any) -> dict[str, Any]:
        """The report of these checks, all if none is named."""
        named = {"checks": [str(check) for check in checks]} if checks else {}
        asker = by or self.town.admin
        report: dict[str, Any] = asker.post("/admin/doctor", body=named | members).expect(200)
        return report

    def result(self, check: Check, **members: Any) -> dict[str, Any]:
        """What one check says."""
        (result,) = self.asks(check, **members)["checks"]
        assert isinstance(result, dict)
        return result

    def sql(self, statement: str, **params: Any) -> list[tuple[Any, ...]]:
        return self.world.database.rows(statement, **params)

    def owner(self) -> tuple[Asker, str]:
        """Somebody with an agent."""
        olga = self.town.person("olga")
        return olga, olga.registers()["id"]

    def adds(self, content: str, **members: Any) -> tuple[Asker, str]:
        """A memory of somebody's own, as a caller writes it."""
        ann = self.town.person("ann")
        return ann, ann.adds(content, **({"space": {"kind": "user"}} | members))["id"]

    def puts(self, content: str = "the ferry leaves at noon", **fields: Any) -> str:
        """A memory that no caller could write, with its words in the index."""
        space = fields.pop("space", Space(SpaceKind.USER, f"ann-{new_id()}"))
        id_ = self.shelf.puts(space, content=content, **fields)
        self.asks(Check.INDEX_ROWS, repair=True)
        return id_

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """All that is stored."""
        quiet = sorted(name for name in metadata.tables if name not in RESTLESS)
        return {name: sorted(self.sql(f"SELECT * FROM {name}"), key=repr) for name in quiet}


@pytest.fixture
def ward(world: World) -> Iterator[Ward]:
    with a_shelf(world) as shelf:
        yield Ward(world, shelf)


def a_lost_word_row(ward: Ward) -> str:
    _, id_ = ward.adds("a heron by the pond")
    ward.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    return id_


def words_of_another_text(ward: Ward) -> str:
    _, id_ = ward.adds("the boat is blue")
    ward.sql("UPDATE memory_index SET terms = 'red' WHERE memory_id = :id", id=id_)
    return id_


def words_of_nothing(ward: Ward) -> str:
    _, id_ = ward.adds("a letter to the mayor")
    ward.sql("DELETE FROM memories WHERE id = :id", id=id_)
    return id_


def words_of_what_is_set_aside(ward: Ward) -> str:
    _, id_ = ward.adds("the gate code hangs by the door")
    ward.sql("UPDATE memories SET status = 'quarantined' WHERE id = :id", id=id_)
    return id_


def an_edge_of_nothing(ward: Ward) -> str:
    _, id_ = ward.adds("I work at Acme")
    ((edge,),) = ward.sql("SELECT id FROM relations WHERE memory_id = :id", id=id_)
    ward.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    ward.sql("DELETE FROM memories WHERE id = :id", id=id_)
    assert isinstance(edge, str)
    return edge


def an_entity_that_nothing_holds(ward: Ward) -> str:
    ward.sql(
        "INSERT INTO entities (id, kind, name, fold, space_kind, space_id)"
        " VALUES (:id, 'thing', 'boat', :id, 'user', 'ann')",
        id=(id_ := new_id()),
    )
    return id_


def a_row_of_nobodys_agent(ward: Ward) -> str:
    olga, agent = ward.owner()
    id_: str = olga.adds("the tide tables are on the wall", agent_id=agent)["id"]
    ward.sql("DELETE FROM agents WHERE id = :id", id=agent)
    return id_


def a_chain_of_merges(ward: Ward) -> str:
    """The first leads to the second, which leads to the third."""
    ann = ward.town.person("ann")
    first, second, third = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in "abc")
    for id_, to in ((first, second), (second, third)):
        ward.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=id_, to=to)
    assert isinstance(first, str)
    return first


def a_circle_of_merges(ward: Ward) -> str:
    ann = ward.town.person("ann")
    first, second = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in "de")
    for id_, to in ((first, second), (second, first)):
        ward.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=id_, to=to)
    return str(first)


def a_merged_id_that_a_memory_names(ward: Ward) -> str:
    ann = ward.town.person("ann")
    bob, rob = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in ("Bob", "Rob"))
    memory = ann.adds("he sails", space={"kind": "user"}, subjects=[bob])
    ward.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=bob, to=rob)
    assert memory["subjects"] == [bob]
    assert isinstance(bob, str)
    return bob


def somebody_whom_nothing_names(ward: Ward) -> str:
    ann = ward.town.person("ann")
    id_: str = ann.post("/people", body={"name": "Somebody"}).expect(201)["id"]
    long_ago = ward.shelf.now - 91 * DAY
    at = _instant(ward, long_ago)
    ward.sql("UPDATE people SET updated_at = :at WHERE id = :id", id=id_, at=at)
    return id_


def a_memory_that_replaces_itself(ward: Ward) -> str:
    """Red was replaced by blue, and then blue by red."""
    ann, red = ward.adds("the shed is red")
    blue = ann.adds("the shed is blue", space={"kind": "user"}, supersedes=[red])["id"]
    ward.sql(
        "INSERT INTO memory_links (from_id, kind, to_id, at)"
        " SELECT to_id, kind, from_id, :at FROM memory_links WHERE from_id = :blue",
        blue=blue,
        at=_instant(ward, ward.shelf.now + DAY),
    )
    ward.sql(
        "UPDATE memories SET status = 'superseded', superseded_by = :red WHERE id = :blue",
        red=red,
        blue=blue,
    )
    assert isinstance(blue, str)
    return blue


def a_policy_of_another_scope(ward: Ward) -> str:
    return ward.puts(retention_policy="ephemeral")


def a_life_beyond_the_cap(ward: Ward) -> str:
    return ward.puts(pii_tags=("email",), expires_at=ward.shelf.now + 1000 * DAY)


def personal_data_without_its_tag(ward: Ward) -> str:
    return ward.puts("write to ann@example.com")


def a_card_number_that_anybody_reads(ward: Ward) -> str:
    olga, agent = ward.owner()
    id_: str = olga.adds("the number of the club", agent_id=agent)["id"]
    stored = ward.shelf.stored(id_)
    tagged = replace(stored.memory, pii_tags=("credit_card",), expires_at=ward.shelf.now + DAY)
    ward.shelf.replaces(stored, tagged)
    return id_


def a_statement_that_is_there_twice(ward: Ward) -> str:
    space, now = Space(SpaceKind.USER, f"ann-{new_id()}"), ward.shelf.now
    ward.puts("The keys hang by the door", space=space, at=now - DAY)
    return ward.puts("the keys hang by the door!", space=space, at=now)


def a_job_that_was_given_up(ward: Ward) -> str:
    at = _instant(ward, ward.shelf.now)
    ward.sql(
        "INSERT INTO tasks (id, task_type, task_body, created_at, retry_at, retry_count, stuck_at)"
        " VALUES (:id, 'no_such_work', '{}', :at, :at, 8, :at)",
        id=(id_ := new_id()),
        at=at,
    )
    return id_


def _instant(ward: Ward, at: Any) -> Any:
    """As the column holds it."""
    if ward.world.database.engine == "postgres":
        return at
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


MENDED: list[tuple[Check, Callable[[Ward], str]]] = [
    (Check.INDEX_ROWS, a_lost_word_row),
    (Check.INDEX_ROWS, words_of_another_text),
    (Check.ORPHAN_INDEX, words_of_nothing),
    (Check.ORPHAN_INDEX, words_of_what_is_set_aside),
    (Check.ORPHAN_EDGES, an_edge_of_nothing),
    (Check.ORPHAN_EDGES, an_entity_that_nothing_holds),
    (Check.UNKNOWN_AGENT, a_row_of_nobodys_agent),
    (Check.MERGE_CHAINS, a_chain_of_merges),
    (Check.MERGE_CHAINS, a_circle_of_merges),
    (Check.MERGE_CHAINS, a_merged_id_that_a_memory_names),
    (Check.ORPHAN_PEOPLE, somebody_whom_nothing_names),
    (Check.SUPERSESSION_CYCLES, a_memory_that_replaces_itself),
    (Check.POLICY_MISMATCH, a_policy_of_another_scope),
    (Check.EXPIRY_OVER_CAP, a_life_beyond_the_cap),
    (Check.UNTAGGED_PII, personal_data_without_its_tag),
    (Check.CRITICAL_PII_IN_PUBLIC, a_card_number_that_anybody_reads),
    (Check.NEAR_DUPLICATES, a_statement_that_is_there_twice),
    (Check.STUCK_JOBS, a_job_that_was_given_up),
]


@pytest.mark.parametrize(("check", "broken"), MENDED, ids=[f.__name__ for _, f in MENDED])
def test_what_is_wrong_is_found_and_mended_once(
    ward: Ward, check: Check, broken: Callable[[Ward], str]
) -> None:
    ward.asks(repair=True)
    id_ = broken(ward)
    found = ward.result(check)
    assert id_ in found["sample_ids"]
    assert (found["count"] >= 1, found["repairable"], found["repaired"]) == (True, True, 0)
    mended = ward.result(check, repair=True)
    assert (mended["count"], mended["repaired"]) == (found["count"], found["count"])
    again = ward.result(check, repair=True)
    assert (again["count"], again["repaired"], again["sample_ids"]) == (0, 0, [])


def an_origin_that_nobody_knows(ward: Ward) -> str:
    return ward.puts(origin=Origin.UNKNOWN)


def a_name_that_nobody_could_resolve(ward: Ward) -> str:
    id_ = ward.puts()
    ward.sql("""UPDATE memories SET bare_names = '["Sam"]' WHERE id = :id""", id=id_)
    return id_


def a_secret(ward: Ward) -> str:
    return ward.puts("the API key is sk-abcdefghijklmnopqrstuvwx")


def two_that_contradict(ward: Ward) -> str:
    one, other = ward.puts("tea at four"), ward.puts("tea at five")
    link = ward.shelf.storage.stores.memories.link_conflict
    ward.shelf.storage.do(link, MemoryId(one), MemoryId(other), at=ward.shelf.now)
    return one


def a_policy_that_vanished(ward: Ward) -> str:
    return ward.puts(retention_policy="gone", expires_at=ward.shelf.now + DAY)


def a_time_to_come(ward: Ward) -> str:
    return ward.puts(at=ward.shelf.now + DAY)


REPORTED: list[tuple[Check, Callable[[Ward], str]]] = [
    (Check.UNKNOWN_ORIGIN, an_origin_that_nobody_knows),
    (Check.UNKNOWN_ORIGIN, a_name_that_nobody_could_resolve),
    (Check.SECRETS, a_secret),
    (Check.CONFLICTS, two_that_contradict),
    (Check.POLICY_MISMATCH, a_policy_that_vanished),
    (Check.CLOCK, a_time_to_come),
]


@pytest.mark.parametrize(("check", "made"), REPORTED, ids=[f.__name__ for _, f in REPORTED])
def test_what_only_its_writers_can_decide_is_told_and_left(
    ward: Ward, check: Check, made: Callable[[Ward], str]
) -> None:
    id_ = made(ward)
    before = ward.shelf.stored(id_)
    told = ward.result(check, repair=True)
    assert id_ in told["sample_ids"]
    assert told["repaired"] == 0
    assert ward.shelf.stored(id_) == before
    ward.sql("DELETE FROM memories WHERE id = :id", id=id_)


def test_a_look_changes_nothing(ward: Ward) -> None:
    for _, broken in MENDED:
        broken(ward)
    # Whoever calls for the first time becomes known.
    ward.asks(Check.CLOCK, by=ward.town.auditor)
    before = ward.dump()
    report = ward.asks(by=ward.town.auditor)
    assert report["ok"] is False
    assert ward.dump() == before


def test_the_report_has_every_check_in_order_and_ends_well(ward: Ward) -> None:
    ward.asks(repair=True)
    report = ward.asks()
    assert [one["name"] for one in report["checks"]] == [str(check) for check in Check]
    assert {one["name"]: one["severity"] for one in report["checks"]} == dict(SEVERITIES)
    assert report["ok"] is True
    assert ward.asks(Check.CLOCK, Check.INDEX_ROWS)["checks"][0]["name"] == "index_rows"


def test_an_auditor_looks_and_only_an_admin_mends(ward: Ward) -> None:
    town = ward.town
    town.person("ann").post("/admin/doctor", body={}).refused(403, "forbidden")
    refused = town.auditor.post("/admin/doctor", body={"repair": True})
    refused.refused(403, "forbidden")
    ward.asks(by=town.auditor)
    town.auditor.post("/admin/doctor", body={"checks": ["spelling"]}).refused(
        422, "validation_error"
    )
    town.auditor.post("/admin/doctor", body={"repairs": True}).refused(422, "validation_error")


def test_a_sample_has_ten_ids_at_the_most(ward: Ward) -> None:
    ids = ward.shelf.puts_all(
        [(Space(SpaceKind.USER, f"ann-{new_id()}"), ward.shelf.now) for _ in range(12)],
        content="words that are in no index",
    )
    found = ward.result(Check.INDEX_ROWS, repair=True)
    assert found["count"] == found["repaired"] == len(ids)
    assert len(found["sample_ids"]) == 10
    assert set(found["sample_ids"]) < set(ids)


def test_mended_words_are_found_again(ward: Ward) -> None:
    ann, id_ = ward.adds("a heron by the pond")
    ward.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    mine = {"spaces": [{"kind": "user", "id": ann.name}]}
    assert ann.finds("heron", **mine) == []
    ward.asks(Check.INDEX_ROWS, repair=True)
    assert [hit["id"] for hit in ann.finds("heron", **mine)] == [id_]


def test_a_cap_counts_from_the_creation_and_keeps_the_wish(ward: Ward) -> None:
    wish = ward.shelf.now + 1000 * DAY
    id_ = ward.puts("write to ann@example.com", expires_at=wish, expiry_rule="explicit")
    ward.asks(Check.UNTAGGED_PII, repair=True)
    memory = ward.shelf.stored(id_).memory
    assert memory.pii_tags == ("email",)
    assert memory.expires_at == memory.created_at + 90 * DAY
    assert (memory.expiry_rule, memory.requested_expires_at) == ("pii:high", wish)
    assert memory.version == 2


def test_critical_data_leaves_public_reads_and_waits_for_its_owner(ward: Ward) -> None:
    olga, agent = ward.owner()
    id_ = olga.adds("the number of the club", agent_id=agent)["id"]
    stored = ward.shelf.stored(id_)
    ward.shelf.replaces(stored, replace(stored.memory, content="card 4111 1111 1111 1111"))
    reader = ward.town.person("uma")
    assert reader.get("/memories/{}", id_).status == 200
    ward.asks(repair=True)
    assert reader.get("/memories/{}", id_).status == 404
    (held,) = olga.lists("/quarantine", agent_id=agent)
    assert (held["id"], held["space"]["kind"]) == (id_, "agent_public")
    assert "critical_pii" in held["reasons"]


def test_of_equal_statements_the_older_goes_on_and_is_as_strict_as_both(ward: Ward) -> None:
    space, now = Space(SpaceKind.USER, f"ann-{new_id()}"), ward.shelf.now
    fields = {"space": space, "type": MemoryType.PREFERENCE}
    older = ward.puts("Ann likes tea", at=now - DAY, **fields)
    newer = ward.puts("ann likes tea", at=now, sensitivity=Sensitivity.PERSONAL, **fields)
    ward.asks(Check.NEAR_DUPLICATES, repair=True)
    kept, repeat = ward.shelf.stored(older).memory, ward.shelf.stored(newer).memory
    assert (kept.status, kept.repeats, kept.sensitivity) == (
        Status.ACTIVE,
        1,
        Sensitivity.PERSONAL,
    )
    assert (repeat.status, repeat.superseded_by) == (Status.SUPERSEDED, older)


def test_equal_texts_of_two_spaces_or_of_records_stay(ward: Ward) -> None:
    ward.puts("Bob likes tea")
    ward.puts("Bob likes tea")
    space = Space(SpaceKind.USER, f"ann-{new_id()}")
    for _ in range(2):
        ward.puts("theme dark", space=space, kind=Kind.RECORD, key="theme", value={"n": 1})
    assert ward.result(Check.NEAR_DUPLICATES)["count"] == 0


def test_people_of_one_name_are_told_and_merged_only_where_the_server_is_set_so(
    ward: Ward, serve: Serve
) -> None:
    def twice(town: Town) -> list[str]:
        ann = town.person("ann")
        return [ann.post("/people", body={"name": "Jo Lane"}).expect(201)["id"] for _ in "ab"]

    first, second = sorted(twice(ward.town))
    told = ward.result(Check.DUPLICATE_PEOPLE, repair=True)
    assert (told["count"], told["sample_ids"]) == (1, [second])
    assert (told["repairable"], told["repaired"]) == (False, 0)
    merging = serve(ward.world.database, people__auto_merge=True)
    there = Ward(merging, ward.shelf)
    mended = there.result(Check.DUPLICATE_PEOPLE, repair=True)
    assert (mended["repairable"], mended["repaired"]) == (True, 1)
    assert there.result(Check.DUPLICATE_PEOPLE)["count"] == 0
    (row,) = ward.sql("SELECT merged_into FROM people WHERE id = :id", id=second)
    assert row == (first,)


def test_a_text_without_a_vector_gets_one(vector_world: World) -> None:
    with a_shelf(vector_world) as shelf:
        ward = Ward(vector_world, shelf)
        ward.asks(repair=True)
        _, id_ = ward.adds("the lighthouse keeper sings")
        settle_memories(vector_world)
        ward.sql("DELETE FROM memory_embeddings WHERE memory_id = :id", id=id_)
        found = ward.result(Check.MISSING_VECTORS)
        assert (found["count"], found["sample_ids"], found["repaired"]) == (1, [id_], 0)
        assert ward.result(Check.MISSING_VECTORS, repair=True)["repaired"] == 1
        settle_memories(vector_world)
        ask = "SELECT count(*) FROM memory_embeddings WHERE memory_id = :id"
        assert ward.sql(ask, id=id_) == [(1,)]
        assert ward.result(Check.MISSING_VECTORS, repair=True)["count"] == 0


def test_redirected_memories_are_about_who_is_left(ward: Ward) -> None:
    ann = ward.town.person("ann")
    bob, rob = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in ("Bob", "Rob"))
    memory = ann.adds("he sails", space={"kind": "user"}, subjects=[bob])
    ward.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=bob, to=rob)
    ward.asks(Check.MERGE_CHAINS, repair=True)
    assert ann.get("/memories/{}", memory["id"]).expect(200)["subjects"] == [rob]
    assert ann.get("/people/{}", bob).expect(200)["id"] == rob


def test_a_cut_circle_leaves_the_older_word_replaced(ward: Ward) -> None:
    blue = a_memory_that_replaces_itself(ward)
    ward.asks(Check.SUPERSESSION_CYCLES, repair=True)
    memory = ward.shelf.stored(blue).memory
    assert (memory.status, memory.superseded_by) == (Status.ACTIVE, None)
    (red,) = memory.supersedes
    assert ward.shelf.stored(red).memory.superseded_by == blue


def test_a_repair_tells_of_itself_without_any_text(ward: Ward) -> None:
    id_ = ward.puts("write to zoe@example.com")
    report = ward.asks(Check.UNTAGGED_PII, repair=True, justification="spring cleaning")
    assert report["checks"][0]["repaired"] == 1
    ((count, reason, params),) = ward.sql(
        "SELECT count, justification, params FROM audit_events"
        " WHERE kind = 'admin_write' AND action = 'doctor' AND justification IS NOT NULL"
    )
    assert (count, reason) == (1, "spring cleaning")
    assert "zoe" not in str(params)
    events = ward.town.auditor.lists("/events", memory_id=id_)
    assert [event["event_type"] for event in events] == ["memory.update"]
    assert "zoe" not in str(events)


@pytest.mark.scenario(34)
def test_after_a_repair_of_many_users_memories_the_next_run_reports_zero(
    ward: Ward, soak_size: SoakSize
) -> None:
    ward.asks(repair=True)
    now, each = ward.shelf.now, soak_size(20, 2_000)
    spaces = [Space(SpaceKind.USER, f"ann-{user}") for user in range(30)]
    for number in range(each):
        places = [(space, now - timedelta(minutes=number)) for space in spaces]
        ward.shelf.puts_all(places, content=f"letter {number} from ann@example.com")
    before = ward.dump()
    dry = ward.asks()
    assert ward.dump() == before
    found = {one["name"]: one["count"] for one in dry["checks"]}
    assert found["index_rows"] == found["untagged_pii"] == 30 * each
    ward.asks(repair=True)
    again = ward.asks(repair=True)
    assert {one["name"]: (one["count"], one["repaired"]) for one in again["checks"]} == {
        str(check): (0, 0) for check in Check
    }
    assert again["ok"] is True
