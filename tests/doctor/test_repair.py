"""The doctor finds each thing that is wrong, and mends it once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import (
    MemoryKind,
    MemoryStatus,
    MemoryType,
    Sensitivity,
)
from tests.conftest import Host, Serve
from tests.doctor.doctor_server import DAY, DoctorServer, a_doctor_server
from tests.doctor.faults import MENDED, a_memory_that_replaces_itself
from tests.support.memory.callers import Callers
from tests.support.searching import settle_memories
from tests.support.world import World, new_id


@pytest.mark.parametrize(("check", "broken"), MENDED, ids=[f.__name__ for _, f in MENDED])
def test_what_is_wrong_is_found_and_mended_once(
    server: DoctorServer, check: DoctorCheck, broken: Callable[[DoctorServer], str]
) -> None:
    server.asks(repair=True)
    id_ = broken(server)
    found = server.result(check)
    assert id_ in found["sample_ids"]
    assert (found["count"] >= 1, found["repairable"], found["repaired"]) == (True, True, 0)
    mended = server.result(check, repair=True)
    assert (mended["count"], mended["repaired"]) == (found["count"], found["count"])
    again = server.result(check, repair=True)
    assert (again["count"], again["repaired"], again["sample_ids"]) == (0, 0, [])


def test_mended_words_are_found_again(server: DoctorServer) -> None:
    ann, id_ = server.adds("a heron by the pond")
    server.sql("DELETE FROM memory_index WHERE memory_id = :id", id=id_)
    mine = {"spaces": [{"kind": "user", "id": ann.name}]}
    assert ann.finds("heron", **mine) == []
    server.asks(DoctorCheck.INDEX_ROWS, repair=True)
    assert [hit["id"] for hit in ann.finds("heron", **mine)] == [id_]


def test_a_cap_counts_from_the_creation_and_keeps_the_wish(server: DoctorServer) -> None:
    wish = server.stored_memories.now + 1000 * DAY
    id_ = server.puts("write to ann@example.com", expires_at=wish, expiry_rule="explicit")
    server.asks(DoctorCheck.UNTAGGED_PII, repair=True)
    memory = server.stored_memories.stored(id_).memory
    assert memory.pii_tags == ("email",)
    assert memory.expires_at == memory.created_at + 90 * DAY
    assert (memory.expiry_rule, memory.requested_expires_at) == ("pii:high", wish)
    assert memory.version == 2


def test_critical_data_leaves_public_reads_and_waits_for_its_owner(server: DoctorServer) -> None:
    olga, agent = server.owner()
    id_ = olga.adds("the number of the club", agent_id=agent)["id"]
    stored = server.stored_memories.stored(id_)
    server.stored_memories.replaces(
        stored, replace(stored.memory, content="card 4111 1111 1111 1111")
    )
    reader = server.callers.person("uma")
    assert reader.get("/memories/{}", id_).status == 200
    server.asks(repair=True)
    assert reader.get("/memories/{}", id_).status == 404
    (held,) = olga.lists("/quarantine", agent_id=agent)
    assert (held["id"], held["space"]["kind"]) == (id_, "agent_public")
    assert "critical_pii" in held["reasons"]
    olga.post("/quarantine/{}/release", id_, body={}).refused(422, "pii_not_allowed")
    assert reader.get("/memories/{}", id_).status == 404
    olga.post("/quarantine/{}/reject", id_, body={}).expect(204)


def test_of_equal_statements_the_older_goes_on_and_is_as_strict_as_both(
    server: DoctorServer,
) -> None:
    space, now = Space(SpaceKind.USER, f"ann-{new_id()}"), server.stored_memories.now
    fields = {"space": space, "type": MemoryType.PREFERENCE}
    older = server.puts("Ann likes tea", at=now - DAY, **fields)
    newer = server.puts("ann likes tea", at=now, sensitivity=Sensitivity.PERSONAL, **fields)
    server.asks(DoctorCheck.NEAR_DUPLICATES, repair=True)
    kept, repeat = (
        server.stored_memories.stored(older).memory,
        server.stored_memories.stored(newer).memory,
    )
    assert (kept.status, kept.repeats, kept.sensitivity) == (
        MemoryStatus.ACTIVE,
        1,
        Sensitivity.PERSONAL,
    )
    assert (repeat.status, repeat.superseded_by) == (MemoryStatus.SUPERSEDED, older)


def test_equal_texts_of_two_spaces_or_of_records_stay(server: DoctorServer) -> None:
    server.puts("Bob likes tea")
    server.puts("Bob likes tea")
    space = Space(SpaceKind.USER, f"ann-{new_id()}")
    for _ in range(2):
        server.puts("theme dark", space=space, kind=MemoryKind.RECORD, key="theme", value={"n": 1})
    assert server.result(DoctorCheck.NEAR_DUPLICATES)["count"] == 0


def test_people_of_one_name_are_told_and_merged_only_where_the_server_is_set_so(
    server: DoctorServer, serve: Serve
) -> None:
    def twice(callers: Callers) -> list[str]:
        ann = callers.person("ann")
        return [ann.post("/people", body={"name": "Jo Lane"}).expect(201)["id"] for _ in "ab"]

    first, second = sorted(twice(server.callers))
    told = server.result(DoctorCheck.DUPLICATE_PEOPLE, repair=True)
    assert (told["count"], told["sample_ids"]) == (1, [second])
    assert (told["repairable"], told["repaired"]) == (False, 0)
    merging = serve(server.world.database, people__auto_merge=True)
    there = DoctorServer(merging, server.stored_memories)
    mended = there.result(DoctorCheck.DUPLICATE_PEOPLE, repair=True)
    assert (mended["repairable"], mended["repaired"]) == (True, 1)
    assert there.result(DoctorCheck.DUPLICATE_PEOPLE)["count"] == 0
    (row,) = server.sql("SELECT merged_into FROM people WHERE id = :id", id=second)
    assert row == (first,)


def test_a_text_without_a_vector_gets_one(vector_world: World) -> None:
    with a_doctor_server(vector_world) as server:
        server.asks(repair=True)
        _, id_ = server.adds("the lighthouse keeper sings")
        settle_memories(vector_world)
        server.sql("DELETE FROM memory_embeddings WHERE memory_id = :id", id=id_)
        found = server.result(DoctorCheck.MISSING_VECTORS)
        assert (found["count"], found["sample_ids"], found["repaired"]) == (1, [id_], 0)
        assert server.result(DoctorCheck.MISSING_VECTORS, repair=True)["repaired"] == 1
        settle_memories(vector_world)
        ask = "SELECT count(*) FROM memory_embeddings WHERE memory_id = :id"
        assert server.sql(ask, id=id_) == [(1,)]
        assert server.result(DoctorCheck.MISSING_VECTORS, repair=True)["count"] == 0


def test_redirected_memories_are_about_who_is_left(server: DoctorServer) -> None:
    ann = server.callers.person("ann")
    bob, rob = (ann.post("/people", body={"name": n}).expect(201)["id"] for n in ("Bob", "Rob"))
    memory = ann.adds("he sails", space={"kind": "user"}, subjects=[bob])
    server.sql("UPDATE people SET merged_into = :to WHERE id = :id", id=bob, to=rob)
    server.asks(DoctorCheck.MERGE_CHAINS, repair=True)
    assert ann.get("/memories/{}", memory["id"]).expect(200)["subjects"] == [rob]
    assert ann.get("/people/{}", bob).expect(200)["id"] == rob


def test_a_cut_circle_leaves_the_older_word_replaced(server: DoctorServer) -> None:
    blue = a_memory_that_replaces_itself(server)
    server.asks(DoctorCheck.SUPERSESSION_CYCLES, repair=True)
    memory = server.stored_memories.stored(blue).memory
    assert (memory.status, memory.superseded_by) == (MemoryStatus.ACTIVE, None)
    (red,) = memory.supersedes
    assert server.stored_memories.stored(red).memory.superseded_by == blue


RISKY_EMAIL = """
default_ttl: {session: 3600, long_term: 2592000, org: 7776000}
pii: {tags: {email: {risk: critical}}}
"""


def test_risks_are_those_of_the_retention_file(host: Host, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text(RISKY_EMAIL)
    with host(retention__file=str(rules)) as world, a_doctor_server(world) as server:
        olga, agent = server.owner()
        id_ = olga.adds("how to reach the club", agent_id=agent)["id"]
        stored = server.stored_memories.stored(id_)
        tagged = replace(
            stored.memory, pii_tags=("email",), expires_at=server.stored_memories.now + 31 * DAY
        )
        server.stored_memories.replaces(stored, tagged)
        assert server.result(DoctorCheck.EXPIRY_OVER_CAP)["sample_ids"] == [id_]
        mended = server.result(DoctorCheck.CRITICAL_PII_IN_PUBLIC, repair=True)
        assert (mended["sample_ids"], mended["repaired"]) == ([id_], 1)
        assert server.stored_memories.stored(id_).memory.status is MemoryStatus.QUARANTINED
