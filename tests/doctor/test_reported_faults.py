"""What the doctor only tells of, and leaves to those whose it is."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryKind, MemoryOrigin
from tests.doctor.doctor_server import DAY, DoctorServer
from tests.doctor.faults import a_job_of, an_erasure
from tests.support.memory.callers import Caller
from tests.support.world import new_id


def an_origin_that_nobody_knows(server: DoctorServer) -> str:
    return server.puts(origin=MemoryOrigin.UNKNOWN)


def a_name_that_nobody_could_resolve(server: DoctorServer) -> str:
    id_ = server.puts()
    server.sql("""UPDATE memories SET bare_names = '["Sam"]' WHERE id = :id""", id=id_)
    return id_


def a_secret(server: DoctorServer) -> str:
    return server.puts("the API key is sk-abcdefghijklmnopqrstuvwx")


def two_that_contradict(server: DoctorServer) -> str:
    one, other = server.puts("tea at four"), server.puts("tea at five")
    link = server.stored_memories.storage.stores.memories.link_conflict
    server.stored_memories.storage.do(
        link, MemoryId(one), MemoryId(other), at=server.stored_memories.now
    )
    return one


def a_policy_that_vanished(server: DoctorServer) -> str:
    return server.puts(retention_policy="gone", expires_at=server.stored_memories.now + DAY)


def a_time_to_come(server: DoctorServer) -> str:
    return server.puts(at=server.stored_memories.now + DAY)


def a_private_life_that_everybody_reads(server: DoctorServer) -> str:
    """As a server stored it that did not look at open spaces."""
    agent = Space(SpaceKind.AGENT_PUBLIC, "helper")
    return server.puts("I have diabetes and my salary is 90000", space=agent, agent_id="helper")


REPORTED: list[tuple[DoctorCheck, Callable[[DoctorServer], str]]] = [
    (DoctorCheck.UNKNOWN_ORIGIN, an_origin_that_nobody_knows),
    (DoctorCheck.UNKNOWN_ORIGIN, a_name_that_nobody_could_resolve),
    (DoctorCheck.SECRETS, a_secret),
    (DoctorCheck.CONFLICTS, two_that_contradict),
    (DoctorCheck.POLICY_MISMATCH, a_policy_that_vanished),
    (DoctorCheck.CLOCK, a_time_to_come),
    (DoctorCheck.OPEN_SPACE_CONTENT, a_private_life_that_everybody_reads),
]


@pytest.mark.parametrize(("check", "made"), REPORTED, ids=[f.__name__ for _, f in REPORTED])
def test_what_only_its_writers_can_decide_is_told_and_left(
    server: DoctorServer, check: DoctorCheck, made: Callable[[DoctorServer], str]
) -> None:
    id_ = made(server)
    before = server.stored_memories.stored(id_)
    told = server.result(check, repair=True)
    assert id_ in told["sample_ids"]
    assert (told["repairable"], told["repaired"]) == (False, 0)
    assert server.stored_memories.stored(id_) == before
    server.sql("DELETE FROM memories WHERE id = :id", id=id_)


def test_a_check_that_can_mend_a_part_of_what_it_found_says_so(server: DoctorServer) -> None:
    gone = a_policy_that_vanished(server)
    server.puts(retention_policy="ephemeral", expires_at=server.stored_memories.now + DAY)
    told = server.result(DoctorCheck.POLICY_MISMATCH, repair=True)
    assert (told["repairable"], told["count"], told["repaired"]) == (True, 2, 1)
    told = server.result(DoctorCheck.POLICY_MISMATCH, repair=True)
    assert (told["repairable"], told["sample_ids"], told["repaired"]) == (False, [gone], 0)
    server.sql("DELETE FROM memories WHERE id = :id", id=gone)


SECRET = "the API key is sk-abcdefghijklmnopqrstuvwx"


def in_a_record(server: DoctorServer) -> str:
    value = {"nested": [{"note": SECRET}]}
    return server.puts("door", kind=MemoryKind.RECORD, key="door", value=value)


def in_metadata(server: DoctorServer) -> str:
    return server.puts(metadata={"db_password": "hunter2"})


def in_a_tag(server: DoctorServer) -> str:
    return server.puts(tags=(SECRET,))


def in_an_earlier_version(server: DoctorServer) -> str:
    id_ = server.puts(SECRET)
    stored = server.stored_memories.stored(id_)
    server.stored_memories.replaces(stored, replace(stored.memory, content="nothing to see"))
    server.asks(DoctorCheck.INDEX_ROWS, repair=True)
    return id_


def _somebody(server: DoctorServer) -> tuple[Caller, str]:
    """With the one who knows them."""
    ann = server.callers.person("ann")
    made = ann.post("/people", body={"name": f"Jo {new_id()}"})
    return ann, str(made.expect(201)["id"])


def in_a_name(server: DoctorServer) -> str:
    _, id_ = _somebody(server)
    server.sql("UPDATE people SET name = :it WHERE id = :id", it=SECRET, id=id_)
    return id_


def in_what_is_noted_of_a_person(server: DoctorServer) -> str:
    noted = '{"pin": "1234"}'
    _, id_ = _somebody(server)
    server.sql("UPDATE people SET metadata = :it WHERE id = :id", it=noted, id=id_)
    return id_


def in_an_alias(server: DoctorServer) -> str:
    ann, id_ = _somebody(server)
    ann.post("/people/{}/aliases", id_, body={"value": "Jojo"}).expect(201)
    server.sql("UPDATE person_aliases SET value = :it WHERE person_id = :id", it=SECRET, id=id_)
    return id_


def in_a_claim(server: DoctorServer) -> str:
    ann, id_ = _somebody(server)
    ann.post("/people/{}/relationships", id_, body={"relationship": "friend"}).expect(201)
    ask = "UPDATE person_relationships SET relationship = :it WHERE person_id = :id"
    server.sql(ask, it=SECRET, id=id_)
    return id_


def in_a_title(server: DoctorServer) -> str:
    ann = server.callers.person("ann")
    ann.put("/chats/{}", id_ := f"chat-{new_id()}", body={"kind": "group"}).expect(201)
    server.sql("UPDATE named_chats SET title = :it WHERE id = :id", it=SECRET, id=id_)
    return id_


def in_what_is_noted_of_a_run(server: DoctorServer) -> str:
    olga, agent = server.owner()
    id_: str = olga.post("/runs", body={"agent_id": agent}).expect(201)["id"]
    noted = '{"token": {"api_key": "abc1"}}'
    server.sql("UPDATE runs SET metadata = :it WHERE id = :id", it=noted, id=id_)
    return id_


def in_what_an_agent_is_for(server: DoctorServer) -> str:
    _, agent = server.owner()
    server.sql("UPDATE agents SET description = :it WHERE id = :id", it=SECRET, id=agent)
    return agent


HIDING_PLACES: list[Callable[[DoctorServer], str]] = [
    in_a_record,
    in_metadata,
    in_a_tag,
    in_an_earlier_version,
    in_a_name,
    in_what_is_noted_of_a_person,
    in_an_alias,
    in_a_claim,
    in_a_title,
    in_what_is_noted_of_a_run,
    in_what_an_agent_is_for,
]


WITHOUT_WORDS = (
    "DELETE FROM memories",
    "DELETE FROM memory_versions",
    "DELETE FROM person_aliases",
    "DELETE FROM person_relationships",
    "UPDATE people SET name = 'Jo', metadata = '{}'",
    "UPDATE named_chats SET title = NULL",
    "UPDATE runs SET metadata = '{}'",
    "UPDATE agents SET description = ''",
)


@pytest.mark.parametrize("hidden", HIDING_PLACES)
def test_a_secret_is_told_of_wherever_it_was_written(
    server: DoctorServer, hidden: Callable[[DoctorServer], str]
) -> None:
    for statement in WITHOUT_WORDS:
        server.sql(statement)
    id_ = hidden(server)
    told = server.result(DoctorCheck.SECRETS, repair=True)
    assert (told["count"], told["sample_ids"]) == (1, [id_])
    assert (told["repairable"], told["repaired"]) == (False, 0)


def test_what_is_written_in_several_places_of_one_person_is_told_once(server: DoctorServer) -> None:
    for statement in WITHOUT_WORDS:
        server.sql(statement)
    id_ = in_an_alias(server)
    server.sql("UPDATE people SET name = :it WHERE id = :id", it=SECRET, id=id_)
    assert server.result(DoctorCheck.SECRETS)["count"] == 1


def test_an_erasure_that_finds_traces_again_and_again_is_told_of(server: DoctorServer) -> None:
    hour_ago = server.instant(server.stored_memories.now - timedelta(hours=1))
    late = an_erasure(server, status="incomplete", created_at=hour_ago)
    fresh = an_erasure(server, status="incomplete")
    done = an_erasure(server, status="done", created_at=hour_ago)
    for id_ in (late, fresh, done):
        a_job_of(server, id_)
    told = server.result(DoctorCheck.STUCK_JOBS, repair=True)
    assert (told["sample_ids"], told["repaired"]) == ([late], 0)
    assert told["severity"] == "error"
    server.sql("DELETE FROM erasures")
    server.sql("DELETE FROM tasks WHERE task_type = 'erase'")
