"""Erasure: what leaves all reads at once, what the job takes out, and what stays."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

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
from tests.support.searching import embedding_flags, settle, settle_memories
from tests.support.servers.embedding import EmbeddingServer

QUIET = {"jobs.embedded_worker": False}


@pytest.fixture
def opened(new_database: Callable[[], TestDatabase], tmp_path: Path) -> Open:
    """Opens servers."""
    return server_opener(new_database, tmp_path)


@pytest.fixture
def server(opened: Open) -> Iterator[ErasureServer]:
    """One in the default setting."""
    with opened() as running:
        yield running


@pytest.mark.scenario(58)
def test_after_an_erasure_no_store_holds_a_trace_and_a_namesake_keeps_the_name(
    opened: Open, embeddings: EmbeddingServer
) -> None:
    with opened(embedding_flags(embeddings)) as server:
        callers = server.callers
        q, p, s, r = (callers.person(name) for name in ("zarquonia", "p", "s", "r"))
        q_id, s_id = named(q, "Quillfeather"), named(s, "Robin")
        person_of(r)
        q.post("/people/{}/aliases", q_id, body={"value": "Robin"}).expect(201)
        handle(q, q_id, "@quilly_handle")
        handle(q, q_id, "quill@feather.example")
        old = q.post("/people", body={"name": "Quillette"}).expect(201)
        merge = {"primary_id": q_id, "secondary_id": old["id"]}
        q.post("/people/merge", body=merge).expect(200)
        chat = group(p, "g1", q, s)
        record: dict[str, Any] = {
            "key": "Quillfeather",
            "value": {"tea": "green"},
            "subjects": [q_id],
        }
        record |= {"space": {"kind": "chat", "id": chat}, "ttl_seconds": 1}
        p.post("/memories", body=record).expect(201)
        server.world.clock.advance(days=9)
        callers.admin.post("/admin/vacuum", body={"dry_run": False}).expect(200)
        about = in_chat(p, chat, "She loves pizza", subjects=[q_id])
        p.patch("/memories/{}", about["id"], body={"content": "She loves pasta"}).expect(200)
        joint = in_chat(p, chat, "They went to Rome", subjects=[q_id, s_id])
        of_merged = in_chat(p, chat, "Has a red bike", subjects=[old["id"]])
        told = in_chat(q, chat, "S likes tea", subjects=[s_id])
        text = "Ask Quillfeather (quill@feather.example, @quilly_handle) for tea"
        mentioned = in_chat(p, chat, text)
        robins = in_chat(s, chat, "Robin sings", subjects=[s_id])
        own = q.adds("My own secret garden", space={"kind": "user"})
        answered = {"content": "Kept answer", "subjects": [q_id], "space": {"kind": "user"}}
        key = {"Idempotency-Key": "one"}
        p.call("POST", "/memories", body=answered, headers=key).expect(201)
        tree = p.user.starts("About Quillfeather")
        p.user.shares(tree, q.user, "writer")
        q.user.says(tree, "hello from the quillish writer")
        p.user.says(tree, "thanks, Quillfeather!")
        lone = q.user.starts("quillish thoughts")
        q.user.says(lone, "only mine, quillishly")
        server.world.database.rows(
            "INSERT INTO tasks (id, task_type, task_body, created_at, retry_at) VALUES "
            "('00000000-0000-7000-8000-000000000009', 'x', :body, :at, :at)",
            body=json.dumps({"subject": q_id, "text": "Quillfeather"}),
            at="2100-01-01T00:00:00.000000Z",
        )
        settle(server.world)
        settle_memories(server.world)

        texts = ("quillfeather", "quillette", "quilly_handle", "quill@feather", "quillish")
        words = ("secret garden", "loves pizza", "loves pasta", "pizza", "bike", "garden")
        traces = (*texts, *words, q.name, q_id, old["id"])
        assert server.left_of(traces) == list(traces)
        assert q_id in "".join(file.read_text() for file in server.backups.glob("*"))

        for members in ({"person_id": q_id}, {"user_id": q.name}):
            r.post("/erasures", body=members | {"dry_run": False}).expect(403)
        planned = q.post("/erasures", body={"person_id": q_id, "dry_run": True}).expect(200)
        assert (planned["status"], planned["checks"]) == ("planned", [])
        q.get("/memories/{}", own["id"]).expect(200)
        report = server.erases(q, person_id=q_id)

        assert found_in(report) == {}
        assert (report["status"], report["joint"]) == ("done", 1)
        assert report["counts"] == planned["counts"]
        assert report["counts"]["people"] == 2
        assert report["counts"]["vectors"] >= 4
        for gone in (about, joint, of_merged):
            p.get("/memories/{}", gone["id"]).expect(404)
        kept = s.get("/memories/{}", told["id"], chat_id=chat).expect(200)
        assert (kept["content"], kept["stated_by"], kept["trust"]) == (
            "S likes tea",
            None,
            "unknown",
        )
        cleaned = p.get("/memories/{}", mentioned["id"], chat_id=chat).expect(200)
        assert cleaned["content"] == "Ask [erased] ([erased], [erased]) for tea"
        same = s.get("/memories/{}", robins["id"], chat_id=chat).expect(200)
        assert same["content"] == "Robin sings"
        assert s.get("/people/{}", s_id).expect(200)["name"] == "Robin"
        assert p.user.texts(tree) == ["[erased]", "thanks, [erased]!"]
        assert p.user.gets(tree)["title"] == "About [erased]"
        p.user.call("get_conversation", lone).expect(404)
        assert [hit["id"] for hit in p.finds("tea", chat_id=chat)] != []
        assert server.left_of(traces) == []
        assert server.count("memory_embeddings") == server.count("memories")
        names = ["Quillfeather", "Robin", "@quilly_handle", "quill@feather.example", q.name, q_id]
        again = q.post("/erasures/{}/verify", report["id"], body={"identifiers": names})
        assert (found_in(again.expect(200)), again.expect(200)["status"]) == ({}, "done")
        assert server.left_of((q.name, q_id)) == []


def test_what_is_linked_leaves_all_reads_before_the_job_runs(opened: Open) -> None:
    with opened(QUIET) as server:
        q, p, s = (server.callers.person(name) for name in ("q", "p", "s"))
        q_id, s_id = person_of(q), person_of(s)
        chat = group(p, "g1", q, s)
        about = in_chat(p, chat, "She loves pizza", subjects=[q_id])
        told = in_chat(q, chat, "S likes tea", subjects=[s_id])
        erasure_id = server.begins(q, user_id=q.name)

        for memory in (about, told):
            p.get("/memories/{}", memory["id"], chat_id=chat).expect(404)
        assert p.finds("pizza tea", chat_id=chat) == []
        p.get("/people/{}", q_id).expect(404)
        q.post("/erasures", body={"user_id": q.name, "dry_run": False}).expect(409)
        database = server.world.database

    with opened(database=database) as server:
        assert server.awaits(erasure_id)["status"] == "done"
        s = Caller(server.world.named(s.name), server.world)
        s.get("/memories/{}", told["id"], chat_id=chat).expect(200)


def test_an_erased_user_leaves_agents_to_themselves_and_trees_to_the_oldest_manager(
    server: ErasureServer,
) -> None:
    callers = server.callers
    q, p, s = (callers.person(name) for name in ("q", "p", "s"))
    person_of(p)
    agent = q.registers(name="Helper")
    private = q.adds("Private note", agent_id=agent["id"], visibility="private")
    public = q.adds("Public note", agent_id=agent["id"])
    tree = q.user.starts("Plans")
    q.user.says(tree, "first")
    for one, level in ((s, "writer"), (p, "manager")):
        q.user.shares(tree, one.user, level)
    q.put("/chats/{}", "alone", body={"kind": "private"}).expect(201)
    q.put("/chats/{}/participants/{}", "alone", q.name, body={"kind": "user"})
    noted = in_chat(q, "alone", "A diary line")

    report = server.erases(callers.admin, user_id=q.name, justification=f"{q.name} asked for it")
    assert (report["status"], found_in(report)) == ("done", {})
    assert report["requested_by_role"] == "admin"
    assert p.get("/agents/{}", agent["id"]).expect(200)["owner_id"] == f"agent:{agent['id']}"
    assert p.get("/memories/{}", public["id"]).expect(200)["content"] == "Public note"
    assert p.user.levels(tree) == {s.name: "writer", p.name: "owner"}
    stays = p.lists("/chats/{}/participants", tree["id"])
    confirmed = {one["user_id"]: one["confirmed_at"] is not None for one in stays}
    assert confirmed == {s.name: False, p.name: True}, "an owner takes part, a member may not yet"
    assert p.user.texts(tree) == ["[erased]"]
    assert server.count("memories", "id IN (:one, :two)", one=private["id"], two=noted["id"]) == 0
    assert server.count("named_chats") == 0
    assert server.left_of((q.name, "diary line", "Private note")) == []


def test_events_of_the_person_get_one_random_id(server: ErasureServer) -> None:
    q = server.callers.person("q")
    q_id = person_of(q)
    q.adds("one", space={"kind": "user"})
    agent = q.registers()
    q.patch("/agents/{}", agent["id"], body={"name": "n"}).expect(200)
    acted = "SELECT id FROM audit_events WHERE actor_user_id = :user"
    before = [row[0] for row in server.world.database.rows(acted, user=q.name)]
    assert len(before) >= 3
    assert server.erases(q, person_id=q_id)["status"] == "done"
    actors = server.world.database.rows("SELECT id, actor_user_id FROM audit_events")
    assert len({actor for id_, actor in actors if id_ in before}) == 1
    assert server.left_of((q.name, q_id)) == []


def test_an_address_that_the_token_vouches_for_goes_everywhere(server: ErasureServer) -> None:
    q = Caller(server.world.named("quill@feather.example"), server.world)
    p = server.callers.person("p")
    person_of(q)
    text = "Write to quill@feather.example, not to a.quill@feather.example"
    note = p.adds(text, space={"kind": "user"})
    tree = p.user.starts("Mail quill@feather.example")
    p.user.says(tree, text)
    report = server.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    left = "Write to [erased], not to a.quill@feather.example"
    assert p.get("/memories/{}", note["id"]).expect(200)["content"] == left
    assert p.user.texts(tree) == [left]
    assert p.user.gets(tree)["title"] == "Mail [erased]"


@pytest.mark.parametrize("index", ["plain", "sealed"])
def test_a_sealed_database_is_cleaned_all_the_same(opened: Open, index: str) -> None:
    with opened({"encryption.keys": [KEY_A], "encryption.index": index}) as server:
        q, p, s = (server.callers.person(name) for name in ("q", "p", "s"))
        q_id = named(q, "Quillfeather")
        s_id = person_of(s)
        chat = group(p, "g1", q, s)
        both = in_chat(p, chat, "They met", subjects=[q_id, s_id])
        p.patch("/memories/{}", both["id"], body={"subjects": [s_id]}).expect(200)
        text = in_chat(p, chat, "Ask Quillfeather")
        tree = p.user.starts("About Quillfeather")
        p.user.shares(tree, q.user, "writer")
        p.user.says(tree, "thanks, Quillfeather!")
        report = server.erases(q, person_id=q_id)
        assert (report["status"], found_in(report)) == ("done", {})
        shown = p.get("/memories/{}", text["id"], chat_id=chat).expect(200)
        assert shown["content"] == "Ask [erased]"
        assert p.user.texts(tree) == ["thanks, [erased]!"]
        history = p.get("/memories/{}/history", both["id"]).expect(200)["data"]
        assert [item["content"] for item in history if item["version"] == 1] == ["[erased]"]


def test_a_user_id_that_is_anothers_name_stays_in_their_rows(server: ErasureServer) -> None:
    q, s = Caller(server.world.named("robin"), server.world), server.callers.person("s")
    p = server.callers.person("p")
    s_id = named(s, "Robin")
    person_of(q)
    chat, alone = group(p, "g1", q, s), group(p, "g2", q)
    sung = in_chat(s, chat, "Robin sings", subjects=[s_id])
    said = in_chat(p, alone, "Robin left")
    report = server.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    assert s.get("/memories/{}", sung["id"], chat_id=chat).expect(200)["content"] == "Robin sings"
    shown = p.get("/memories/{}", said["id"], chat_id=alone).expect(200)
    assert shown["content"] == "[erased] left"
    assert server.count("conversation_memberships", "user_id = 'robin'") == 0
