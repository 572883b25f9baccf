"""Import is no way around the rules: what a line claims is held to what a write could say."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.kernel.clock import to_text
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.portability import (
    MINE,
    ORDER,
    SSN,
    a_line,
    codes,
    exports,
    furnished,
    imports,
    of_type,
)
from tests.support.world import new_id

AT = "2026-01-01T00:00:00Z"
LATER = "2026-02-01T00:00:00Z"


def a_run(agent: str, **members: Any) -> dict[str, Any]:
    run: dict[str, Any] = {"schema": 1, "type": "run", "id": new_id(), "agent_id": agent}
    return run | {"status": "running", "started_at": AT} | members


def a_version(memory_id: str, content: str, **members: Any) -> list[dict[str, Any]]:
    """Lines of an earlier version and of the one after it."""
    snapshot: dict[str, Any] = {"content": content, "type": "knowledge", "sensitivity": "public"}
    snapshot |= {"portable": True, "verified": True, "trust": "unknown", "status": "active"}
    snapshot |= {name: [] for name in ("subjects", "tags", "pii_tags", "supersedes")}
    snapshot |= {name: [] for name in ("conflicts_with", "source_entries", "source_memories")}
    snapshot |= {"metadata": {}, "repeats": 0, "version": 1, "expiry_rule": "none"}
    snapshot |= {"observed_at": AT, "updated_at": AT}
    line: dict[str, Any] = {
        "type": "version",
        "memory_id": memory_id,
        "by": "x",
        "status": "active",
    }
    first = {"version": 1, "change": "created", "at": AT, "until": LATER}
    return [
        line | first | {"snapshot": snapshot | members},
        line | {"version": 2, "change": "updated", "at": LATER},
    ]


def a_changed(space: dict[str, Any], then: str, **members: Any) -> list[dict[str, Any]]:
    """A memory of today with an earlier text."""
    id_ = new_id()
    head = a_line("The kettle is blue.", id=id_, version=2, created_at=AT, space=space)
    return [head | {"updated_at": LATER}, *a_version(id_, then, **members)]


def history(caller: Caller, id_: str) -> list[dict[str, Any]]:
    return caller.lists("/memories/{}/history", id_)


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_run_below_a_strangers_run_is_refused_as_below_an_unknown_one(
    callers: Callers, dry_run: bool
) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    hers, agent = ann.registers()["id"], eve.registers()["id"]
    root = ann.post("/runs", body={"agent_id": hers}).expect(201)["id"]
    lines = [
        a_run(agent, parent_run_id=root, root_run_id=root),
        a_run(agent, parent_run_id=new_id()),
    ]
    report = imports(eve, lines, dry_run=dry_run)
    assert codes(report) == [(1, "not_found"), (2, "not_found")]
    assert ann.get("/runs/{}/lineage", root).expect(200)["descendants"] == []


def test_the_root_of_an_imported_run_follows_from_its_parent(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    foreign = eve.post("/runs", body={"agent_id": eve.registers()["id"]}).expect(201)["id"]
    agent = ann.registers()["id"]
    top = a_run(agent, root_run_id=foreign)
    below = a_run(agent, parent_run_id=top["id"], root_run_id=foreign)
    assert imports(ann, [top, below], dry_run=True)["created"] == 2
    assert imports(ann, [top, below])["created"] == 2
    found = [ann.get("/runs/{}", one["id"]).expect(200) for one in (top, below)]
    assert [run["root_run_id"] for run in found] == [top["id"], top["id"]]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_runs_in_a_circle_are_refused_of_an_admin_too(callers: Callers, size: int) -> None:
    agent = callers.person("ann").registers()["id"]
    runs = [a_run(agent) for _ in range(size)]
    for place, run in enumerate(runs):
        run["parent_run_id"] = runs[place - 1]["id"]
    refused = [(size, "validation_error")]
    assert codes(imports(callers.admin, runs, dry_run=True)) == refused
    assert codes(imports(callers.admin, runs)) == refused


@pytest.mark.parametrize("status", ["active", "superseded", "archived", "expired"])
def test_a_suspicious_text_is_set_aside_whatever_status_its_line_claims(
    callers: Callers, status: str
) -> None:
    ann = callers.person("ann")
    old, new = new_id(), new_id()
    lines = [
        a_line(ORDER, id=old, status=status, superseded_by=new, created_at=AT),
        {"type": "version", "memory_id": old, "version": 1, "change": "created", "at": AT}
        | {"by": ann.name, "status": status},
        a_line("The kettle is blue.", id=new, supersedes=[old], created_at=LATER),
    ]
    assert imports(ann, lines)["refused"] == []
    looks = [{"status": status}, {"valid_at": LATER}, {"as_of": LATER}]
    for look in looks:
        assert old not in [one["id"] for one in ann.lists("/memories", spaces="user", **look)]
        body = {"query": "previous instructions", "spaces": [{"kind": "user"}]} | look
        found = ann.post("/memories/search", body=body).expect(200)["data"]
        assert old not in [one["id"] for one in found]
    rollback = {"source": {"memory_id": new}, "dry_run": False}
    undone = ann.post("/rollbacks", body=rollback).expect(200)
    assert undone["restored"] == 0
    ann.get("/memories/{}", old).refused(404, "not_found")
    ann.post("/rollbacks/{}/undo", undone["id"]).expect(200)
    ann.get("/memories/{}", old).refused(404, "not_found")
    assert old in [one["id"] for one in ann.lists("/quarantine")]


def test_only_an_admin_brings_a_released_text(callers: Callers) -> None:
    ann = callers.person("ann")
    space = {"kind": "user", "id": ann.name}
    told = {"suspicion": 1.0, "suspicion_reasons": ["orders"], "space": space}
    mine, given, unsaid = (new_id() for _ in range(3))
    imports(ann, [a_line(ORDER, id=mine, **told)])
    imports(callers.admin, [a_line(ORDER, id=given, **told), a_line(ORDER, id=unsaid, space=space)])
    ann.get("/memories/{}", mine).refused(404, "not_found")
    ann.get("/memories/{}", unsaid).refused(404, "not_found")
    assert ann.get("/memories/{}", given).expect(200)["status"] == "active"


def test_an_earlier_text_with_critical_data_is_refused_where_anybody_reads(
    callers: Callers,
) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    lines = a_changed({"kind": "agent_public", "id": ann.registers()["id"]}, f"It is {SSN}.")
    dry = imports(ann, lines, dry_run=True)
    report = imports(ann, lines)
    assert codes(report) == codes(dry) == [(2, "pii_not_allowed")]
    assert report["created"] == 2
    assert SSN not in str(history(eve, lines[0]["id"]))
    assert SSN not in callers.world.database.stored_text()


def test_an_earlier_private_text_is_refused_where_anybody_reads(callers: Callers) -> None:
    ann = callers.person("ann")
    space = {"kind": "agent_public", "id": ann.registers()["id"]}
    lines = a_changed(space, "I am ill.", sensitivity="sensitive")
    assert codes(imports(ann, lines)) == [(2, "sensitivity_not_allowed")]


def test_an_earlier_text_with_personal_data_is_tagged_and_capped_with_its_memory(
    callers: Callers,
) -> None:
    ann, now = callers.person("ann"), callers.world.clock.now()
    made, changed, ends = (to_text(now + timedelta(days=days)) for days in (-10, -1, 20))
    head, first, last = a_changed({"kind": "user"}, f"It is {SSN}.")
    head |= {"created_at": made, "updated_at": changed}
    lines = [head, first | {"at": made, "until": changed}, last | {"at": changed}]
    assert imports(ann, lines)["created"] == 3
    then = ann.get("/memories/{}", head["id"], as_of=made).expect(200)
    assert (then["content"], then["pii_tags"]) == (f"It is {SSN}.", ["ssn"])
    today = ann.get("/memories/{}", head["id"]).expect(200)
    assert (today["content"], today["pii_tags"]) == (head["content"], ["ssn"])
    assert (today["expires_at"], today["expiry_rule"]) == (ends, "pii:critical")


def test_a_memory_with_a_suspicious_past_is_set_aside(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    space = {"kind": "agent_public", "id": ann.registers()["id"]}
    lines = a_changed(space, ORDER)
    id_ = lines[0]["id"]
    assert imports(ann, lines)["created"] == 3
    for caller in (ann, eve):
        caller.get("/memories/{}", id_).refused(404, "not_found")
        caller.get("/memories/{}", id_, as_of=AT).refused(404, "not_found")
        caller.get("/memories/{}/history", id_).refused(404, "not_found")
    assert [one["id"] for one in ann.lists("/quarantine")] == [id_]


def test_an_earlier_text_of_a_record_is_what_its_value_says(callers: Callers) -> None:
    ann = callers.person("ann")
    head, first, last = a_changed({"kind": "user"}, f"It is {SSN}.", value={"theme": "dark"})
    record = head | {"content": None, "key": "settings", "value": {"theme": "light"}}
    record |= {"expires_at": "2099-01-01T00:00:00Z"}
    assert imports(ann, [record, first, last])["created"] == 3
    told = {item["version"]: item["content"] for item in history(ann, head["id"])}
    assert told == {1: "settings theme dark", 2: "settings theme light"}
    assert codes(imports(ann, a_changed({"kind": "user"}, "x", value={"a": 1}))) == [
        (2, "validation_error")
    ]


@pytest.mark.parametrize("early", [True, False])
def test_a_history_tells_nothing_of_strangers_memories_that_a_line_names(
    callers: Callers, early: bool
) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    agent = ann.registers()["id"]
    theirs, mine = new_id(), new_id()

    def written() -> None:
        ann.adds("The plan.", id=theirs, agent_id=agent, visibility="private")

    def brought() -> None:
        assert imports(eve, [a_line(id=mine, supersedes=[theirs])])["created"] == 1

    for step in (brought, written) if early else (written, brought):
        step()
    assert {item["memory_id"] for item in history(eve, mine)} == {mine}
    ann.delete("/memories/{}", theirs).expect(204)
    assert {item["memory_id"] for item in history(eve, mine)} == {mine}


def test_a_line_names_only_rows_that_its_importer_could_name_in_a_write(callers: Callers) -> None:
    """A hidden row is named as one that isn't there is, and leads nowhere either."""
    ann, eve = callers.person("ann"), callers.person("eve")
    agent, hers = ann.registers()["id"], eve.registers()["id"]
    run = ann.post("/runs", body={"agent_id": agent}).expect(201)["id"]
    private = ann.adds("The plan.", agent_id=agent, visibility="private")["id"]
    public = ann.adds("Open at nine.", agent_id=agent)["id"]
    elsewhere = eve.adds("Her own.", agent_id=hers)["id"]
    own = eve.adds("Mine.", **MINE)["id"]
    everybody = [private, public, elsewhere, own]
    id_ = new_id()
    line = a_line(id=id_, supersedes=everybody, superseded_by=None, conflicts_with=everybody)
    line |= {"source_memories": everybody, "source_entries": [new_id()], "source": "extraction"}
    line |= {"run_id": run, "parent_run_id": run, "source_agent": "nobody", "trust": "fact"}
    assert imports(eve, [line])["created"] == 1
    memory = eve.get("/memories/{}", id_).expect(200)
    assert memory["supersedes"] == [private, own]
    assert {item["memory_id"] for item in history(eve, id_)} == {id_, own}
    assert sorted(memory["conflicts_with"]) == sorted([elsewhere, own])
    assert memory["source_memories"] == everybody
    told = ("source_entries", "source", "run_id", "parent_run_id", "source_agent", "trust")
    assert [memory[name] for name in told] == [[], "import", None, None, None, "unknown"]
    later = new_id()
    imports(eve, [a_line("Old.", id=later, status="superseded", superseded_by=private)])
    (old,) = eve.lists("/memories", spaces="user", status="superseded")
    assert (old["id"], old["superseded_by"]) == (later, private)
    assert {item["memory_id"] for item in history(eve, later)} == {later}


def test_a_removed_agent_opens_no_org_but_the_importers(callers: Callers) -> None:
    eve = callers.person("eve")
    agent = eve.registers()["id"]
    eve.adds("Kept.", agent_id=agent)
    eve.delete("/agents/{}", agent, memories="archive").expect(204)
    line = a_line(agent_id=agent, space={"kind": "org", "id": "another-org"})
    assert codes(imports(eve, [line])) == [(1, "validation_error")]


@pytest.mark.parametrize("status", ["all", "active"])
def test_what_an_owner_takes_away_and_brings_back_is_what_it_was(
    callers: Callers, status: str
) -> None:
    ann, _ = furnished(callers)
    agent = ann.registers()["id"]
    moving = ann.adds("Moved.", agent_id=agent, visibility="private")
    ann.post("/memories/{}/move", moving["id"], body={"visibility": "public"}).expect(201)
    for query in ({"spaces": "user"}, {"agent_id": agent}):
        first = exports(ann, status=status, **query)
        memories = of_type(first, "memory")
        assert any(line["supersedes"] or line["source_memories"] for line in memories)
        for line in memories:
            ann.delete("/memories/{}", line["id"]).expect(204)
        assert imports(ann, first)["refused"] == []
        assert exports(ann, status=status, **query) == first


@pytest.mark.amendment(2)
def test_an_import_confirms_nobody_whom_the_importer_may_not(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    # Whose id is shown to those in a common chat is known to the server.
    person_of(bob)
    trusted = replace(ann, user=ann.user.with_key("trusted"))
    for importer, expected in ((ann, {ann.name}), (trusted, {ann.name, bob.name})):
        chat_id = new_id()
        chat = {"schema": 1, "type": "chat", "id": chat_id, "kind": "group", "created_at": AT}
        stay = {"type": "participant", "chat_id": chat_id, "kind": "user", "joined_at": AT}
        lines = [chat | {"created_by": ann.name}] + [
            stay | {"member_id": one.name, "confirmed_at": LATER} for one in (ann, bob)
        ]
        assert imports(importer, lines)["created"] == 3
        stays = ann.lists("/chats/{}/participants", chat_id)
        assert {one["user_id"] for one in stays if one["confirmed_at"]} == expected


def test_a_relation_leads_to_nothing_of_others(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    hers, mine = person_of(ann), person_of(eve)
    ann.adds("I live in Zanzibar", **MINE)
    (edge,) = ann.get("/graph/entities/{}", hers).expect(200)["relations"]
    note, at = new_id(), "2026-01-01T00:00:00Z"
    relation = {"type": "relation", "relation": "likes", "memory_id": note, "recorded_at": at}
    town = {"id": hers, "kind": "place", "name": "Nowhere"}
    ends: list[dict[str, Any]] = [
        {"from_id": mine, "to_id": edge["to_id"]},
        {"from_id": edge["to_id"], "to_id": mine},
        {"from_id": mine, "to_id": hers, "things": [town]},
    ]
    lines = [a_line("A note", id=note, subjects=[mine])]
    lines += [relation | {"id": new_id()} | one for one in ends]
    report = imports(eve, lines)
    assert (report["created"], report["skipped"], report["refused"]) == (2, 2, [])
    drawn = eve.get("/graph/entities/{}", mine).expect(200)
    assert [one["name"] for one in drawn["entities"]] == ["Nowhere"]
    assert "Zanzibar" not in str(eve.lists("/graph/entities"))
    path = {"from": mine, "to": edge["to_id"]}
    assert eve.get("/graph/path", **path).expect(200)["relations"] == []
    entity = ann.get("/graph/entities/{}", hers).expect(200)["entity"]
    assert (entity["kind"], entity["name"]) == ("person", ann.name)
