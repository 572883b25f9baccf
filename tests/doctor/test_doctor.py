"""The doctor: who may ask, what a report says, and that a look changes nothing."""

from datetime import timedelta

import pytest

from recollect.doctor.model import SEVERITIES, DoctorCheck
from recollect.kernel.space import Space, SpaceKind
from tests.conftest import SoakSize
from tests.doctor.doctor_server import DoctorServer
from tests.doctor.faults import MENDED
from tests.support.world import new_id


def test_a_look_changes_nothing(server: DoctorServer) -> None:
    for _, broken in MENDED:
        broken(server)
    # Whoever calls for the first time becomes known.
    server.asks(DoctorCheck.CLOCK, by=server.callers.auditor)
    before = server.dump()
    report = server.asks(by=server.callers.auditor)
    assert report["ok"] is False
    assert server.dump() == before


def test_the_report_has_every_check_in_order_and_ends_well(server: DoctorServer) -> None:
    server.asks(repair=True)
    report = server.asks()
    assert [one["name"] for one in report["checks"]] == [str(check) for check in DoctorCheck]
    assert {one["name"]: one["severity"] for one in report["checks"]} == dict(SEVERITIES)
    assert report["ok"] is True
    assert (
        server.asks(DoctorCheck.CLOCK, DoctorCheck.INDEX_ROWS)["checks"][0]["name"] == "index_rows"
    )


def test_an_auditor_looks_and_only_an_admin_mends(server: DoctorServer) -> None:
    callers = server.callers
    callers.person("ann").post("/admin/doctor", body={}).refused(403, "forbidden")
    refused = callers.auditor.post("/admin/doctor", body={"repair": True})
    refused.refused(403, "forbidden")
    server.asks(by=callers.auditor)
    callers.auditor.post("/admin/doctor", body={"checks": ["spelling"]}).refused(
        422, "validation_error"
    )
    callers.auditor.post("/admin/doctor", body={"repairs": True}).refused(422, "validation_error")


def test_a_model_is_not_asked_where_there_is_none(server: DoctorServer) -> None:
    asked = server.callers.admin.post("/admin/doctor", body={"with_model": True})
    asked.refused(422, "validation_error")
    assert asked.body["details"]["violations"][0]["field"] == "with_model"
    server.asks(DoctorCheck.CLOCK, with_model=False)


def test_a_sample_has_ten_ids_at_the_most(server: DoctorServer) -> None:
    ids = server.stored_memories.insert_all(
        [(Space(SpaceKind.USER, f"ann-{new_id()}"), server.stored_memories.now) for _ in range(12)],
        content="words that are in no index",
    )
    found = server.result(DoctorCheck.INDEX_ROWS, repair=True)
    assert found["count"] == found["repaired"] == len(ids)
    assert len(found["sample_ids"]) == 10
    assert set(found["sample_ids"]) < set(ids)


def test_a_repair_tells_of_itself_without_any_text(server: DoctorServer) -> None:
    id_ = server.puts("write to zoe@example.com")
    report = server.asks(DoctorCheck.UNTAGGED_PII, repair=True, justification="spring cleaning")
    assert report["checks"][0]["repaired"] == 1
    ((count, reason, params),) = server.sql(
        "SELECT count, justification, params FROM audit_events"
        " WHERE kind = 'admin_write' AND action = 'doctor' AND justification IS NOT NULL"
    )
    assert (count, reason) == (1, "spring cleaning")
    assert "zoe" not in str(params)
    events = server.callers.auditor.lists("/events", memory_id=id_)
    assert [event["event_type"] for event in events] == ["memory.update"]
    assert "zoe" not in str(events)


@pytest.mark.scenario(34)
def test_after_a_repair_of_many_users_memories_the_next_run_reports_zero(
    server: DoctorServer, soak_size: SoakSize
) -> None:
    server.asks(repair=True)
    now, each = server.stored_memories.now, soak_size(20, 2_000)
    spaces = [Space(SpaceKind.USER, f"ann-{user}") for user in range(30)]
    for number in range(each):
        places = [(space, now - timedelta(minutes=number)) for space in spaces]
        server.stored_memories.insert_all(places, content=f"letter {number} from ann@example.com")
    before = server.dump()
    dry = server.asks()
    assert server.dump() == before
    found = {one["name"]: one["count"] for one in dry["checks"]}
    assert found["index_rows"] == found["untagged_pii"] == 30 * each
    server.asks(repair=True)
    again = server.asks(repair=True)
    assert {one["name"]: (one["count"], one["repaired"]) for one in again["checks"]} == {
        str(check): (0, 0) for check in DoctorCheck
    }
    assert again["ok"] is True
