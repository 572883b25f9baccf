"""Erasure: what others hold is theirs still, whole, and the same after a move to another store."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.kernel.clock import to_text
from tests.erasure.erasure_server import (
    ErasureServer,
    Open,
    found_in,
    group,
    handle,
    in_chat,
    named,
    server_opener,
)
from tests.support.encryption import KEY_A
from tests.support.engines import TestDatabase
from tests.support.memory.callers import Caller
from tests.support.memory.people import person_of
from tests.support.memory.portability import exports, imports, of_type

NAME = "Zebulonix"


@pytest.fixture
def opened(new_database: Callable[[], TestDatabase], tmp_path: Path) -> Open:
    """Opens servers."""
    return server_opener(new_database, tmp_path)


@pytest.fixture
def server(opened: Open) -> Iterator[ErasureServer]:
    """One in the default setting."""
    with opened() as running:
        yield running


def _reads(caller: Caller, memory_id: str, chat: str) -> dict[str, Any]:
    shown: dict[str, Any] = caller.get("/memories/{}", memory_id, chat_id=chat).expect(200)
    return shown


def test_members_whose_names_become_one_all_stay_and_the_text_shows_them(
    server: ErasureServer,
) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, NAME)
    q.post("/people/{}/aliases", q_id, body={"value": "launch"}).expect(201)
    chat = group(p, "g1", q)
    value = {NAME: {"a": 1}, "launch": "x", "[erased]": "old", "who": NAME}
    marks = {NAME: 1, NAME.upper(): 2, "k": [NAME]}
    space = {"kind": "chat", "id": chat}
    body = {"key": f"{NAME}-key", "value": value, "metadata": marks, "space": space}
    record = p.post("/memories", body=body).expect(201)["memory"]
    path = ("/memories/{}", record["id"])
    p.patch(*path, body={"value": {**value, "who": "me"}}).expect(200)
    report = server.erases(q, person_id=q_id)

    assert (report["status"], found_in(report)) == ("done", {})
    shown = _reads(p, record["id"], chat)
    cleaned = {"[erased] 2": {"a": 1}, "[erased] 3": "x", "[erased]": "old", "who": "me"}
    assert (shown["key"], shown["value"]) == ("[erased]-key", cleaned)
    assert shown["metadata"] == {"[erased]": 1, "[erased] 2": 2, "k": ["[erased]"]}
    text = "[erased]-key [erased] 2 a 1 [erased] 3 x [erased] old who"
    assert shown["content"] == f"{text} me"
    history = p.get("/memories/{}/history", record["id"]).expect(200)["data"]
    first = next(one for one in history if one["version"] == 1)
    assert first["value"] == cleaned | {"who": "[erased]"}
    assert first["content"] == f"{text} [erased]"
    assert [hit["id"] for hit in p.finds("old", chat_id=chat)] == [record["id"]]


def test_what_an_erasure_left_moves_to_another_store_as_it_is(opened: Open) -> None:
    with opened() as old, opened() as new:
        q, p = old.callers.person("q"), old.callers.person("p")
        q_id, p_id = named(q, NAME), person_of(p)
        chat = group(p, "g1", q)
        space: dict[str, Any] = {"space": {"kind": "chat", "id": chat}}
        # Who speaks takes part, and only then a bare name means them.
        in_chat(q, chat, f"P likes tea, says {NAME}", subjects=[p_id])
        hidden = p.adds(f"Zebu\u200blonix knows {NAME}'s door", **space)
        p.adds(f"I work at {NAME} Mills.", subjects=[p_id], **space)
        p.adds("Two are named", subjects=[NAME, NAME.upper()], tags=[NAME, "hall"], **space)
        record = {"key": NAME, "value": {NAME: 1, NAME.lower(): {"with": NAME}}}
        held = p.post("/memories", body=record | space).expect(201)["memory"]
        p.patch("/memories/{}", held["id"], body={"value": {NAME: 2, "launch": [NAME]}}).expect(200)
        said = [{"role": "user", "content": f"hi {NAME}", "name": NAME}]
        p.post("/memories", body={"messages": said} | space).expect(201)
        assert NAME in str(of_type(exports(old.callers.admin), "relation"))
        before = _kept_beside(old, hidden["id"])
        report = old.erases(q, person_id=q_id)
        assert (report["status"], found_in(report)) == ("done", {})

        first = exports(old.callers.admin, status="all", include_expired=True)
        assert NAME.lower() not in first.lower()
        assert before > _kept_beside(old, hidden["id"]) == 0
        assert imports(new.callers.admin, first)["refused"] == []
        assert exports(new.callers.admin, status="all", include_expired=True) == first


def _kept_beside(server: ErasureServer, memory_id: str) -> float:
    """The suspicion against a memory."""
    query = "SELECT suspicion FROM memories WHERE id = :id"
    return float(server.world.database.rows(query, id=memory_id)[0][0])


def test_a_group_in_which_somebody_else_was_stays_though_they_left(server: ErasureServer) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, NAME)
    chat = group(q, "mill", p)
    theirs = in_chat(p, chat, f"The mill closes in May, {NAME}")
    diary = p.adds("I keep a mill diary", space={"kind": "user"}, chat_id=chat)
    in_chat(q, chat, "I sold the mill", subjects=[q_id])
    p.delete("/chats/{}/participants/{}", chat, p.name).expect(204)
    alone = group(q, "alone")
    in_chat(q, alone, "A line of nobody else")
    report = server.erases(q, user_id=q.name)

    assert (report["status"], found_in(report)) == ("done", {})
    assert report["counts"]["chats"] == 1
    lines = {one["id"]: one for one in of_type(exports(server.callers.admin), "memory")}
    assert lines.keys() == {theirs["id"], diary["id"]}
    assert lines[theirs["id"]]["content"] == "The mill closes in May, [erased]"
    assert lines[diary["id"]]["learned_in"] == chat
    chats = [one["id"] for one in of_type(exports(server.callers.admin), "chat")]
    assert chats == [chat]
    assert server.left_of((NAME, q.name, q_id)) == []


def test_ids_that_hold_a_name_or_a_handle_are_counted_and_verified(server: ErasureServer) -> None:
    q, p = server.callers.person("q@x.example"), server.callers.person("p")
    q_id = named(q, NAME)
    handle(q, q_id, "zebhandle77")
    agent = q.registers(id=f"{NAME}-bot", name=f"{NAME} helper")["id"]
    q.post("/runs", body={"id": f"run-{NAME}", "agent_id": agent}).expect(201)
    chat = group(p, f"chat-{NAME}", q)
    in_chat(p, group(p, "g1", q), "Hall note", id=f"zm-{NAME}")
    in_chat(p, chat, "Other note", id="of-zebhandle77")
    report = server.erases(q, user_id=q.name)

    assert (report["status"], found_in(report)) == ("done", {})
    counted = [one for one in report["not_covered"] if one.startswith("ids_of_")]
    assert counted == ["ids_of_agents:1", "ids_of_chats:1", "ids_of_memories:2", "ids_of_runs:1"]
    body = {"identifiers": [NAME, "zebhandle77", q.name]}
    again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(200)
    assert again["status"] == "done"
    assert again["not_covered"] == report["not_covered"]


def test_what_was_removed_before_leaves_no_id_that_names_somebody(server: ErasureServer) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, NAME)
    chat = group(p, "g1", q)
    own = q.adds("A note", id=f"own-{NAME}", space={"kind": "user"})
    said = in_chat(p, chat, "A line", id=f"line-{NAME}")
    bot = q.registers(id=f"{NAME}-bot")["id"]
    q.post("/runs", body={"id": f"run-{NAME}", "agent_id": bot}).expect(201)
    q.adds("A step", scope="session", run_id=f"run-{NAME}", agent_id=bot, id=f"step-{NAME}")
    q.delete("/agents/{}", bot, memories="delete").expect(204)
    q.delete("/memories/{}", own["id"]).expect(204)
    p.delete("/memories/{}", said["id"]).expect(204)
    report = server.erases(q, person_id=q_id)

    assert (report["status"], found_in(report)) == ("done", {})
    assert server.left_of((NAME,)) == []


def test_the_log_keeps_an_id_that_bears_the_name_of_somebody_else_too(
    server: ErasureServer,
) -> None:
    q, s = server.callers.person("q"), server.callers.person("s")
    q_id = named(q, "Robin")
    named(s, "Robin")
    chat = group(s, "g1", q)
    note = in_chat(s, chat, "A line", id="robin-1")
    s.delete("/memories/{}", note["id"]).expect(204)
    report = server.erases(q, person_id=q_id)

    assert (report["status"], found_in(report)) == ("done", {})
    assert server.count("audit_events", "memory_id = :id", id="robin-1") > 0


@pytest.mark.parametrize("flags", [{}, {"encryption.keys": [KEY_A]}], ids=["plain", "sealed"])
def test_words_that_others_replaced_are_nobodys_once_who_said_them_is_erased(
    opened: Open, flags: dict[str, Any]
) -> None:
    with opened(flags) as server:
        p, q, r = (server.callers.person(name) for name in "pqr")
        p_id, q_id, r_id = (person_of(one) for one in (p, q, r))
        chat = group(p, "g1", q, r)
        memory = in_chat(p, chat, "Tea is at four")
        instants = [server.world.clock.now()]
        for caller, content in ((q, "Tea is at five"), (r, "Tea is at six")):
            server.world.clock.advance(seconds=1)
            caller.patch("/memories/{}", memory["id"], body={"content": content}).expect(200)
            instants.append(server.world.clock.now())
        report = server.erases(q, person_id=q_id)
        assert (report["status"], found_in(report)) == ("done", {})
        said = [
            r.get("/memories/{}", memory["id"], as_of=to_text(at)).expect(200) for at in instants
        ]
        assert [one["stated_by"] for one in said] == [p_id, None, r_id]
        assert [one["trust"] for one in said] == ["fact", "unknown", "fact"]
        if not flags:
            assert server.left_of((q_id,)) == []
