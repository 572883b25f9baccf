"""Histories with a gap, where a memory was removed, and those without a text: what a copy by export
and import has of them."""

from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.portability import MINE, a_line, codes, exports, imports, of_type
from tests.support.world import new_id

HISTORY = "/memories/{}/history"
AT = "2026-01-01T00:00:00Z"
EVERY: dict[str, Any] = {"status": "all", "include_expired": True}


def woven(ann: Caller) -> dict[str, str]:
    """E replaced B and D, B replaced X, X replaced A, D replaced C."""
    ids: dict[str, str] = {}
    for name, olds in (("a", ""), ("c", ""), ("x", "a"), ("b", "x"), ("d", "c"), ("e", "bd")):
        old = [ids[one] for one in olds]
        ids[name] = ann.adds(f"fact {name}", supersedes=old, **MINE)["id"]
    return ids


@pytest.mark.scenario(54)
@pytest.mark.parametrize("compacts", [True, False])
def test_a_copy_has_the_history_below_removed_memories(host: Host, compacts: bool) -> None:
    with host(memory__auto_gc=False) as world, host(memory__auto_gc=False) as other:
        old, new = Callers(world), Callers(other)
        ann = old.person("ann")
        ids = woven(ann)
        if compacts:
            world.clock.advance(days=91)
            old.admin.post("/admin/compact", body={"dry_run": False}).expect(200)
        for name in "bx":
            ann.delete("/memories/{}", ids[name]).expect(204)
        was = ann.lists(HISTORY, ids["e"])
        depths = {item["memory_id"]: item["depth"] for item in was}
        assert [depths[ids[name]] for name in "ebdxca"] == [0, 1, 1, 2, 2, 3]
        first = exports(old.admin, **EVERY)
        other.clock.advance(days=91)
        dry = imports(new.admin, first, dry_run=True)
        report = imports(new.admin, first)
        assert (report["refused"], dry) == ([], report | {"import_id": None})
        assert exports(new.admin, **EVERY) == first
        there = Caller(other.named(ann.name), other)
        assert there.lists(HISTORY, ids["e"]) == was
        taken = there.post("/memories", body={"content": "again", "id": ids["x"]} | MINE)
        assert taken.refused(409, "conflict")["reason"] == "duplicate_id"


def test_an_owner_exports_compacted_memories_and_gaps_as_an_admin_does(callers: Callers) -> None:
    ann = callers.person("ann")
    ids = woven(ann)
    callers.world.clock.advance(days=91)
    callers.admin.post("/admin/compact", body={"dry_run": False}).expect(200)
    ann.delete("/memories/{}", ids["b"]).expect(204)
    named = {"user_id": ann.name} | EVERY
    of_owner, of_admin = exports(ann, **named), exports(callers.admin, **named)
    for type_ in ("memory", "version"):
        assert of_type(of_owner, type_) == of_type(of_admin, type_)
    told = {line["id"]: line["removed"] for line in of_type(of_owner, "memory")}
    assert set(told) == {ids[name] for name in "acxde"}
    (gap,) = told[ids["e"]]
    assert (gap["memory_id"], gap["supersedes"]) == (ids["b"], [ids["x"]])
    assert of_type(exports(ann, user_id=ann.name), "memory")[0]["content"] == "fact e"
    past = exports(ann, **named, as_of=callers.world.clock.now().isoformat())
    assert [line["content"] for line in of_type(past, "memory")] == ["fact e"]


def test_who_wrote_stays_known_to_the_owner_when_the_text_is_gone(callers: Callers) -> None:
    ann = callers.person("ann")
    ids = woven(ann)
    was = {
        (item["memory_id"], item["version"]): item["by"] for item in ann.lists(HISTORY, ids["e"])
    }
    assert set(was.values()) == {ann.name}
    callers.world.clock.advance(days=91)
    callers.admin.post("/admin/compact", body={"dry_run": False}).expect(200)
    now = {(i["memory_id"], i["version"]): i for i in ann.lists(HISTORY, ids["e"])}
    assert {place: now[place]["by"] for place in was} == was
    assert {item.get("content") for item in now.values()} == {"fact e", None}


def test_a_chat_is_not_told_who_wrote_what_it_may_never_have_read(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = new_id()
    ann.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    ann.put("/chats/{}/participants/{}", chat, bob.name, body={"kind": "user"}).expect(200)
    space = {"space": {"kind": "chat", "id": chat}}
    old = ann.adds("a plan", **space)["id"]
    new = ann.adds("another plan", supersedes=[old], **space)["id"]
    callers.world.clock.advance(days=91)
    callers.admin.post("/admin/compact", body={"dry_run": False}).expect(200)
    told = [item["by"] for item in bob.lists(HISTORY, new) if item["memory_id"] == old]
    assert told
    assert set(told) == {None}


def a_gap(memory_id: str, *olds: str) -> dict[str, Any]:
    return {"memory_id": memory_id, "removed_at": AT, "supersedes": list(olds)}


def test_nobody_but_an_admin_tells_what_is_gone(callers: Callers) -> None:
    """Else a line would be shown ids and times of the rows of others."""
    ann, eve = callers.person("ann"), callers.person("eve")
    agent = ann.registers()["id"]
    theirs = ann.adds("The plan.", agent_id=agent, visibility="private")["id"]
    mine, gone = new_id(), new_id()
    line = a_line(id=mine, supersedes=[gone], removed=[a_gap(gone, theirs)])
    assert imports(eve, [line])["created"] == 1
    assert {item["memory_id"] for item in eve.lists(HISTORY, mine)} == {mine}
    ann.adds("A free id.", id=gone, **MINE)


def test_a_gap_where_a_memory_is_there_tells_nothing(callers: Callers) -> None:
    ann = callers.person("ann")
    there, below, mine = ann.adds("Here.", **MINE)["id"], ann.adds("Deep.", **MINE)["id"], new_id()
    space = {"space": {"kind": "user", "id": ann.name}}
    line = a_line(id=mine, supersedes=[there], removed=[a_gap(there, below)]) | space
    assert imports(callers.admin, [line])["created"] == 1
    told = {item["memory_id"]: item["change"] for item in ann.lists(HISTORY, mine)}
    assert told == {mine: "created", there: "created"}


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_gap_closes_no_circle(callers: Callers, dry_run: bool) -> None:
    ann = callers.person("ann")
    space = {"space": {"kind": "user", "id": ann.name}}
    a, b, c, d = (new_id() for _ in range(4))
    lines = [
        a_line("a", id=a, supersedes=[b]) | space,
        a_line("b", id=b, supersedes=[c], removed=[a_gap(c, a)]) | space,
        a_line("b", id=b, supersedes=[c], removed=[a_gap(c, d), a_gap(d, c)]) | space,
        a_line("b", id=b, supersedes=[c], removed=[a_gap(c, d), a_gap(b, d)]) | space,
        a_line("b", id=b, supersedes=[c], removed=[a_gap(c, d)]) | space,
        a_line("d", id=d, supersedes=[a]) | space,
    ]
    told = imports(callers.admin, lines, dry_run=dry_run)
    assert codes(told) == [(line, "validation_error") for line in (2, 3, 4, 6)]
