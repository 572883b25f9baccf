"""What the doctor only tells of, and leaves to those whose it is."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.kernel.ids import MemoryId
from recollect.memories.model import MemoryKind, MemoryOrigin
from tests.doctor.doctored_server import DAY, Ward
from tests.doctor.faults import a_job_of, an_erasure
from tests.support.memory.callers import Asker
from tests.support.world import new_id


def an_origin_that_nobody_knows(ward: Ward) -> str:
    return ward.puts(origin=MemoryOrigin.UNKNOWN)


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


REPORTED: list[tuple[DoctorCheck, Callable[[Ward], str]]] = [
    (DoctorCheck.UNKNOWN_ORIGIN, an_origin_that_nobody_knows),
    (DoctorCheck.UNKNOWN_ORIGIN, a_name_that_nobody_could_resolve),
    (DoctorCheck.SECRETS, a_secret),
    (DoctorCheck.CONFLICTS, two_that_contradict),
    (DoctorCheck.POLICY_MISMATCH, a_policy_that_vanished),
    (DoctorCheck.CLOCK, a_time_to_come),
]


@pytest.mark.parametrize(("check", "made"), REPORTED, ids=[f.__name__ for _, f in REPORTED])
def test_what_only_its_writers_can_decide_is_told_and_left(
    ward: Ward, check: DoctorCheck, made: Callable[[Ward], str]
) -> None:
    id_ = made(ward)
    before = ward.shelf.stored(id_)
    told = ward.result(check, repair=True)
    assert id_ in told["sample_ids"]
    assert (told["repairable"], told["repaired"]) == (False, 0)
    assert ward.shelf.stored(id_) == before
    ward.sql("DELETE FROM memories WHERE id = :id", id=id_)


def test_a_check_that_can_mend_a_part_of_what_it_found_says_so(ward: Ward) -> None:
    gone = a_policy_that_vanished(ward)
    ward.puts(retention_policy="ephemeral", expires_at=ward.shelf.now + DAY)
    told = ward.result(DoctorCheck.POLICY_MISMATCH, repair=True)
    assert (told["repairable"], told["count"], told["repaired"]) == (True, 2, 1)
    told = ward.result(DoctorCheck.POLICY_MISMATCH, repair=True)
    assert (told["repairable"], told["sample_ids"], told["repaired"]) == (False, [gone], 0)
    ward.sql("DELETE FROM memories WHERE id = :id", id=gone)


SECRET = "the API key is sk-abcdefghijklmnopqrstuvwx"


def in_a_record(ward: Ward) -> str:
    value = {"nested": [{"note": SECRET}]}
    return ward.puts("door", kind=MemoryKind.RECORD, key="door", value=value)


def in_metadata(ward: Ward) -> str:
    return ward.puts(metadata={"db_password": "hunter2"})


def in_a_tag(ward: Ward) -> str:
    return ward.puts(tags=(SECRET,))


def in_an_earlier_version(ward: Ward) -> str:
    id_ = ward.puts(SECRET)
    stored = ward.shelf.stored(id_)
    ward.shelf.replaces(stored, replace(stored.memory, content="nothing to see"))
    ward.asks(DoctorCheck.INDEX_ROWS, repair=True)
    return id_


def _somebody(ward: Ward) -> tuple[Asker, str]:
    """With the one who knows them."""
    ann = ward.town.person("ann")
    made = ann.post("/people", body={"name": f"Jo {new_id()}"})
    return ann, str(made.expect(201)["id"])


def in_a_name(ward: Ward) -> str:
    _, id_ = _somebody(ward)
    ward.sql("UPDATE people SET name = :it WHERE id = :id", it=SECRET, id=id_)
    return id_


def in_what_is_noted_of_a_person(ward: Ward) -> str:
    noted = '{"pin": "1234"}'
    _, id_ = _somebody(ward)
    ward.sql("UPDATE people SET metadata = :it WHERE id = :id", it=noted, id=id_)
    return id_


def in_an_alias(ward: Ward) -> str:
    ann, id_ = _somebody(ward)
    ann.post("/people/{}/aliases", id_, body={"value": "Jojo"}).expect(201)
    ward.sql("UPDATE person_aliases SET value = :it WHERE person_id = :id", it=SECRET, id=id_)
    return id_


def in_a_claim(ward: Ward) -> str:
    ann, id_ = _somebody(ward)
    ann.post("/people/{}/relationships", id_, body={"relationship": "friend"}).expect(201)
    ask = "UPDATE person_relationships SET relationship = :it WHERE person_id = :id"
    ward.sql(ask, it=SECRET, id=id_)
    return id_


def in_a_title(ward: Ward) -> str:
    ann = ward.town.person("ann")
    ann.put("/chats/{}", id_ := f"chat-{new_id()}", body={"kind": "group"}).expect(201)
    ward.sql("UPDATE named_chats SET title = :it WHERE id = :id", it=SECRET, id=id_)
    return id_


def in_what_is_noted_of_a_run(ward: Ward) -> str:
    olga, agent = ward.owner()
    id_: str = olga.post("/runs", body={"agent_id": agent}).expect(201)["id"]
    noted = '{"token": {"api_key": "abc1"}}'
    ward.sql("UPDATE runs SET metadata = :it WHERE id = :id", it=noted, id=id_)
    return id_


def in_what_an_agent_is_for(ward: Ward) -> str:
    _, agent = ward.owner()
    ward.sql("UPDATE agents SET description = :it WHERE id = :id", it=SECRET, id=agent)
    return agent


HIDING_PLACES: list[Callable[[Ward], str]] = [
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
    ward: Ward, hidden: Callable[[Ward], str]
) -> None:
    for statement in WITHOUT_WORDS:
        ward.sql(statement)
    id_ = hidden(ward)
    told = ward.result(DoctorCheck.SECRETS, repair=True)
    assert (told["count"], told["sample_ids"]) == (1, [id_])
    assert (told["repairable"], told["repaired"]) == (False, 0)


def test_what_is_written_in_several_places_of_one_person_is_told_once(ward: Ward) -> None:
    for statement in WITHOUT_WORDS:
        ward.sql(statement)
    id_ = in_an_alias(ward)
    ward.sql("UPDATE people SET name = :it WHERE id = :id", it=SECRET, id=id_)
    assert ward.result(DoctorCheck.SECRETS)["count"] == 1


def test_an_erasure_that_finds_traces_again_and_again_is_told_of(ward: Ward) -> None:
    hour_ago = ward.instant(ward.shelf.now - timedelta(hours=1))
    late = an_erasure(ward, status="incomplete", created_at=hour_ago)
    fresh = an_erasure(ward, status="incomplete")
    done = an_erasure(ward, status="done", created_at=hour_ago)
    for id_ in (late, fresh, done):
        a_job_of(ward, id_)
    told = ward.result(DoctorCheck.STUCK_JOBS, repair=True)
    assert (told["sample_ids"], told["repaired"]) == ([late], 0)
    assert told["severity"] == "error"
    ward.sql("DELETE FROM erasures")
    ward.sql("DELETE FROM tasks WHERE task_type = 'erase'")
