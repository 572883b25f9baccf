"""What becomes of memories when the entries they were made of are deleted."""

import pytest

from tests.support.memory.callers import Callers
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
