"""How data is broken, straight in the store, so that the doctor has something to mend."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recollect.doctor.model import DoctorCheck
from recollect.kernel.space import Space, SpaceKind
from tests.doctor.doctor_server import DAY, DoctorServer
from tests.support.world import new_id


def a_lost_word_row(server: DoctorServer) -> str:
    _, id_ = server.adds("a heron by the pond")
    server.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    return id_


def words_of_another_text(server: DoctorServer) -> str:
    _, id_ = server.adds("the boat is blue")
    server.sql("UPDATE memory_index SET terms = 'red' WHERE memory_id = :id", id=id_)
    return id_


def words_of_nothing(server: DoctorServer) -> str:
    _, id_ = server.adds("a letter to the mayor")
    server.sql("DELETE FROM memories WHERE id = :id", id=id_)
    return id_


def words_of_what_is_set_aside(server: DoctorServer) -> str:
    _, id_ = server.adds("the gate code hangs by the door")
    server.sql("UPDATE memories SET status = 'quarantined' WHERE id = :id", id=id_)
    return id_


def an_edge_of_nothing(server: DoctorServer) -> str:
    _, id_ = server.adds("I work at Acme")
    ((edge,),) = server.sql("SELECT id FROM relations WHERE memory_id = :id", id=id_)
    server.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    server.sql("DELETE FROM memories WHERE id = :id", id=id_)
    assert isinstance(edge, str)
    return edge


def an_entity_that_nothing_holds(server: DoctorServer) -> str:
    server.sql(
        "INSERT INTO entities (id, kind, name, fold, space_kind, space_id)"
        " VALUES (:id, 'thing', 'boat', :id, 'user', 'ann')",
        id=(id_ := new_id()),
    )
    return id_


def a_row_of_nobodys_agent(server: DoctorServer) -> str:
    olga, agent = server.owner()
    id_: str = olga.adds("the tide tables are on the wall", agent_id=agent)["id"]
    server.sql("DELETE FROM agents WHERE id = :id", id=agent)
    return id_


def a_chain_of_merges(server: DoctorServer) -> str:
    """The first leads to the second, which leads to the third."""
    ann = server.callers.person("ann")
    first, second, third = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in "abc")
    for id_, to in ((first, second), (second, third)):
        server.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=id_, to=to)
    assert isinstance(first, str)
    return first


def a_circle_of_merges(server: DoctorServer) -> str:
    ann = server.callers.person("ann")
    first, second = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in "de")
    for id_, to in ((first, second), (second, first)):
        server.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=id_, to=to)
    return str(first)


def a_merged_id_that_a_memory_names(server: DoctorServer) -> str:
    ann = server.callers.person("ann")
    bob, rob = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in ("Bob", "Rob"))
    memory = ann.adds("he sails", space={"kind": "user"}, subjects=[bob])
    server.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=bob, to=rob)
    assert memory["subjects"] == [bob]
    assert isinstance(bob, str)
    return bob


def somebody_whom_nothing_names(server: DoctorServer) -> str:
    ann = server.callers.person("ann")
    id_: str = ann.post("/people", body={"name": "Somebody"}).expect(201)["id"]
    long_ago = server.stored_memories.now - 91 * DAY
    at = server.instant(long_ago)
    server.sql("UPDATE people SET updated_at = :at WHERE id = :id", id=id_, at=at)
    return id_


def a_memory_that_replaces_itself(server: DoctorServer) -> str:
    """Red was replaced by blue, and then blue by red."""
    ann, red = server.adds("the shed is red")
    blue = ann.adds("the shed is blue", space={"kind": "user"}, supersedes=[red])["id"]
    server.sql(
        "INSERT INTO memory_links (from_id, kind, to_id, at)"
        " SELECT to_id, kind, from_id, :at FROM memory_links WHERE from_id = :blue",
        blue=blue,
        at=server.instant(server.stored_memories.now + DAY),
    )
    server.sql(
        "UPDATE memories SET status = 'superseded', superseded_by = :red WHERE id = :blue",
        red=red,
        blue=blue,
    )
    assert isinstance(blue, str)
    return blue


def a_policy_of_another_scope(server: DoctorServer) -> str:
    return server.puts(retention_policy="ephemeral")


def a_life_beyond_the_cap(server: DoctorServer) -> str:
    return server.puts(pii_tags=("email",), expires_at=server.stored_memories.now + 1000 * DAY)


def personal_data_without_its_tag(server: DoctorServer) -> str:
    return server.puts("write to ann@example.com")


def a_card_number_that_anybody_reads(server: DoctorServer) -> str:
    olga, agent = server.owner()
    id_: str = olga.adds("the number of the club", agent_id=agent)["id"]
    stored = server.stored_memories.stored(id_)
    tagged = replace(
        stored.memory, pii_tags=("credit_card",), expires_at=server.stored_memories.now + DAY
    )
    server.stored_memories.replaces(stored, tagged)
    return id_


def a_statement_that_is_there_twice(server: DoctorServer) -> str:
    space, now = Space(SpaceKind.USER, f"ann-{new_id()}"), server.stored_memories.now
    server.puts("The keys hang by the door", space=space, at=now - DAY)
    return server.puts("the keys hang by the door!", space=space, at=now)


def a_job_that_was_given_up(server: DoctorServer) -> str:
    at = server.instant(server.stored_memories.now)
    server.sql(
        "INSERT INTO tasks (id, task_type, task_body, created_at, retry_at, retry_count, stuck_at)"
        " VALUES (:id, 'no_such_work', '{}', :at, :at, 8, :at)",
        id=(id_ := new_id()),
        at=at,
    )
    return id_


def an_erasure(server: DoctorServer, *, status: str, created_at: Any = None) -> str:
    """Of nobody."""
    at = created_at or server.instant(server.stored_memories.now)
    server.sql(
        "INSERT INTO erasures (id, status, created_at, report) VALUES (:id, :status, :at, '{}')",
        id=(id_ := new_id()),
        status=status,
        at=at,
    )
    return id_


def a_job_of(server: DoctorServer, erasure_id: str) -> None:
    """That nobody has begun with yet."""
    server.sql(
        "INSERT INTO tasks (id, task_name, task_type, task_body, created_at, retry_at)"
        " VALUES (:id, :name, 'erase', '{}', :at, :later)",
        id=new_id(),
        name=f"erase:{erasure_id}",
        at=server.instant(server.stored_memories.now),
        later=server.instant(server.stored_memories.now + 1000 * DAY),
    )


def an_erasure_that_nobody_works_on(server: DoctorServer) -> str:
    return an_erasure(server, status="running")


MENDED: list[tuple[DoctorCheck, Callable[[DoctorServer], str]]] = [
    (DoctorCheck.INDEX_ROWS, a_lost_word_row),
    (DoctorCheck.INDEX_ROWS, words_of_another_text),
    (DoctorCheck.ORPHAN_INDEX, words_of_nothing),
    (DoctorCheck.ORPHAN_INDEX, words_of_what_is_set_aside),
    (DoctorCheck.ORPHAN_EDGES, an_edge_of_nothing),
    (DoctorCheck.ORPHAN_EDGES, an_entity_that_nothing_holds),
    (DoctorCheck.UNKNOWN_AGENT, a_row_of_nobodys_agent),
    (DoctorCheck.MERGE_CHAINS, a_chain_of_merges),
    (DoctorCheck.MERGE_CHAINS, a_circle_of_merges),
    (DoctorCheck.MERGE_CHAINS, a_merged_id_that_a_memory_names),
    (DoctorCheck.ORPHAN_PEOPLE, somebody_whom_nothing_names),
    (DoctorCheck.SUPERSESSION_CYCLES, a_memory_that_replaces_itself),
    (DoctorCheck.POLICY_MISMATCH, a_policy_of_another_scope),
    (DoctorCheck.EXPIRY_OVER_CAP, a_life_beyond_the_cap),
    (DoctorCheck.UNTAGGED_PII, personal_data_without_its_tag),
    (DoctorCheck.CRITICAL_PII_IN_PUBLIC, a_card_number_that_anybody_reads),
    (DoctorCheck.NEAR_DUPLICATES, a_statement_that_is_there_twice),
    (DoctorCheck.STUCK_JOBS, a_job_that_was_given_up),
    (DoctorCheck.STUCK_JOBS, an_erasure_that_nobody_works_on),
]
