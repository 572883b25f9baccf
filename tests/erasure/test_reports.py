"""Erasure: who may ask for it, what its report says, and how it is verified."""

import hmac
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from recollect.erasure.service import has_blocked_handle
from tests.erasure.erasure_server import (
    KEY,
    ErasureServer,
    Open,
    found_in,
    group,
    handle,
    in_chat,
    named,
    server_opener,
)
from tests.support.engines import TestDatabase
from tests.support.memory.people import person_of
from tests.support.memory.store import open_stored_memories


@pytest.fixture
def opened(new_database: Callable[[], TestDatabase], tmp_path: Path) -> Open:
    """Opens servers."""
    return server_opener(new_database, tmp_path)


@pytest.fixture
def server(opened: Open) -> Iterator[ErasureServer]:
    """One in the default setting."""
    with opened() as running:
        yield running


def test_only_the_user_and_admins_erase_and_read_reports(server: ErasureServer) -> None:
    callers = server.callers
    q, r = callers.person("q"), callers.person("r")
    other = callers.person("x", orgs=("elsewhere",))
    q_id = person_of(q)
    made = r.post("/people", body={"name": "Nobody's user"}).expect(201)

    r.post("/erasures", body={"person_id": made["id"], "dry_run": True}).expect(403)
    other.post("/erasures", body={"person_id": q_id, "dry_run": True}).expect(404)
    other.post("/erasures", body={"user_id": "nobody", "dry_run": True}).expect(403)
    callers.admin.post("/erasures", body={"user_id": "nobody", "dry_run": True}).expect(404)
    callers.admin.post("/erasures", body={"person_id": "nobody", "dry_run": True}).expect(404)
    denied = server.count("audit_events", "kind = 'memory' AND action = 'denied'")
    assert denied == 2

    unlinked = server.erases(callers.admin, person_id=made["id"])
    assert unlinked["counts"]["people"] == 1
    r.get("/people/{}", made["id"]).expect(404)
    report = server.erases(q, user_id=q.name)
    r.get("/erasures/{}", report["id"]).expect(404)
    r.post("/erasures/{}/verify", report["id"], body={"identifiers": ["q"]}).expect(404)
    assert q.get("/erasures/{}", report["id"]).expect(200) == report
    assert server.count("person_users", "user_id = :user", user=q.name) == 0


@pytest.mark.parametrize(
    "body",
    [
        {"person_id": "x"},
        {"dry_run": True},
        {"person_id": "x", "user_id": "y", "dry_run": True},
        {"person_id": "x", "dry_run": True, "force": True},
    ],
)
def test_a_request_names_one_and_says_whether_it_is_a_dry_run(
    server: ErasureServer, body: dict[str, Any]
) -> None:
    server.callers.admin.post("/erasures", body=body).expect(422)


def test_an_admin_owes_a_reason_where_the_server_wants_one(opened: Open) -> None:
    with opened({"admin.require_justification": True}) as server:
        q = server.callers.person("q")
        body = {"person_id": person_of(q), "dry_run": True}
        server.callers.admin.post("/erasures", body=body).expect(400)
        server.callers.admin.post("/erasures", body=body | {"justification": "asked"}).expect(200)
        q.post("/erasures", body=body).expect(200)


def test_a_report_is_signed_and_names_nobody(server: ErasureServer) -> None:
    q = server.callers.person("q")
    q_id = named(q, "Quillfeather")
    report = server.erases(q, person_id=q_id)
    told = {name: value for name, value in report.items() if name not in ("digest", "signature")}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert report["digest"] == sha256(text).hexdigest()
    assert report["signature"] == hmac.new(KEY.encode(), text, sha256).hexdigest()
    assert not any(one in json.dumps(report) for one in (q.name, q_id, "Quillfeather"))
    done = server.world.database.rows(
        "SELECT params FROM audit_events WHERE kind = 'erase' AND action = 'done'"
    )
    assert json.loads(done[0][0])["digest"] == report["digest"]


def test_verify_finds_what_came_back_and_ends_after_thirty_days(server: ErasureServer) -> None:
    q, p = server.callers.person("q"), server.callers.person("p")
    q_id = named(q, "Quillfeather")
    chat = group(p, "g1", q)
    report = server.erases(q, person_id=q_id)
    names = {"identifiers": ["Quillfeather"]}
    p.adds("Quillfeather elsewhere", space={"kind": "user"})
    verify = ("/erasures/{}/verify", report["id"])
    assert found_in(server.callers.admin.post(*verify, body=names).expect(200)) == {}
    in_chat(p, chat, "Where is Quillfeather?")
    again = server.callers.admin.post(*verify, body=names).expect(200)
    assert again["status"] == "incomplete"
    assert found_in(again) == {"memories": 1, "fulltext": 1}
    assert server.callers.admin.get("/erasures/{}", report["id"]).expect(200) == report
    server.world.clock.advance(days=30, seconds=1)
    server.callers.admin.post(*verify, body=names).expect(409)


def test_an_incomplete_erasure_goes_on_until_nothing_is_found(server: ErasureServer) -> None:
    q = server.callers.person("q")
    q_id = person_of(q)
    rows = server.world.database.rows
    rows("INSERT INTO server_state (name, value) VALUES ('strange', :value)", value=q_id)
    erasure_id = server.begins(q, person_id=q_id)
    report = server.awaits(erasure_id, "incomplete")
    assert found_in(report)["server_state"] == 1
    assert report["finished_at"] is None
    rows("DELETE FROM server_state WHERE name = 'strange'")
    server.world.clock.advance(seconds=61)
    assert found_in(server.awaits(erasure_id, "done")) == {}
    assert server.left_of((q.name, q_id)) == []


def test_blocked_handles_are_known_again_by_their_hash_alone(server: ErasureServer) -> None:
    q = server.callers.person("q")
    q_id = person_of(q)
    handle(q, q_id, "@quilly_handle")
    server.erases(q, person_id=q_id, block_relearn=True)
    with open_stored_memories(server.world) as stored_memories:
        stores = stored_memories.storage.stores
        ask = stored_memories.storage.ask
        assert ask(has_blocked_handle, stores, ["Quilly_Handle"]) is True
        assert ask(has_blocked_handle, stores, ["another"]) is False
    assert server.left_of(("quilly_handle",)) == []


def test_a_short_user_id_is_not_found_inside_of_other_words(server: ErasureServer) -> None:
    art, zoe = server.callers.person("art"), server.callers.person("zoe")
    zoe.adds(f"the p{art.name}y starts at nine", space={"kind": "user"})
    art.adds("I paint", space={"kind": "user"})
    report = server.erases(art, user_id=art.name)
    body = {"identifiers": [art.name]}
    again = server.callers.admin.post("/erasures/{}/verify", report["id"], body=body).expect(200)
    assert (report["status"], again["status"]) == ("done", "done")
