"""Erasure: ids that name somebody, what others hold of them, and that it always ends."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.erasure.erasure_server import (
    PAUSE_SECONDS,
    WAIT_SECONDS,
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


@pytest.mark.amendment(11)
def test_ids_that_name_somebody_stay_where_a_row_stays_and_the_report_counts_them(
    server: ErasureServer,
) -> None:
    q, p = Caller(server.world.named("zarquonia"), server.world), server.callers.person("p")
    person_of(q)
    agent = q.registers(id="zarquonia-helper")["id"]
    run = {"id": "run-of-zarquonia", "agent_id": agent}
    q.post("/runs", body=run).expect(201)
    chat = group(p, "p.zarquonia", q)
    in_chat(p, chat, "Tea at nine", id="zarquonia:tea")
    report = server.erases(q, user_id=q.name)

    assert (report["status"], found_in(report)) == ("done", {})
    counted = [one for one in report["not_covered"] if one.startswith("ids_of_")]
    assert counted == ["ids_of_agents:1", "ids_of_chats:1", "ids_of_memories:1", "ids_of_runs:1"]
    assert p.get("/chats/{}", chat).expect(200)["id"] == chat
    body = {"identifiers": [q.name]}
    again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(200)
    assert (again["status"], found_in(again)) == ("done", {})
    assert again["not_covered"] == report["not_covered"]


def test_of_rows_that_go_no_id_that_names_somebody_stays(server: ErasureServer) -> None:
    q, p = Caller(server.world.named("zarquonia"), server.world), server.callers.person("p")
    q_id = person_of(q)
    chat = group(p, "g1", q)
    first = in_chat(p, chat, "She swims", id="zarquonia-1", subjects=[q_id])
    in_chat(p, chat, "She dives", id="zarquonia-2", subjects=[q_id], supersedes=[first["id"]])
    q.put("/chats/{}", "diary-of-zarquonia", body={"kind": "private"}).expect(201)
    q.put("/chats/{}/participants/{}", "diary-of-zarquonia", q.name, body={"kind": "user"})
    in_chat(q, "diary-of-zarquonia", "A line")
    key = {"Idempotency-Key": "for zarquonia"}
    note = {"content": "Nothing of hers", "space": {"kind": "user"}}
    p.call("POST", "/memories", body=note, headers=key).expect(201)
    assert server.left_of(("zarquonia",)) == ["zarquonia"]

    report = server.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    assert not any(one.startswith("ids_of_") for one in report["not_covered"])
    assert server.left_of(("zarquonia", q_id)) == []


@pytest.mark.parametrize("flags", [{}, {"encryption.keys": [KEY_A]}], ids=["plain", "sealed"])
def test_what_is_surely_theirs_goes_from_rows_of_others_too(
    opened: Open, flags: dict[str, Any]
) -> None:
    with opened(flags) as server:
        q = Caller(server.world.named("quill@feather.example"), server.world)
        p = server.callers.person("p")
        card = p.post("/people", body={"name": "Q"}).expect(201)
        handle(p, card["id"], q.name)
        q_id = person_of(q)
        p.patch("/people/{}", card["id"], body={"metadata": {"is": q_id}}).expect(200)
        space: dict[str, Any] = {"space": {"kind": "user"}}
        mine = p.adds("Call them", metadata={"who": q_id}, tags=[q_id], **space)
        old = p.adds(f"Mail {q.name}", **space)
        p.patch("/memories/{}", old["id"], body={"content": "Mail nobody"}).expect(200)
        p.put("/chats/{}", "g1", body={"kind": "group", "title": f"on {q_id}"}).expect(201)
        tree = p.user.starts(f"about {q_id}")
        p.user.says(tree, f"{q_id.upper()} is gone")

        report = server.erases(q, user_id=q.name)
        assert (report["status"], found_in(report)) == ("done", {})
        shown = p.get("/memories/{}", mine["id"]).expect(200)
        assert (shown["metadata"], shown["tags"]) == ({"who": "[erased]"}, ["[erased]"])
        history = p.get("/memories/{}/history", old["id"]).expect(200)["data"]
        assert [one["content"] for one in history if one["version"] == 1] == ["Mail [erased]"]
        assert p.get("/people/{}", card["id"]).expect(200)["aliases"] == []
        assert p.user.texts(tree) == ["[erased] is gone"]
        assert server.left_of((q_id, q.name)) == []


def test_who_never_called_is_erased_by_the_handle_that_others_said(server: ErasureServer) -> None:
    p = server.callers.person("p")
    told = {"space": {"kind": "user"}, "subjects": ["@zarquonia"]}
    p.adds("Zarquonia loves pizza", **told)
    report = server.erases(server.callers.admin, user_id="zarquonia")
    assert (report["status"], found_in(report)) == ("done", {})
    assert report["counts"]["memories"] == 1
    assert server.left_of(("zarquonia", "Zarquonia")) == []


def test_who_is_awaited_in_another_org_goes_with_the_user(server: ErasureServer) -> None:
    callers = server.callers
    p = callers.person("p", orgs=("acme",))
    q = Caller(server.world.named("zarquonia"), server.world)
    person_of(q)
    p.adds("She loves pizza", space={"kind": "user"}, subjects=["@zarquonia"])
    report = server.erases(q, user_id=q.name)
    assert (report["status"], found_in(report)) == ("done", {})
    assert server.left_of(("zarquonia", "She loves pizza")) == []


def test_whoever_comes_back_before_the_end_goes_again(opened: Open) -> None:
    with opened(QUIET) as server:
        q = Caller(server.world.named("zarquonia"), server.world)
        q_id = person_of(q)
        erasure_id = server.begins(q, user_id=q.name)
        server.world.database.rows("DELETE FROM person_users")
        fresh = person_of(q)
        assert fresh != q_id
        q.adds("I am back", space={"kind": "user"})
        database = server.world.database

    with opened(database=database) as server:
        report = server.awaits(erasure_id)
        assert (report["status"], found_in(report)) == ("done", {})
        assert server.left_of(("zarquonia", q_id, fresh, "I am back")) == []


def test_what_another_erasure_hides_stays_hidden(opened: Open) -> None:
    with opened(QUIET) as server:
        q, x, p = (server.callers.person(name) for name in ("q", "x", "p"))
        q_id, x_id = named(q, "Quillfeather"), person_of(x)
        chat = group(p, "g1", q, x)
        about = in_chat(p, chat, "X met Quillfeather", subjects=[x_id])
        first = server.begins(q, person_id=q_id)
        server.begins(x, person_id=x_id)
        # Only the first one is worked on.
        late = "UPDATE tasks SET retry_at = :at WHERE task_name <> :name"
        server.world.database.rows(late, at="2100-01-01T00:00:00.000000Z", name=f"erase:{first}")
        database = server.world.database

    with opened(database=database) as server:
        assert server.awaits(first)["status"] == "done"
        p = Caller(server.world.named(p.name), server.world)
        p.get("/memories/{}", about["id"], chat_id=chat).expect(404)
        assert server.left_of(("Quillfeather",)) == []


def test_names_in_reasons_and_in_cards_that_they_wrote_go(server: ErasureServer) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, "Quillfeather")
    card = q.post("/people", body={"name": "Quillfeather's mother"}).expect(201)
    chat = group(p, "g1", q)
    critical = in_chat(p, chat, "The number is 123-45-6789")
    asked = p.patch("/memories/{}", critical["id"], body={"ttl_seconds": 8640000}).expect(202)
    reason = {"justification": "for Quillfeather"}
    server.callers.admin.post("/approvals/{}/approve", asked["approval_id"], body=reason).expect(
        200
    )
    report = server.erases(q, person_id=q_id)
    assert (report["status"], found_in(report)) == ("done", {})
    rows = server.world.database.rows(
        "SELECT name, normal_name FROM people WHERE id = :id", id=card["id"]
    )
    assert rows == [("[erased]'s mother", "[erased]'s mother")]
    assert server.left_of(("Quillfeather",)) == []


def test_a_backup_that_was_cut_off_stops_no_erasure(server: ErasureServer) -> None:
    q = server.callers.person("q")
    q_id = named(q, "Quillfeather")
    server.backups.mkdir(parents=True, exist_ok=True)
    whole = server.backups / "memories-20260101T000000.000000Z-00000000.jsonl"
    cut = server.backups / f"{whole.name}.00000000.part"
    sealed = json.dumps({"type": "sealed", "id": "x", "line": "\x01rc1:nobody"})
    whole.write_text(f'{sealed}\n{{"type": "memory", "id": "kept"}}\n')
    cut.write_text(
        '{"type": "memory", "content": "Quillfea\n{"type": "memory", "content": "Quillfeather'
    )
    report = server.erases(q, person_id=q_id)
    assert (report["status"], found_in(report)) == ("done", {})
    assert not cut.exists()
    assert len(whole.read_text().splitlines()) == 2


def test_an_erasure_that_does_not_end_is_told_once_and_names_nobody(opened: Open) -> None:
    with opened({"log.level": "warning"}) as server, capture_logs() as logged:
        q = server.callers.person("q")
        q_id = named(q, "Quillfeather")
        strange = "INSERT INTO server_state (name, value) VALUES ('strange', :value)"
        server.world.database.rows(strange, value=q_id)
        erasure_id = server.begins(q, person_id=q_id)
        for rounds in (1, 2, 3):
            _await_round(server, erasure_id, rounds)
            server.world.clock.advance(hours=2)
        _await_round(server, erasure_id, 4)
        told = [line for line in logged if "erasure" in line["event"]]
        assert [(one["erasure"], one["stores"]) for one in told] == [(erasure_id, ["server_state"])]
        assert not any(one in str(told) for one in (q.name, q_id, "Quillfeather"))
        body = {"checks": ["stuck_jobs"]}
        checked = server.callers.admin.post("/admin/doctor", body=body).expect(200)
        assert checked["checks"][0]["sample_ids"] == [erasure_id]


def _await_round(server: ErasureServer, erasure_id: str, rounds: int) -> None:
    end, waits = time.monotonic() + WAIT_SECONDS, f'%"rounds":{rounds},%'
    named_so = "task_name = :name AND task_body LIKE :waits"
    while not server.count("tasks", named_so, name=f"erase:{erasure_id}", waits=waits):
        assert time.monotonic() < end
        time.sleep(PAUSE_SECONDS)
