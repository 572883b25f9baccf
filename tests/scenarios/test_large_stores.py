"""Many rows: deletes at once, a doctor's visit, the way to another server and back."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recollect.doctor.model import DoctorCheck
from tests.conftest import Host, SoakSize
from tests.hostile.stored import contents
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.portability import exports, imports, of_type
from tests.support.world import new_id

MINE: dict[str, Any] = {"space": {"kind": "user"}}
USERS = 30
CALLERS = 16


@pytest.mark.scenario(32)
def test_of_many_deletes_at_once_each_row_goes_once_and_one_alert_tells(host: Host) -> None:
    with host() as world:
        callers = Callers(world)
        ann = callers.person("ann")
        known = _writes(ann, 300)
        unknown = [new_id() for _ in range(300)]
        mixed = [id_ for pair in zip(known, unknown, strict=True) for id_ in pair]
        with ThreadPoolExecutor(CALLERS) as pool:
            statuses = list(pool.map(lambda id_: ann.delete("/memories/{}", id_).status, mixed))
        assert (statuses[::2], statuses[1::2]) == ([204] * 300, [404] * 300)
        assert ann.lists("/memories", spaces="user") == []
        events = callers.auditor.lists("/events", limit=1000)
        deleted = [one for one in events if one["event_type"] == "memory.delete"]
        assert {one["payload"]["memory_id"] for one in deleted} == set(known)
        assert len(deleted) == 300
        alerts = [one for one in events if one["event_type"] == "alert.mass_deletion"]
        assert len(alerts) == 1
        assert "zanzibar" not in str(events)


@pytest.mark.scenario(34)
def test_a_doctor_and_two_journeys_leave_many_users_memories_as_they_were(
    host: Host, soak_size: SoakSize
) -> None:
    each = soak_size(200, 2_000)
    with host(memory__auto_gc=False) as world, host(memory__auto_gc=False) as other:
        callers = Callers(world)
        for number in range(USERS):
            _writes(callers.person(f"user{number}"), each)
        lost = _loses_words(callers)
        person_of(callers.auditor)
        before = _rows(callers)
        dry = _doctor(callers.auditor)
        assert _rows(callers) == before
        found = {one["name"]: (one["count"], one["repaired"]) for one in dry["checks"]}
        assert (found["index_rows"], dry["ok"]) == ((lost, 0), False)
        mended = _doctor(callers.admin, repair=True)
        repaired = {one["name"]: one["repaired"] for one in mended["checks"]}
        assert repaired["index_rows"] == lost
        again = _doctor(callers.admin, repair=True)
        found = {one["name"]: (one["count"], one["repaired"]) for one in again["checks"]}
        assert found == {str(check): (0, 0) for check in DoctorCheck}
        first = exports(callers.admin, status="all")
        assert len(of_type(first, "memory")) == USERS * each
        report = imports(Callers(other).admin, first)
        assert report["refused"] == []
        assert exports(Callers(other).admin, status="all") == first


def _loses_words(callers: Callers) -> int:
    """One row of three can't be found any more; how many they are."""
    database = callers.world.database
    ids = [id_ for (id_,) in database.rows("SELECT id FROM memories ORDER BY id")][::3]
    listed = ", ".join(f"'{id_}'" for id_ in ids)
    database.rows(f"DELETE FROM memory_index WHERE memory_id IN ({listed})")
    return len(ids)


def _doctor(caller: Caller, **members: Any) -> dict[str, Any]:
    report: dict[str, Any] = caller.post("/admin/doctor", body=members).expect(200)
    return report


def _rows(callers: Callers) -> dict[str, list[str]]:
    """All but the events, which tell that somebody looked."""
    rows = contents(callers.world.database)
    rows.pop("audit_events")
    return rows


def _writes(caller: Caller, count: int) -> list[str]:
    ids: list[str] = []
    for start in range(0, count, 500):
        numbers = range(start, min(start + 500, count))
        items = [{"op": "create", "content": f"zanzibar fact {n}"} | MINE for n in numbers]
        done = caller.post("/memories/batch", body={"items": items}).expect(200)
        ids += [one["id"] for one in done["results"]]
    return ids
