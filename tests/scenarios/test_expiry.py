"""Due at an instant: on every surface at once, whatever was written where and how."""

from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.portability import exports

MINE: dict[str, Any] = {"space": {"kind": "user"}}
OBSERVED = "I live in Heronpond"
WORD = "heronpond"


@pytest.mark.scenario(21)
def test_an_observation_is_hidden_on_every_surface_at_its_instant(host: Host) -> None:
    with host(memory__auto_gc=False) as world, world.clock.hold():
        ann, bob = Callers(world).person("ann"), Callers(world).person("bob")
        chat = _group(ann, bob)
        space = {"kind": "chat", "id": chat}
        memory = ann.adds(OBSERVED, type="observation", subjects=["me"], space=space)
        everywhere = dict.fromkeys(_shown(ann, memory["id"], chat), True)
        world.clock.advance(seconds=259_199)
        assert _shown(ann, memory["id"], chat) == everywhere
        world.clock.advance(seconds=1)
        assert _shown(ann, memory["id"], chat) == dict.fromkeys(everywhere, False)
        assert _counts(ann, chat) == (0, 0, 0)


@pytest.mark.scenario(21)
def test_an_expired_row_is_shown_to_its_writer_alone_until_it_is_purged(host: Host) -> None:
    with host(memory__auto_gc=False) as world:
        callers = Callers(world)
        ann, bob = callers.person("ann"), callers.person("bob")
        agent = ann.registers()["id"]
        memory = ann.adds(OBSERVED, type="observation", agent_id=agent)
        assert [hit["id"] for hit in bob.finds(WORD, agent_id=agent)] == [memory["id"]]
        world.clock.advance(seconds=259_200)
        wanted: dict[str, Any] = {"agent_id": agent, "include_expired": True}
        shown = [*ann.lists("/memories", **wanted), *ann.finds(WORD, **wanted)]
        assert [(one["id"], one["status"]) for one in shown] == [(memory["id"], "expired")] * 2
        assert [*bob.lists("/memories", **wanted), *bob.finds(WORD, **wanted)] == []
        callers.admin.post("/admin/expire", body={"dry_run": False}).expect(200)
        assert [*ann.lists("/memories", **wanted), *ann.finds(WORD, **wanted)] == []


@pytest.mark.scenario(23)
def test_one_instant_in_three_offsets_is_due_at_once_and_purged_alone(host: Host) -> None:
    with host(memory__auto_gc=False) as world, world.clock.hold() as now:
        callers = Callers(world)
        ann = callers.person("ann")
        due = now + timedelta(hours=1)
        offsets = [timezone(timedelta(hours=hours)) for hours in (0, 9, -8)]
        texts = [due.astimezone(offset).isoformat() for offset in offsets]
        assert len(set(texts)) == 3
        dying = [ann.adds(f"a boat {n}", expires_at=at, **MINE) for n, at in enumerate(texts)]
        later = (due + timedelta(seconds=1)).astimezone(offsets[1]).isoformat()
        lasting = ann.adds("a boat to stay", expires_at=later, **MINE)
        assert len({one["expires_at"] for one in dying}) == 1
        world.clock.advance(minutes=59, seconds=59)
        assert len(ann.lists("/memories", spaces="user")) == 4
        world.clock.advance(seconds=1)
        assert [one["id"] for one in ann.lists("/memories", spaces="user")] == [lasting["id"]]
        assert [one["id"] for one in ann.finds("boat", spaces="all")] == [lasting["id"]]
        report = callers.admin.post("/admin/expire", body={"dry_run": False}).expect(200)
        assert (report["deleted_count"], report["by_rule"]) == (3, {"explicit": 3})
        kept = ann.lists("/memories", spaces="user", include_expired=True)
        assert [one["id"] for one in kept] == [lasting["id"]]


@pytest.mark.scenario(31)
def test_a_flood_takes_the_place_of_its_own_ephemeral_rows_and_of_nobody_elses(
    host: Host,
) -> None:
    with host(memory__auto_gc=False, memory__max_entries=100) as world:
        callers = Callers(world)
        p, q = callers.person("p"), callers.person("q")
        facts = _writes(p, "fact", 40, type="preference")
        flood = _writes(p, "glimpse", 150, type="observation", ttl_seconds=86_400 * 60)
        theirs = _writes(q, "sight", 100, type="observation", ttl_seconds=86_400 * 60)
        before = q.lists("/memories", spaces="user", limit=1000)
        world.clock.advance(days=8)
        young = _writes(p, "recent", 30, type="observation")
        report = callers.admin.post("/admin/gc", body={"dry_run": False}).expect(200)
        assert report["by_step"]["evict"] == 120
        left = {one["id"] for one in p.lists("/memories", spaces="user", limit=1000)}
        assert len(left) == 100
        assert {*facts, *young} <= left
        assert len(left & set(flood)) == 30
        archived = p.lists("/memories", spaces="user", status="archived", limit=1000)
        assert {one["archive_reason"] for one in archived} == {"evicted"}
        assert {one["id"] for one in archived} == set(flood) - left
        assert q.lists("/memories", spaces="user", limit=1000) == before
        assert {one["id"] for one in before} == set(theirs)


@pytest.mark.scenario(31)
def test_rows_under_seven_days_stay_though_their_space_is_over_its_cap(host: Host) -> None:
    with host(memory__auto_gc=False, memory__max_entries=100) as world, world.clock.hold():
        callers = Callers(world)
        p = callers.person("p")
        flood = _writes(p, "glimpse", 130, type="observation", ttl_seconds=86_400 * 60)
        world.clock.advance(days=7, seconds=-1)
        report = callers.admin.post("/admin/gc", body={"dry_run": False}).expect(200)
        assert report["by_step"]["evict"] == 0
        assert len(p.lists("/memories", spaces="user", limit=1000)) == 130
        (told,) = callers.auditor.lists("/events", event_type="memory.evict")
        assert told["payload"]["shortfall"] == 30
        world.clock.advance(seconds=1)
        report = callers.admin.post("/admin/gc", body={"dry_run": False}).expect(200)
        assert report["by_step"]["evict"] == 30
        left = {one["id"] for one in p.lists("/memories", spaces="user", limit=1000)}
        assert left < set(flood)


def _writes(caller: Caller, stem: str, count: int, **members: Any) -> list[str]:
    items = [
        {"op": "create", "content": f"{stem} number {n}"} | MINE | members for n in range(count)
    ]
    done = caller.post("/memories/batch", body={"items": items}).expect(200)
    return [one["id"] for one in done["results"]]


def _group(owner: Caller, other: Caller) -> str:
    chat = f"room of {owner.name}"
    owner.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    owner.put("/chats/{}/participants/{}", chat, other.name, body={"kind": "user"}).expect(200)
    return chat


def _shown(ann: Caller, id_: str, chat: str) -> dict[str, bool]:
    """On each surface that can show a memory."""
    me = person_of(ann)
    recalled = ann.post("/memories/recall", body={"query": WORD, "chat_id": chat}).expect(200)
    around = ann.get("/graph/entities/{}", me)
    edges = around.body.get("relations", []) if around.status == 200 else []
    now = ann.world.clock.now().isoformat()
    return {
        "get": ann.get("/memories/{}", id_).status == 200,
        "explain": ann.get("/memories/{}/explain", id_).status == 200,
        "list": id_ in _ids(ann.lists("/memories", chat_id=chat)),
        "search": id_ in _ids(ann.finds(WORD, chat_id=chat)),
        "recall": id_ in _ids(recalled["items"]),
        "recalled text": OBSERVED in recalled["context"],
        "person": id_ in _ids(ann.lists("/people/{}/memories", me)),
        "graph": id_ in {edge["memory_id"] for edge in edges},
        "entities": WORD in str(ann.lists("/graph/entities", query=WORD)).lower(),
        "export": id_ in exports(ann),
        "record": id_ in _ids(ann.lists("/memories", spaces="all", as_of=now)),
        "world": id_ in _ids(ann.lists("/memories", spaces="all", valid_at=now)),
    }


def _counts(ann: Caller, chat: str) -> tuple[int, int, int]:
    """What is left out for want of room, what an owner sees of the graph, what a search ranks."""
    body = {"query": WORD, "chat_id": chat, "token_budget": 1}
    recalled = ann.post("/memories/recall", body=body).expect(200)
    entities = [one for one in ann.lists("/graph/entities") if one["kind"] != "person"]
    return recalled["omitted"], len(entities), len(ann.finds(WORD, chat_id=chat, limit=100))


def _ids(found: list[dict[str, Any]]) -> set[str]:
    return {one["id"] for one in found}
