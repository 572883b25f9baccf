"""What the doctor finds in earlier versions of memories: they are stored, and histories show
them."""

from dataclasses import replace
from typing import Any

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.memories.model import MemoryKind, MemoryStatus, MemoryVersion
from tests.conftest import Host
from tests.doctor.doctor_server import DAY, DoctorServer, a_doctor_server

MAIL = "ann@example.com"
SSN = "219-09-9999"
SECRET = "the API key is sk-abcdefghijklmnopqrstuvwx"
CLEAN: dict[str, Any] = {"content": "nothing to see", "metadata": {}, "tags": ()}


def said(server: DoctorServer, *then: dict[str, Any], **fields: Any) -> str:
    """A memory that was changed since; its id."""
    id_ = server.puts(**fields)
    for changes in then:
        stored = server.stored_memories.stored(id_)
        server.stored_memories.replaces(stored, replace(stored.memory, **changes))
    server.asks(DoctorCheck.INDEX_ROWS, repair=True)
    return id_


def in_public(server: DoctorServer, *contents: str) -> str:
    """A memory that anybody reads, as it was told before and as it is told now."""
    olga, agent = server.owner()
    id_: str = olga.adds(contents[-1], agent_id=agent)["id"]
    for content in contents:
        stored = server.stored_memories.stored(id_)
        server.stored_memories.replaces(stored, replace(stored.memory, content=content))
    return id_


def versions(server: DoctorServer, memory_id: str) -> list[MemoryVersion]:
    stored = server.stored_memories.stored(memory_id)
    read = server.stored_memories.storage.stores.memories.versions
    return list(server.stored_memories.storage.ask(read, [stored.memory.id]))


def mends_once(server: DoctorServer, check: DoctorCheck, memory_id: str) -> None:
    """Finds it without a change, mends it, and finds nothing more."""
    before = server.dump()
    assert server.result(check)["sample_ids"] == [memory_id]
    assert server.dump() == before
    assert server.result(check, repair=True)["repaired"] == 1
    assert server.result(check, repair=True)["count"] == 0


WRITTEN: dict[str, dict[str, Any]] = {
    "content": {"content": f"write to {MAIL}"},
    "metadata": {"content": "a note", "metadata": {"deep": [{"to": MAIL}]}},
    "tags": {"content": "a note", "tags": (MAIL,)},
    "value": {
        "content": f"door {MAIL}",
        "kind": MemoryKind.RECORD,
        "key": "door",
        "value": {"to": MAIL},
    },
}


@pytest.mark.parametrize("field", WRITTEN)
def test_personal_data_of_an_earlier_version_is_tagged_and_shortens_its_life(
    server: DoctorServer, field: str
) -> None:
    server.asks(repair=True)
    now = CLEAN | ({"value": {"to": "nobody"}} if field == "value" else {})
    id_ = said(server, now, **WRITTEN[field])
    mends_once(server, DoctorCheck.UNTAGGED_PII, id_)
    memory = server.stored_memories.stored(id_).memory
    assert memory.pii_tags == ("email",)
    assert memory.expires_at == memory.created_at + 90 * DAY
    first = versions(server, id_)[0].snapshot
    assert first is not None
    assert first["pii_tags"] == ("email",)
    assert first["content"] == WRITTEN[field]["content"]


def test_a_version_without_its_tag_gets_it_though_the_row_has_it(server: DoctorServer) -> None:
    server.asks(repair=True)
    tagged = CLEAN | {"pii_tags": ("email",), "expires_at": server.stored_memories.now + DAY}
    id_ = said(server, tagged, content=f"write to {MAIL}")
    before = server.stored_memories.stored(id_)
    mends_once(server, DoctorCheck.UNTAGGED_PII, id_)
    assert server.stored_memories.stored(id_) == before
    (told,) = (
        e for e in server.stored_memories.events("memory", "update") if e["memory_id"] == id_
    )
    assert (told["fields"], told["pii_tags"]) == (["history"], ["email"])


@pytest.mark.parametrize("then", [f"write to {MAIL}", "nothing to see"])
def test_where_marks_stand_for_it_they_do_so_in_the_history(host: Host, then: str) -> None:
    with host(pii__mode="redact") as world, a_doctor_server(world) as server:
        told = ({"content": then, "metadata": {"to": MAIL}, "tags": (MAIL, "a")}, CLEAN)
        first = {"content": f"first {MAIL}", "metadata": {"cc": MAIL}, "pii_tags": ("email",)}
        id_ = said(server, *told, **first)
        mends_once(server, DoctorCheck.UNTAGGED_PII, id_)
        assert MAIL not in str(server.dump())
        kept = [version.snapshot for version in versions(server, id_)]
        assert kept[0] is not None
        assert kept[0]["content"] == "first [email]"
        assert kept[0]["metadata"] == {"cc": "[email]"}
        assert kept[1] is not None
        assert kept[1]["tags"] == ("[email]", "a")
        assert server.stored_memories.stored(id_).memory.pii_tags == ()


def test_a_text_that_is_replaced_now_is_replaced_in_the_version_that_it_becomes(
    host: Host,
) -> None:
    with host(pii__mode="redact") as world, a_doctor_server(world) as server:
        id_ = server.puts(f"write to {MAIL}")
        mends_once(server, DoctorCheck.UNTAGGED_PII, id_)
        assert server.stored_memories.stored(id_).memory.content == "write to [email]"
        assert MAIL not in str(server.dump())


def test_critical_data_that_anybody_reads_in_a_history_is_set_aside(server: DoctorServer) -> None:
    server.asks(repair=True)
    id_ = in_public(server, f"the number is {SSN}", "the number is at the office")
    eve = server.callers.person("eve")
    told = eve.lists("/memories/{}/history", id_)
    assert SSN in str(told)
    mends_once(server, DoctorCheck.CRITICAL_PII_IN_PUBLIC, id_)
    assert server.stored_memories.stored(id_).memory.status is MemoryStatus.QUARANTINED
    eve.get("/memories/{}/history", id_).refused(404, "not_found")


def test_what_marks_replaced_everywhere_stays_readable(host: Host) -> None:
    with host(pii__mode="redact") as world, a_doctor_server(world) as server:
        id_ = in_public(server, f"the number is {SSN}", "the number is at the office")
        server.asks(repair=True)
        told = server.callers.person("eve").lists("/memories/{}/history", id_)
        assert "[ssn]" in str(told)
        assert SSN not in str(told)


def test_a_version_with_a_secret_is_told_of_and_never_written_again(server: DoctorServer) -> None:
    server.asks(repair=True)
    id_ = said(server, CLEAN, content=f"{SECRET} of {MAIL}")
    before = server.dump()
    report = server.asks(DoctorCheck.SECRETS, DoctorCheck.UNTAGGED_PII, repair=True)
    assert [(one["name"], one["sample_ids"], one["repaired"]) for one in report["checks"]] == [
        ("untagged_pii", [id_], 0),
        ("secrets", [id_], 0),
    ]
    assert "sk-" not in str(report)
    assert server.dump() == before
    server.sql("DELETE FROM memories WHERE id = :id", id=id_)
