"""What memories were, what they replaced, and why they are shown."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from recollect.db.transaction import Tx
from recollect.kernel.ids import ChatId, MemoryId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.model import MemoryStatus, Sensitivity, VersionChange
from tests.conftest import Serve
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.store import StoredMemories, open_stored_memories

pytestmark = pytest.mark.surfaces("grpc")

HISTORY = "/memories/{}/history"
EXPLAIN = "/memories/{}/explain"


def own(caller: Caller) -> Space:
    return Space(SpaceKind.USER, caller.name)


def change(
    stored_memories: StoredMemories, memory_id: str, *, at: datetime | None = None, **fields: Any
) -> None:
    """The next version of a memory, by its owner."""
    memories = stored_memories.storage.stores.memories
    at = at or stored_memories.now

    def work(tx: Tx) -> None:
        before = memories.fetch(tx, MemoryId(memory_id), lock=True)
        assert before is not None
        memory = before.memory
        after = replace(memory, version=memory.version + 1, updated_at=at, **fields)
        superseded = after.status is MemoryStatus.SUPERSEDED
        what = VersionChange.SUPERSEDED if superseded else VersionChange.UPDATED
        memories.update(tx, before, after, change=what, by=Owner.user("ann"), at=at)

    stored_memories.storage.write(work)


def supersede(stored_memories: StoredMemories, new: str, *olds: str) -> None:
    """One memory in place of others."""
    link = stored_memories.storage.stores.memories.link_superseded
    for old in olds:
        at = stored_memories.now
        change(
            stored_memories, old, at=at, status=MemoryStatus.SUPERSEDED, superseded_by=MemoryId(new)
        )
        stored_memories.storage.do(link, MemoryId(new), MemoryId(old), at=at, reason="test")


def test_every_version_stays_in_the_history(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    memory_id = stored_memories.puts(own(ann), content="one")
    change(stored_memories, memory_id, content="two")
    newest, oldest = ann.lists(HISTORY, memory_id)
    assert (newest["version"], newest["change"], newest["content"]) == (2, "updated", "two")
    assert (oldest["version"], oldest["change"], oldest["content"]) == (1, "created", "one")
    assert (newest["by"], newest["depth"], newest["superseded_by"]) == ("ann", 0, None)
    assert newest["at"] > oldest["at"]


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_a_history_has_every_branch_breadth_first(
    callers: Callers, stored_memories: StoredMemories, limit: int
) -> None:
    ann = callers.person("ann")
    a, b, c, d, e = (stored_memories.puts(own(ann), content=name) for name in "ABCDE")
    supersede(stored_memories, b, a)
    supersede(stored_memories, d, c)
    supersede(stored_memories, e, b, d)
    items = ann.lists(HISTORY, e, limit=limit)
    depths = {item["memory_id"]: item["depth"] for item in items}
    assert depths == {e: 0, b: 1, d: 1, a: 2, c: 2}
    assert [item["depth"] for item in items] == sorted(item["depth"] for item in items)
    assert {item["content"] for item in items} == set("ABCDE")
    successors = {item["memory_id"]: item["superseded_by"] for item in items}
    assert successors == {e: None, b: e, d: e, a: b, c: d}
    assert {item["memory_id"] for item in ann.lists(HISTORY, b)} == {a, b}


def test_a_removed_predecessor_leaves_its_id_and_time(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    a, b, c = (stored_memories.puts(own(ann)) for _ in range(3))
    supersede(stored_memories, b, a)
    supersede(stored_memories, c, b)
    stored_memories.storage.do(
        stored_memories.storage.stores.memories.delete, MemoryId(b), at=stored_memories.now
    )
    items = ann.lists(HISTORY, c)
    (removed,) = [item for item in items if item["memory_id"] == b]
    assert (removed["change"], removed["version"], removed["by"]) == ("removed", None, None)
    assert "content" not in removed
    assert [item["memory_id"] for item in items if item["depth"] == 2] == [a, a]
    ann.get(HISTORY, b).refused(404, "not_found")


@pytest.mark.parametrize("in_place", [True, False])
def test_personal_data_of_the_past_is_told_of_when_a_history_shows_it(
    callers: Callers, in_place: bool
) -> None:
    ann = callers.person("ann")
    mine: dict[str, Any] = {"space": {"kind": "user"}}
    now = old = ann.adds("My number is 219-09-9999", **mine)["id"]
    if in_place:
        ann.patch("/memories/{}", old, body={"content": "It is at the office"}).expect(200)
    else:
        now = ann.adds("It is at the office", supersedes=[old], **mine)["id"]
    assert "219-09-9999" not in str(ann.get(HISTORY, now, limit=1).expect(200))
    before = len(ann.lists("/events", event_type="memory.read"))
    assert "219-09-9999" in str(ann.lists(HISTORY, now))
    event, *others = ann.lists("/events", event_type="memory.read")
    assert len(others) == before
    told = event["payload"]
    assert (told["operation"], told["ids"], told["pii_tags"]) == ("getHistory", [old], ["ssn"])


def test_what_a_reader_may_not_see_is_an_id_in_a_history(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    person_of(ann)
    old = stored_memories.puts(own(ann), content="a rumour")
    new = stored_memories.puts(own(ann), content="bob's own word", subjects=(person_of(bob),))
    supersede(stored_memories, new, old)
    seen = {item["memory_id"]: item for item in bob.lists(HISTORY, new)}
    assert seen[new]["content"] == "bob's own word"
    assert {"content", "value"} & {*seen[old]} == set()
    assert seen[old]["by"] is None
    assert "rumour" not in str(seen)
    bob.get(HISTORY, old).refused(404, "not_found")
    assert "rumour" in str(ann.lists(HISTORY, new))


def test_a_text_that_was_more_private_stays_so(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    ann_id, bob_id = person_of(ann), person_of(bob)
    start = stored_memories.now
    memory_id = stored_memories.puts(
        own(ann),
        at=start - timedelta(hours=1),
        content="bob hides something",
        subjects=(bob_id, ann_id),
        sensitivity=Sensitivity.SENSITIVE,
        stated_by=ann_id,
    )
    eve = callers.person("eve")
    change(
        stored_memories,
        memory_id,
        content="a harmless word",
        sensitivity=Sensitivity.PUBLIC,
        subjects=(bob_id, ann_id, person_of(eve)),
    )
    newest, oldest = eve.lists(HISTORY, memory_id)
    assert newest["content"] == "a harmless word"
    assert "content" not in oldest
    then = (start - timedelta(minutes=1)).isoformat()
    eve.get("/memories/{}", memory_id, as_of=then).refused(404, "not_found")
    assert eve.lists("/memories", user_id=ann.name, as_of=then) == []
    assert bob.lists(HISTORY, memory_id)[1]["content"] == "bob hides something"
    assert bob.get("/memories/{}", memory_id, as_of=then).expect(200)["version"] == 1


def test_as_of_shows_what_was_recorded_then(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    start = stored_memories.now
    times = [start + timedelta(minutes=n) for n in (-30, -20, -10)]
    porto = stored_memories.puts(own(ann), at=times[0], content="Porto", tags=("home",))
    change(stored_memories, porto, at=times[1], content="Lisbon", tags=("moved",))
    change(
        stored_memories,
        porto,
        at=times[2],
        status=MemoryStatus.SUPERSEDED,
        superseded_by=MemoryId("x"),
    )

    def at(minutes: int) -> list[tuple[str, int, str]]:
        asked = (start + timedelta(minutes=minutes)).isoformat()
        found = ann.lists("/memories", user_id=ann.name, as_of=asked)
        return [(item["content"], item["version"], item["status"]) for item in found]

    assert at(-31) == []
    assert at(-30) == at(-21) == [("Porto", 1, "active")]
    assert at(-20) == [("Lisbon", 2, "active")]
    assert at(-10) == at(0) == []
    then = ann.get("/memories/{}", porto, as_of=times[1].isoformat()).expect(200)
    assert (then["content"], then["tags"], then["superseded_by"]) == ("Lisbon", ["moved"], None)
    now = ann.get("/memories/{}", porto).expect(200)
    assert (now["content"], now["status"]) == ("Lisbon", "superseded")


def test_an_explanation_names_rule_and_relations(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    ann_id, bob_id = person_of(ann), person_of(bob)
    memory_id = stored_memories.puts(
        own(ann),
        subjects=(bob_id,),
        stated_by=ann_id,
        sensitivity=Sensitivity.PERSONAL,
        source_entries=("e-1",),
        source_memories=(MemoryId("m-1"),),
        supersedes=(MemoryId("old"),),
    )
    mine = ann.get(EXPLAIN, memory_id).expect(200)
    assert (mine["allowed"], mine["rule"], mine["context"]) == (True, "space.own", "direct")
    assert mine["relations"] == ["own", "stated"]
    theirs = bob.get(EXPLAIN, memory_id).expect(200)
    assert (theirs["rule"], theirs["relations"]) == ("private.personal.subject", ["subject"])
    assert theirs["space"] == {"kind": "user", "id": ann.name}
    assert theirs["sources"] == [{"kind": "entry", "id": "e-1"}, {"kind": "memory", "id": "m-1"}]
    assert theirs["supersession"] == [{"relation": "supersedes", "id": "old"}]
    assert theirs["expires_at"] is None
    assert "content" not in theirs
    callers.person("eve").get(EXPLAIN, memory_id).refused(404, "not_found")


def test_an_auditor_is_told_why_somebody_does_not_see_it(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    person_of(ann), person_of(bob)
    memory_id = stored_memories.puts(
        own(ann), sensitivity=Sensitivity.SENSITIVE, learned_in=ChatId("c")
    )
    told = callers.auditor.get(EXPLAIN, memory_id, as_user=bob.name).expect(200)
    assert (told["allowed"], told["rule"]) == (False, "private.sensitive.excluded")
    told = callers.auditor.get(EXPLAIN, memory_id, as_user=ann.name).expect(200)
    assert (told["allowed"], told["rule"]) == (True, "space.own")
    callers.auditor.get(EXPLAIN, memory_id).refused(404, "not_found")
    callers.auditor.get(EXPLAIN, memory_id, as_user="nobody-yet").refused(404, "not_found")
    ann.get(EXPLAIN, memory_id, as_user=bob.name).refused(403, "forbidden")
    read = [
        e for e in stored_memories.events("memory", "read") if e["operation"] == "explainMemory"
    ]
    assert {event["rule"] for event in read} >= {"private.sensitive.excluded", "space.own"}


def test_an_inactive_memory_is_explained_as_such(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    person_of(ann)
    memory_id = stored_memories.puts(own(ann), status=MemoryStatus.ARCHIVED)
    told = callers.auditor.get(EXPLAIN, memory_id, as_user=ann.name).expect(200)
    assert (told["allowed"], told["rule"]) == (False, "inactive")


def reads(stored_memories: StoredMemories, operation: str) -> list[dict[str, Any]]:
    return [e for e in stored_memories.events("memory", "read") if e["operation"] == operation]


def test_reads_of_risky_memories_are_told_without_text(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    risky = stored_memories.puts(own(ann), content="ann@example.org", pii_tags=("email", "name"))
    critical = stored_memories.puts(own(ann), key="ssn-of-ann", value={}, pii_tags=("ssn",))
    stored_memories.puts(own(ann), content="harmless", pii_tags=("name",))
    ann.get("/memories/{}", critical).expect(200)
    assert len(ann.lists("/memories", user_id=ann.name)) == 3
    (one,) = [e for e in reads(stored_memories, "getMemory") if e["memory_id"] == critical]
    assert (one["rule"], one["count"], one["ids"]) == ("space.own", 1, [critical])
    assert (one["key"], one["has_pii"], one["pii_tags"]) == ("s***", True, ["ssn"])
    (many,) = [e for e in reads(stored_memories, "listMemories") if e["space"]["id"] == ann.name]
    assert (many["count"], sorted(many["ids"])) == (2, sorted([risky, critical]))
    assert (many["rule"], many["pii_tags"]) == ("direct", ["email", "name", "ssn"])
    assert "example.org" not in str(many)


def test_reads_in_several_spaces_are_told_in_each(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    ann = callers.person("ann")
    agent = ann.registers()
    private = Space(SpaceKind.AGENT_PRIVATE, agent["id"])
    made = [stored_memories.puts(space, pii_tags=("phone",)) for space in (own(ann), private)]
    ann.lists("/memories", user_id=ann.name, agent_id=agent["id"])
    told = {e["space"]["id"]: e["ids"] for e in reads(stored_memories, "listMemories")}
    assert [told[ann.name], told[agent["id"]]] == [[made[0]], [made[1]]]


@pytest.mark.parametrize(("setting", "count"), [("all", 2), ("none", 0)])
def test_a_setting_says_which_reads_are_told(serve: Serve, setting: str, count: int) -> None:
    world = serve(events__reads=setting)
    ann = Callers(world).person("ann")
    with open_stored_memories(world) as stored_memories:
        stored_memories.puts(own(ann), pii_tags=("ssn",))
        stored_memories.puts(own(ann))
        ann.lists("/memories", user_id=ann.name)
        assert sum(event["count"] for event in stored_memories.events("memory", "read")) == count


@pytest.mark.scenario(54)
def test_a_history_has_every_predecessor_before_and_after_compaction(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    mine = {"space": {"kind": "user"}}
    a, c = (ann.adds(f"fact {name}", **mine)["id"] for name in "ac")
    b = ann.adds("fact b", supersedes=[a], **mine)["id"]
    d = ann.adds("fact d", supersedes=[c], **mine)["id"]
    e = ann.adds("fact e", supersedes=[b, d], **mine)["id"]
    before = ann.lists(HISTORY, e)
    assert {item["memory_id"]: item["depth"] for item in before} == {e: 0, b: 1, d: 1, a: 2, c: 2}
    assert {item["content"] for item in before} == {f"fact {name}" for name in "abcde"}
    callers.world.clock.advance(days=91)
    callers.admin.post("/admin/compact", body={"dry_run": False}).expect(200)
    after = ann.lists(HISTORY, e)
    assert {item["memory_id"]: item["depth"] for item in after} == {e: 0, b: 1, d: 1, a: 2, c: 2}
    assert {item.get("content") for item in after} == {"fact e", None}


def test_an_explanation_tells_the_score_of_a_query(callers: Callers) -> None:
    ann = callers.person("ann")
    memory = ann.adds("the harbour opens at six", space={"kind": "user"})
    ann.adds("bread needs time", space={"kind": "user"})
    found = ann.get(EXPLAIN, memory["id"], query="when does the harbour open?").expect(200)
    assert found["score"] > 0
    missed = ann.get(EXPLAIN, memory["id"], query="zebra").expect(200)
    assert "score" not in missed
