"""Rollbacks: what goes with a source, what comes back, who may, and that it can be undone."""

from typing import Any

import pytest

from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind
from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of, self_of
from tests.support.memory.store import StoredMemories

MINE: dict[str, Any] = {"space": {"kind": "user"}}
COUNTS = ("archived", "restored", "untouched")


def rolls_back(caller: Caller, *, dry_run: bool = False, **source: Any) -> dict[str, Any]:
    """A rollback of what came from a source."""
    times = {name: source.pop(name) for name in ("since", "until") if name in source}
    body = {"source": source, "dry_run": dry_run} | times
    report: dict[str, Any] = caller.post("/rollbacks", body=body).expect(200)
    return report


def counts(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report[name] for name in COUNTS)


def status(caller: Caller, memory: dict[str, Any] | str) -> tuple[str, str | None]:
    """As the owner of the space finds it."""
    id_ = memory if isinstance(memory, str) else memory["id"]
    for word in ("active", "superseded", "archived"):
        for one in caller.lists("/memories", spaces="user", status=word, include_expired=True):
            if one["id"] == id_:
                return word, one["archive_reason"]
    return "gone", None


def entry_of(caller: Caller, text: str) -> str:
    """An entry of a conversation of one's own."""
    conversation = caller.user.starts()
    entry: str = caller.user.says(conversation, text)["id"]
    return entry


@pytest.mark.scenario(59)
def test_a_poisoned_entry_goes_with_its_memories_and_the_true_fact_returns(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    entry = entry_of(ann, "a mail that somebody pasted")
    true = ann.adds("My bank is the one on the corner.", **MINE)
    replaced = ann.adds(
        "My bank is the one abroad.", source_entries=[entry], supersedes=[true["id"]], **MINE
    )
    straight = ann.adds("The courier comes at noon.", source_entries=[entry], **MINE)
    derived = stored_memories.puts(
        Space(SpaceKind.USER, ann.name),
        content="Somebody waits for a courier.",
        source_memories=(MemoryId(straight["id"]),),
    )
    other = ann.adds("The kettle is blue.", **MINE)
    dry = rolls_back(ann, entry_id=entry, dry_run=True)
    assert (dry["id"], counts(dry)) == (None, (3, 1, 0))
    assert status(ann, replaced) == ("active", None)
    done = rolls_back(ann, entry_id=entry)
    assert counts(done) == counts(dry)
    assert set(done["ids"]) == {replaced["id"], straight["id"], derived, true["id"]}
    for gone in (replaced, straight, derived):
        assert status(ann, gone) == ("archived", "rolled_back")
    assert [status(ann, one) for one in (true, other)] == [("active", None)] * 2
    found = ann.finds("which bank", spaces=[{"kind": "user"}])
    assert [hit["id"] for hit in found] == [true["id"]]
    undone = ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
    assert (undone["restored"], undone["archived"], undone["untouched"]) == (3, 1, 0)
    assert status(ann, true) == ("superseded", None)
    for back in (replaced, straight, derived):
        assert status(ann, back) == ("active", None)


def test_what_returns_is_valid_as_long_as_before_and_again_replaced_when_undone(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    old = ann.adds("I live in Porto.", valid_from="2026-01-01T00:00:00Z", **MINE)
    new = ann.adds("I live in Lisbon.", supersedes=[old["id"]], **MINE)
    (replaced,) = ann.lists("/memories", spaces="user", status="superseded")
    assert replaced["valid_until"] or replaced["retracted_at"]
    done = rolls_back(ann, memory_id=new["id"])
    back = ann.get("/memories/{}", old["id"]).expect(200)
    same = ("valid_from", "valid_until", "retracted_at", "superseded_by", "content")
    assert [back[name] for name in same] == [old[name] for name in same]
    ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
    (again,) = ann.lists("/memories", spaces="user", status="superseded")
    names = ("id", "valid_until", "retracted_at", "superseded_by")
    assert [again[name] for name in names] == [replaced[name] for name in names]


def test_a_rollback_ends_edges_and_undo_draws_them_again(callers: Callers) -> None:
    ann = callers.person("ann")
    me = self_of(ann)["id"]
    memory = ann.adds("I live in Porto.", subjects=[me], **MINE)
    assert len(ann.get("/graph/entities/{}", me).expect(200)["relations"]) == 1
    done = rolls_back(ann, memory_id=memory["id"])
    ann.get("/graph/entities/{}", me).refused(404, "not_found")
    rows = "SELECT count(*) FROM relations WHERE memory_id = :id"
    assert callers.world.database.rows(rows, id=memory["id"])[0][0] == 0
    ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
    (edge,) = ann.get("/graph/entities/{}", me).expect(200)["relations"]
    assert edge["memory_id"] == memory["id"]


def test_a_fact_stays_replaced_where_something_true_replaced_the_replacement(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    red = ann.adds("My favourite colour is red.", **MINE)
    black = ann.adds("My favourite colour is black.", supersedes=[red["id"]], **MINE)
    blue = ann.adds("My favourite colour is blue.", supersedes=[black["id"]], **MINE)
    assert counts(rolls_back(ann, memory_id=black["id"])) == (1, 0, 0)
    assert [status(ann, one)[0] for one in (red, black, blue)] == [
        "superseded",
        "archived",
        "active",
    ]


def test_a_chain_of_replacements_from_one_source_gives_back_its_first(callers: Callers) -> None:
    ann = callers.person("ann")
    entry = entry_of(ann, "trouble")
    first = ann.adds("The gate code word is alder.", **MINE)
    second = ann.adds(
        "The gate word is birch.", supersedes=[first["id"]], source_entries=[entry], **MINE
    )
    ann.adds("The gate word is cedar.", supersedes=[second["id"]], source_entries=[entry], **MINE)
    assert counts(rolls_back(ann, entry_id=entry)) == (2, 1, 0)
    assert status(ann, first) == ("active", None)


def test_what_is_due_does_not_return(callers: Callers) -> None:
    ann = callers.person("ann")
    old = ann.adds("The lift is broken.", ttl_seconds=3_600, **MINE)
    new = ann.adds("The lift works.", supersedes=[old["id"]], **MINE)
    with callers.world.clock.hold():
        callers.world.clock.advance(seconds=3_600)
        assert counts(rolls_back(ann, memory_id=new["id"], dry_run=True)) == (1, 0, 0)


@pytest.mark.parametrize("kind", ["conversation_id", "chat_id", "agent_id", "stated_by", "run_id"])
def test_every_kind_of_source_finds_its_own_memories_and_no_others(
    callers: Callers, kind: str
) -> None:
    ann = callers.person("ann")
    agent = ann.registers()["id"]
    conversation = ann.user.starts()
    entry = ann.user.says(conversation, "hello")["id"]
    ann.put("/chats/{}", f"c-{agent}", body={"kind": "group"}).expect(201)
    of = {
        "conversation_id": (conversation["id"], {"source_entries": [entry], **MINE}),
        "chat_id": (f"c-{agent}", {"chat_id": f"c-{agent}", **MINE}),
        "agent_id": (agent, {"agent_id": agent, "visibility": "private"}),
        "run_id": (f"r-{agent}", {"agent_id": agent, "scope": "session", "run_id": f"r-{agent}"}),
    }
    made = {name: ann.adds(f"Made for {name}.", **fields)["id"] for name, (_, fields) in of.items()}
    source = person_of(ann) if kind == "stated_by" else of[kind][0]
    ids = rolls_back(ann, dry_run=True, **{kind: source})["ids"]
    # A run's rows are its agent's too, and all were said by the same person.
    wanted = {"agent_id": {"agent_id", "run_id"}, "stated_by": set(made)}.get(kind, {kind})
    assert set(ids) == {made[name] for name in wanted}


def test_since_and_until_narrow_when_it_was_stored(callers: Callers) -> None:
    ann = callers.person("ann")
    with callers.world.clock.hold():
        before = ann.adds("one", **MINE)
        callers.world.clock.advance(seconds=60)
        during = ann.adds("two", **MINE)
        callers.world.clock.advance(seconds=60)
        after = ann.adds("three", **MINE)
        me = person_of(ann)
        times = {"since": during["created_at"], "until": after["created_at"]}
        assert rolls_back(ann, stated_by=me, dry_run=True, **times)["ids"] == [during["id"]]
        since = rolls_back(ann, stated_by=me, since=during["created_at"])
        assert set(since["ids"]) == {during["id"], after["id"]}
    assert status(ann, before) == ("active", None)


def test_rows_of_others_are_untouched_and_hidden_ones_not_counted(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    ann.adds("Open to all.", agent_id=agent)
    ann.adds("Only for Ann.", agent_id=agent, visibility="private")
    assert counts(rolls_back(bob, agent_id=agent)) == (0, 0, 1)
    assert counts(rolls_back(ann, agent_id=agent, dry_run=True)) == (2, 0, 0)
    assert counts(rolls_back(callers.admin, agent_id=agent)) == (2, 0, 0)


def test_a_source_that_the_caller_cannot_see_is_not_found(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    entry = entry_of(ann, "private")
    memory = ann.adds("Only for Ann.", **MINE)
    sources = {"entry_id": entry, "memory_id": memory["id"], "chat_id": "none", "run_id": "none"}
    sources |= {"agent_id": "none", "stated_by": "none", "conversation_id": "none"}
    for kind, id_ in sources.items():
        body = {"source": {kind: id_}, "dry_run": False}
        eve.post("/rollbacks", body=body).refused(404, "not_found")
    assert status(ann, memory) == ("active", None)


def test_a_rollback_is_undone_once_and_by_who_made_it(callers: Callers) -> None:
    ann, eve = callers.person("ann"), callers.person("eve")
    memory = ann.adds("The kettle is blue.", **MINE)
    done = rolls_back(ann, memory_id=memory["id"])
    eve.post("/rollbacks/{}/undo", done["id"]).refused(404, "not_found")
    ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
    reply = ann.post("/rollbacks/{}/undo", done["id"])
    assert reply.refused(409, "conflict")["reason"] == "wrong_state"
    assert status(ann, memory) == ("active", None)


def test_what_changed_since_is_left_as_it_is_by_undo(callers: Callers) -> None:
    ann = callers.person("ann")
    old = ann.adds("My desk is oak.", **MINE)
    new = ann.adds("My desk is pine.", supersedes=[old["id"]], **MINE)
    done = rolls_back(ann, memory_id=new["id"])
    ann.patch("/memories/{}", old["id"], body={"content": "My desk is old oak."}).expect(200)
    undone = ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
    assert counts(undone) == (0, 1, 1)
    assert ann.get("/memories/{}", old["id"]).expect(200)["content"] == "My desk is old oak."


def test_a_body_names_one_source_and_says_whether_it_is_dry(callers: Callers) -> None:
    ann = callers.person("ann")
    for body in (
        {"source": {"memory_id": "m"}},
        {"source": {}, "dry_run": True},
        {"source": {"memory_id": "m", "run_id": "r"}, "dry_run": True},
        {"source": {"memory": "m"}, "dry_run": True},
    ):
        ann.post("/rollbacks", body=body).refused(422, "validation_error")


def test_each_rollback_and_undo_leaves_one_event(callers: Callers) -> None:
    ann = callers.person("ann")
    agent = ann.registers()["id"]
    for n in range(3):
        ann.adds(f"number {n}", agent_id=agent)
    done = rolls_back(callers.admin, agent_id=agent)
    callers.admin.post("/rollbacks/{}/undo", done["id"], body={"justification": "slip"}).expect(200)
    events = callers.auditor.lists("/events", event_type="memory.rollback")
    told = [e["payload"] for e in events if done["id"] in e["payload"].values()]
    assert [(one["archived"], one["restored"], one["count"]) for one in told] == [
        (0, 3, 3),
        (3, 0, 3),
    ]


def test_a_rollback_of_many_rows_goes_in_batches_and_is_undone_whole(host: Host) -> None:
    with host() as world:
        callers = Callers(world)
        ann = callers.person("ann")
        agent = ann.registers()["id"]
        items = [{"op": "create", "content": f"fact {n}", "agent_id": agent} for n in range(450)]
        ann.post("/memories/batch", body={"items": items}).expect(200)
        done = rolls_back(ann, agent_id=agent)
        assert counts(done) == (450, 0, 0)
        assert ann.lists("/memories", agent_id=agent, limit=1000) == []
        ann.post("/rollbacks/{}/undo", done["id"]).expect(200)
        assert len(ann.lists("/memories", agent_id=agent, limit=1000)) == 450


def test_a_hidden_memory_tells_nobody_where_it_came_from(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers()["id"]
    hidden = ann.adds("The safe is behind the mirror.", agent_id=agent, visibility="private")
    derived = stored_memories.puts(
        Space(SpaceKind.USER, bob.name), source_memories=(MemoryId(hidden["id"]),)
    )
    assert counts(rolls_back(bob, agent_id=agent, dry_run=True)) == (0, 0, 0)
    assert counts(rolls_back(bob, stated_by=person_of(ann), dry_run=True)) == (0, 0, 0)
    done = rolls_back(callers.admin, agent_id=agent)
    assert set(done["ids"]) == {hidden["id"], derived}
