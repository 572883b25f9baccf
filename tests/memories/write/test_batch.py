"""Many writes in one call: all or none of them, or each on its own."""

from typing import Any

import pytest

from tests.support.api import Reply
from tests.support.memory.callers import Caller, Callers

pytestmark = pytest.mark.surfaces("grpc")

MINE: dict[str, Any] = {"space": {"kind": "user"}}


def batch(caller: Caller, *items: Any, **members: Any) -> Reply:
    return caller.post("/memories/batch", body={"items": list(items)} | members)


def creates(content: str, **members: Any) -> dict[str, Any]:
    return {"op": "create", "content": content} | MINE | members


def contents(caller: Caller) -> set[str]:
    return {row["content"] for row in caller.lists("/memories", spaces="user")}


def test_a_batch_writes_changes_and_deletes_in_order(callers: Callers) -> None:
    ann = callers.person("ann")
    kept, gone = ann.adds("Keep me", **MINE), ann.adds("Delete me", **MINE)
    new_id = callers.world.user("note").name
    answer = batch(
        ann,
        creates("Brand new", id=new_id),
        {"op": "update", "id": kept["id"], "content": "Kept", "version": 1},
        {"op": "delete", "id": gone["id"]},
        {"op": "update", "id": new_id, "tags": ["later"]},
    ).expect(200)
    assert answer == {
        "results": [
            {"index": 0, "status": 201, "id": new_id},
            {"index": 1, "status": 200, "id": kept["id"]},
            {"index": 2, "status": 204, "id": gone["id"]},
            {"index": 3, "status": 200, "id": new_id},
        ]
    }
    assert contents(ann) == {"Brand new", "Kept"}
    assert ann.get("/memories/{}", new_id).expect(200)["tags"] == ["later"]


def test_an_atomic_batch_tells_all_failures_and_stores_nothing(callers: Callers) -> None:
    ann, owner = callers.person("ann"), callers.person("o")
    foreign = owner.registers()["id"]
    kept = ann.adds("Keep me", **MINE)
    reply = batch(
        ann,
        creates("Not stored"),
        {"op": "delete", "id": kept["id"], "version": 7},
        {"op": "create", "content": "Not mine", "agent_id": foreign},
        creates("Misspelt", tgas=[]),
        creates("the PIN is 48213377"),
        {"op": "update", "id": "unknown", "tags": []},
        {"op": "rename"},
        "no object",
    )
    details = reply.refused(409, "conflict")
    assert details["reason"] == "version"
    told = [(item["index"], item["status"], item["error"]["code"]) for item in details["items"]]
    assert told == [
        (1, 409, "conflict"),
        (2, 403, "not_owner"),
        (3, 422, "validation_error"),
        (4, 422, "secret_refused"),
        (5, 404, "not_found"),
        (6, 422, "validation_error"),
        (7, 422, "validation_error"),
    ]
    assert details["items"][2]["error"]["details"]["violations"][0]["field"] == "tgas"
    assert contents(ann) == {"Keep me"}
    assert "48213377" not in str(reply.body)
    assert ann.lists("/events", event_type="memory.write") == ann.lists(
        "/events", event_type="memory.write", memory_id=kept["id"]
    )


def test_each_refused_item_is_written_down(callers: Callers) -> None:
    ann, owner = callers.person("ann"), callers.person("o")
    foreign = owner.registers()["id"]
    denied = {"op": "create", "content": "x", "agent_id": foreign}
    batch(ann, denied, creates("the PIN is 48213377")).refused(403, "not_owner")
    for event_type in ("memory.denied", "memory.refused"):
        events = callers.auditor.lists("/events", event_type=event_type)
        assert [event["requester_id"] for event in events].count(ann.name) == 1


def test_without_atomic_each_item_has_its_own_fate(callers: Callers) -> None:
    ann = callers.person("ann")
    answer = batch(
        ann,
        creates("First"),
        {"op": "delete", "id": "unknown"},
        creates("Second", ttl_seconds=0),
        creates("Third"),
        atomic=False,
    ).expect(200)
    results = answer["results"]
    assert [(item["index"], item["status"]) for item in results] == [
        (0, 201),
        (1, 404),
        (2, 422),
        (3, 201),
    ]
    assert [set(item) for item in results] == [
        {"index", "status", "id"},
        {"index", "status", "error"},
        {"index", "status", "error"},
        {"index", "status", "id"},
    ]
    assert contents(ann) == {"First", "Third"}


def test_equal_items_of_one_batch_become_one_row(callers: Callers) -> None:
    ann = callers.person("ann")
    results = batch(ann, creates("Same"), creates("same!")).expect(200)["results"]
    assert len({item["id"] for item in results}) == 1
    (row,) = ann.lists("/memories", spaces="user")
    assert row["repeats"] == 1


def test_a_change_that_needs_an_approval_waits_for_it(callers: Callers) -> None:
    ann = callers.person("ann")
    body = {"key": "tax", "value": {"n": "219-09-9999"}} | MINE
    memory = ann.post("/memories", body=body).expect(201)["memory"]
    wish = {"op": "update", "id": memory["id"], "ttl_seconds": 60 * 86_400}
    (result,) = batch(ann, wish).expect(200)["results"]
    assert (result["status"], result["id"]) == (202, memory["id"])
    assert ann.get("/memories/{}", memory["id"]).expect(200) == memory


@pytest.mark.parametrize("count", [0, 1001])
def test_a_batch_has_1_to_1000_items(callers: Callers, count: int) -> None:
    reply = batch(callers.person("ann"), *({"op": "delete", "id": "x"} for _ in range(count)))
    (wrong,) = reply.refused(422, "validation_error")["violations"]
    assert wrong["field"] == "items"


def test_tags_of_what_an_earlier_item_wrote_can_not_be_taken_away_by_a_later_one(
    callers: Callers,
) -> None:
    ann = callers.person("ann")
    memory = ann.adds("It is in the safe", pii_tags=["name"], **MINE)
    batch(
        ann,
        {"op": "update", "id": memory["id"], "content": "Write to ann@example.com"},
        {"op": "update", "id": memory["id"], "pii_tags": []},
    ).expect(200)
    assert ann.get("/memories/{}", memory["id"]).expect(200)["pii_tags"] == ["email"]
