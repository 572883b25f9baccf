"""Erasure: what leaves all reads at once, what the job takes out, what stays, and the proof."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.memory.people import person_of
from tests.support.engines import TestDatabase
from tests.support.hosting import a_world
from tests.support.town import Asker, Town
from tests.support.world import World

RULES = """
default_ttl: {{session: 3600, long_term: 2592000, org: 7776000}}
vacuum: {{enabled: false}}
backup: {{directory: "{folder}", keep_days: 30}}
"""
WAIT_SECONDS = 6


@dataclass(frozen=True)
class House:
    """A server of one test, so that nobody else's words are in its file."""

    world: World
    backups: Path

    @property
    def town(self) -> Town:
        return Town(self.world)

    def erases(self, asker: Asker, **members: Any) -> dict[str, Any]:
        """Erase and wait for the report."""
        begun = asker.post("/erasures", body={"dry_run": False} | members).expect(202)
        return self.awaits(begun["id"])

    def awaits(self, erasure_id: str) -> dict[str, Any]:
        end = time.monotonic() + WAIT_SECONDS
        while True:
            report: dict[str, Any] = self.town.admin.get("/erasures/{}", erasure_id).expect(200)
            if report["status"] in ("done", "incomplete"):
                return report
            assert time.monotonic() < end, report
            time.sleep(0.05)

    def holds(self, text: str) -> bool:
        """Is a text anywhere in the database, its files or its word indexes?"""
        stored = self.world.database.stored_text().lower() + " ".join(self._words())
        return text.lower() in stored

    def _words(self) -> Iterator[str]:
        """Words of the full text, which its bytes hold in parts."""
        if self.world.database.engine != "sqlite":
            return
        for table in ("entry_words", "memory_words"):
            vocabulary = (
                f"CREATE VIRTUAL TABLE temp.v USING fts5vocab (main, {table}, row);"
                "SELECT term FROM temp.v"
            )
            yield from (term for (term,) in self.world.database.rows(vocabulary))


@pytest.fixture
def house(
    new_database: Callable[[], TestDatabase], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("erasure")
    rules = folder / "rules.yaml"
    rules.write_text(RULES.format(folder=folder / "backups"))
    flags = {"retention.file": str(rules), "memory.auto_gc": False, "erase.signing_key": "key"}
    with a_world(new_database(), flags) as world:
        yield House(world, folder / "backups")


def in_chat(asker: Asker, chat_id: str, content: str, **members: Any) -> dict[str, Any]:
    return asker.adds(content, space={"kind": "chat", "id": chat_id}, **members)


def found_in(report: dict[str, Any]) -> dict[str, int]:
    return {check["store"]: check["found"] for check in report["checks"] if check["found"]}


@pytest.mark.scenario(58)
def test_after_an_erasure_no_store_holds_a_trace_and_a_namesake_keeps_the_name(
    house: House,
) -> None:
    town = house.town
    q, p, s, r = (town.person(name) for name in ("zarquonia", "p", "s", "r"))
    q_id, s_id = person_of(q), person_of(s)
    q.patch("/people/{}", q_id, body={"name": "Quillfeather"}).expect(200)
    s.patch("/people/{}", s_id, body={"name": "Robin"}).expect(200)
    q.post("/people/{}/aliases", q_id, body={"value": "Robin"}).expect(201)
    q.post(
        "/people/{}/aliases", q_id, body={"value": "@quilly_handle", "kind": "handle"}
    ).expect(201)
    q.post(
        "/people/{}/aliases", q_id, body={"value": "quill@feather.example", "kind": "handle"}
    ).expect(201)
    merged = p.post("/people", body={"name": "Quillington"}).expect(201)
    q_made = q.post("/people", body={"name": "Quillette"}).expect(201)
    q.post(
        "/people/merge", body={"primary_id": q_id, "secondary_id": q_made["id"]}
    ).expect(200)
    p.put("/chats/{}", "g1", body={"kind": "group"}).expect(201)
    for one in (q, s):
        p.put("/chats/{}/participants/{}", "g1", one.name, body={"kind": "user"}).expect(200)
    about = in_chat(p, "g1", "She loves pizza", subjects=[q_id])
    joint = in_chat(p, "g1", "They went to Rome", subjects=[q_id, s_id])
    of_merged = in_chat(p, "g1", "Has a red bike", subjects=[q_made["id"]])
    told = in_chat(q, "g1", "S likes tea", subjects=[s_id])
    named = in_chat(
        p, "g1", "Ask Quillfeather (quill@feather.example, @quilly_handle) for tea"
    )
    robins = in_chat(s, "g1", "Robin sings", subjects=[s_id])
    own = q.adds("My own secret garden", space={"kind": "user"})
    tree = p.user.starts("About Quillfeather")
    p.user.shares(tree, q.user, "writer")
    q.user.says(tree, "hello from the quillish writer")
    p.user.says(tree, "thanks, Quillfeather!")
    lone = q.user.starts("quillish thoughts")
    q.user.says(lone, "only mine, quillishly")

    r.post("/erasures", body={"person_id": q_id, "dry_run": False}).expect(403)
    r.post("/erasures", body={"user_id": q.name, "dry_run": False}).expect(403)
    texts = ("quillfeather", "quillette", "quilly_handle", "quill@feather", "quillish")
    words = ("secret garden", "loves pizza", "red bike", "garden", "pizza", "bike")
    traces = (*texts, *words, q.name, q_id, q_made["id"])
    assert all(map(house.holds, traces))
    planned = q.post("/erasures", body={"person_id": q_id, "dry_run": True}).expect(200)
    assert planned["status"] == "planned"
    assert q.get("/memories/{}", own["id"]).expect(200)
    report = house.erases(q, person_id=q_id)

    assert found_in(report) == {}
    assert report["status"] == "done"
    assert report["joint"] == planned["joint"] == 1
    changed = {k for k, n in report["counts"].items() if n != planned["counts"][k]}
    assert changed <= {"events"}
    for gone in (about, joint, of_merged):
        p.get("/memories/{}", gone["id"]).expect(404)
    kept = s.get("/memories/{}", told["id"], chat_id="g1").expect(200)
    assert (kept["stated_by"], kept["trust"]) == (None, "unknown")
    cleaned = p.get("/memories/{}", named["id"], chat_id="g1").expect(200)
    assert cleaned["content"] == "Ask [erased] ([erased], [erased]) for tea"
    assert s.get("/memories/{}", robins["id"], chat_id="g1").expect(200)["content"] == "Robin sings"
    assert p.user.texts(tree) == ["[erased]", "thanks, [erased]!"]
    assert [trace for trace in traces if house.holds(trace)] == []
    assert merged["id"] and house.holds("Robin sings")
    names = ["Quillfeather", "Robin", "@quilly_handle", "quill@feather.example", q.name, q_id]
    again = q.post(
        "/erasures/{}/verify", report["id"], body={"identifiers": names}
    ).expect(200)
    assert (found_in(again), again["status"]) == ({}, "done")
    assert not house.holds(q.name)
