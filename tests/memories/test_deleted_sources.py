"""What becomes of memories when the entries they were made of are deleted."""

import pytest

from tests.support.memory.callers import Callers
from tests.support.memory.portability import exports, imports, of_type
from tests.support.world import new_id


@pytest.mark.amendment(17)
def test_a_memory_goes_with_its_only_source_and_stays_with_another(callers: Callers) -> None:
    ann = callers.person("ann")
    tree = new_id()
    first, second = (ann.user.says(tree, text)["id"] for text in ("one", "two"))
    own = {"space": {"kind": "user"}}
    of_one = ann.adds("the cellar is damp", source_entries=[first], **own)
    of_two = ann.adds("the attic is dry", source_entries=[first, second], **own)
    of_none = ann.adds("the roof is red", **own)
    ann.user.call("delete_entry", tree, first).expect(204)
    ann.get("/memories/{}", of_one["id"]).refused(404, "not_found")
    assert ann.get("/memories/{}", of_two["id"]).expect(200)["source_entries"] == [second]
    ann.get("/memories/{}", of_none["id"]).expect(200)
    found = ann.post("/memories/search", body={"query": "damp cellar", "spaces": "all"}).expect(200)
    assert of_one["id"] not in str(found)
    late = {"content": "the yard is wet", "source_entries": [first]} | own
    ann.post("/memories", body=late).refused(404, "not_found")
    [event] = [
        one
        for one in callers.world.auditor.walks("admin_list_events", actorUserId=ann.name)
        if one["action"] == "deleteEntry"
    ]
    assert event["count"] == 1
    ann.user.call("delete_entry", tree, second).expect(204)
    ann.get("/memories/{}", of_two["id"]).refused(404, "not_found")


@pytest.mark.amendment(17)
def test_a_memory_that_was_moved_goes_with_its_entry(callers: Callers) -> None:
    ann = callers.person("ann")
    tree, agent = new_id(), ann.registers()["id"]
    entry = ann.user.says(tree, "one")["id"]
    first = ann.adds("the cellar is damp", source_entries=[entry], agent_id=agent)
    move = ann.post("/memories/{}/move", first["id"], body={"visibility": "private"})
    moved = move.expect(201)["memory"]
    assert (moved["source_entries"], moved["source_memories"]) == ([entry], [first["id"]])
    ann.user.call("delete_entry", tree, entry).expect(204)
    ann.get("/memories/{}", moved["id"]).refused(404, "not_found")


@pytest.mark.amendment(17)
def test_what_was_drawn_from_such_memories_alone_goes_too(callers: Callers) -> None:
    ann = callers.person("ann")
    tree, own = new_id(), {"space": {"kind": "user"}}
    entry = ann.user.says(tree, "one")["id"]
    base = ann.adds("the cellar is damp", source_entries=[entry], **own)["id"]
    other = ann.adds("the attic is dry", **own)["id"]
    lines = [line for line in of_type(exports(ann), "memory") if line["id"] == base]
    drawn = {"one": [base], "two": ["one"], "both": [base, other]}
    for id_, sources in drawn.items():
        line = lines[0] | {"id": id_, "source_entries": [], "source_memories": sources}
        assert imports(ann, [line | {"content": f"drawn as {id_}"}])["created"] == 1
    ann.user.call("delete_entry", tree, entry).expect(204)
    for id_ in (base, "one", "two"):
        ann.get("/memories/{}", id_).refused(404, "not_found")
    assert ann.get("/memories/{}", "both").expect(200)["source_memories"] == [base, other]
