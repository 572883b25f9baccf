"""What the doctor finds in earlier versions of memories: they are stored, and histories show
them."""

from dataclasses import replace
from typing import Any

import pytest

from recollect.doctor.model import DoctorCheck
from recollect.memories.model import MemoryKind, MemoryStatus, MemoryVersion
from tests.conftest import Host
from tests.doctor.doctored_server import DAY, Ward, a_ward

MAIL = "ann@example.com"
SSN = "219-09-9999"
SECRET = "the API key is sk-abcdefghijklmnopqrstuvwx"
CLEAN: dict[str, Any] = {"content": "nothing to see", "metadata": {}, "tags": ()}


def said(ward: Ward, *then: dict[str, Any], **fields: Any) -> str:
    """A memory that was changed since; its id."""
    id_ = ward.puts(**fields)
    for changes in then:
        stored = ward.shelf.stored(id_)
        ward.shelf.replaces(stored, replace(stored.memory, **changes))
    ward.asks(DoctorCheck.INDEX_ROWS, repair=True)
    return id_


def in_public(ward: Ward, *contents: str) -> str:
    """A memory that anybody reads, as it was told before and as it is told now."""
    olga, agent = ward.owner()
    id_: str = olga.adds(contents[-1], agent_id=agent)["id"]
    for content in contents:
        stored = ward.shelf.stored(id_)
        ward.shelf.replaces(stored, replace(stored.memory, content=content))
    return id_


def versions(ward: Ward, memory_id: str) -> list[MemoryVersion]:
    stored = ward.shelf.stored(memory_id)
    read = ward.shelf.storage.stores.memories.versions
    return list(ward.shelf.storage.ask(read, [stored.memory.id]))


def mends_once(ward: Ward, check: DoctorCheck, memory_id: str) -> None:
    """Finds it without a change, mends it, and finds nothing more."""
    before = ward.dump()
    assert ward.result(check)["sample_ids"] == [memory_id]
    assert ward.dump() == before
    assert ward.result(check, repair=True)["repaired"] == 1
    assert ward.result(check, repair=True)["count"] == 0


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
    ward: Ward, field: str
) -> None:
    ward.asks(repair=True)
    now = CLEAN | ({"value": {"to": "nobody"}} if field == "value" else {})
    id_ = said(ward, now, **WRITTEN[field])
    mends_once(ward, DoctorCheck.UNTAGGED_PII, id_)
    memory = ward.shelf.stored(id_).memory
    assert memory.pii_tags == ("email",)
    assert memory.expires_at == memory.created_at + 90 * DAY
    first = versions(ward, id_)[0].snapshot
    assert first is not None
    assert first["pii_tags"] == ("email",)
    assert first["content"] == WRITTEN[field]["content"]


def test_a_version_without_its_tag_gets_it_though_the_row_has_it(ward: Ward) -> None:
    ward.asks(repair=True)
    tagged = CLEAN | {"pii_tags": ("email",), "expires_at": ward.shelf.now + DAY}
    id_ = said(ward, tagged, content=f"write to {MAIL}")
    before = ward.shelf.stored(id_)
    mends_once(ward, DoctorCheck.UNTAGGED_PII, id_)
    assert ward.shelf.stored(id_) == before
    (told,) = (e for e in ward.shelf.events("memory", "update") if e["memory_id"] == id_)
    assert (told["fields"], told["pii_tags"]) == (["history"], ["email"])


@pytest.mark.parametrize("then", [f"write to {MAIL}", "nothing to see"])
def test_where_marks_stand_for_it_they_do_so_in_the_history(host: Host, then: str) -> None:
    with host(pii__mode="redact") as world, a_ward(world) as ward:
        told = ({"content": then, "metadata": {"to": MAIL}, "tags": (MAIL, "a")}, CLEAN)
        first = {"content": f"first {MAIL}", "metadata": {"cc": MAIL}, "pii_tags": ("email",)}
        id_ = said(ward, *told, **first)
        mends_once(ward, DoctorCheck.UNTAGGED_PII, id_)
        assert MAIL not in str(ward.dump())
        kept = [version.snapshot for version in versions(ward, id_)]
        assert kept[0] is not None
        assert kept[0]["content"] == "first [email]"
        assert kept[0]["metadata"] == {"cc": "[email]"}
        assert kept[1] is not None
        assert kept[1]["tags"] == ("[email]", "a")
        assert ward.shelf.stored(id_).memory.pii_tags == ()


def test_a_text_that_is_replaced_now_is_replaced_in_the_version_that_it_becomes(
    host: Host,
) -> None:
    with host(pii__mode="redact") as world, a_ward(world) as ward:
        id_ = ward.puts(f"write to {MAIL}")
        mends_once(ward, DoctorCheck.UNTAGGED_PII, id_)
        assert ward.shelf.stored(id_).memory.content == "write to [email]"
        assert MAIL not in str(ward.dump())


def test_critical_data_that_anybody_reads_in_a_history_is_set_aside(ward: Ward) -> None:
    ward.asks(repair=True)
    id_ = in_public(ward, f"the number is {SSN}", "the number is at the office")
    eve = ward.town.person("eve")
    told = eve.lists("/memories/{}/history", id_)
    assert SSN in str(told)
    mends_once(ward, DoctorCheck.CRITICAL_PII_IN_PUBLIC, id_)
    assert ward.shelf.stored(id_).memory.status is MemoryStatus.QUARANTINED
    eve.get("/memories/{}/history", id_).refused(404, "not_found")


def test_what_marks_replaced_everywhere_stays_readable(host: Host) -> None:
    with host(pii__mode="redact") as world, a_ward(world) as ward:
        id_ = in_public(ward, f"the number is {SSN}", "the number is at the office")
        ward.asks(repair=True)
        told = ward.town.person("eve").lists("/memories/{}/history", id_)
        assert "[ssn]" in str(told)
        assert SSN not in str(told)


def test_a_version_with_a_secret_is_told_of_and_never_written_again(ward: Ward) -> None:
    ward.asks(repair=True)
    id_ = said(ward, CLEAN, content=f"{SECRET} of {MAIL}")
    before = ward.dump()
    report = ward.asks(DoctorCheck.SECRETS, DoctorCheck.UNTAGGED_PII, repair=True)
    assert [(one["name"], one["sample_ids"], one["repaired"]) for one in report["checks"]] == [
        ("untagged_pii", [id_], 0),
        ("secrets", [id_], 0),
    ]
    assert "sk-" not in str(report)
    assert ward.dump() == before
    ward.sql("DELETE FROM memories WHERE id = :id", id=id_)
