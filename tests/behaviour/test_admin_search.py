"""Search over everybody's trees, by administrators and auditors, on record."""

import re
from typing import Any

import pytest

from tests.support.searching import TYPES, settle, walk
from tests.support.world import User, World, new_id, text_of

pytestmark = pytest.mark.rest_only("administration has no methods")

every_type = pytest.mark.parametrize("kind", TYPES)


@pytest.fixture(scope="module")
def world(vector_world: World) -> World:
    """A server with every kind of search."""
    return vector_world


@pytest.fixture
def word(request: pytest.FixtureRequest) -> str:
    """A word of this test alone: admins see everything that other tests wrote. Not a random one,
    since some two words have the same vector."""
    return re.sub(r"[\W_]", "", request.node.name.removeprefix("test_"))


def search(user: User, query: str, **members: Any) -> list[dict[str, Any]]:
    page = user.call("admin_search", body={"query": query} | members).expect(200)
    assert "degraded" not in page
    found: list[dict[str, Any]] = page["data"]
    return found


def owners(results: list[dict[str, Any]]) -> set[str]:
    return {result["entry"]["userId"] for result in results}


@every_type
def test_everybodys_trees_are_searched(world: World, word: str, kind: str) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    ann.says(new_id(), word)
    bob.with_key("k1").says(new_id(), word)
    settle(world)
    for caller in (world.admin, world.auditor):
        found = search(caller, word, searchType=kind)
        assert owners(found) == {ann.name, bob.name}
        clients = {r["entry"]["userId"]: r["entry"].get("clientId") for r in found}
        assert clients == {ann.name: None, bob.name: "k1"}
    assert world.admin.finds(word, searchType=kind) == []


@every_type
def test_one_owners_trees_are_searched(world: World, word: str, kind: str) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    theirs = ann.starts()
    ann.shares(theirs, bob, "writer")
    bob.says(theirs, word)
    bob.says(new_id(), word)
    settle(world)
    found = search(world.auditor, word, searchType=kind, userId=ann.name)
    assert [result["conversationId"] for result in found] == [theirs["id"]]
    assert len(search(world.auditor, word, searchType=kind, userId=bob.name)) == 1
    assert search(world.auditor, word, searchType=kind, userId="nobody at all") == []


@every_type
def test_deleted_trees_are_searched_on_request(world: World, word: str, kind: str) -> None:
    ann = world.user("ann")
    live, deleted = ann.says(new_id(), word), ann.says(new_id(), word)
    settle(world)
    ann.deletes(deleted["conversationId"])

    def found(**members: Any) -> set[str]:
        return {result["entryId"] for result in search(world.admin, word, **members)}

    assert found(searchType=kind) == {live["id"]}
    assert found(searchType=kind, includeDeleted=False) == {live["id"]}
    assert found(searchType=kind, includeDeleted=True) == {live["id"], deleted["id"]}
    owned = found(searchType=kind, includeDeleted=True, userId=ann.name)
    assert owned == {live["id"], deleted["id"]}


@every_type
def test_a_walk_shows_each_result_once(world: World, word: str, kind: str) -> None:
    ann = world.user("ann")
    said = [ann.says(new_id(), f"{word} {number}")["id"] for number in range(25)]
    settle(world)
    walked = walk(world.auditor, "admin_search", query=word, searchType=kind, limit=4)
    assert sorted(result["entryId"] for result in walked) == sorted(said)


def test_a_cursor_belongs_to_its_filters(world: World, word: str) -> None:
    ann = world.user("ann")
    for _ in range(3):
        ann.says(new_id(), word)
    asked = {"query": word, "searchType": "fulltext", "limit": 1}
    cursor = world.admin.call("admin_search", body=asked).expect(200)["nextCursor"]
    for change in ({"userId": ann.name}, {"includeDeleted": True}, {"query": "other"}):
        reply = world.admin.call("admin_search", body=asked | change | {"after": cursor})
        assert reply.refused(400, "bad_request")["field"] == "after"
    reply = world.auditor.call("admin_search", body=asked | {"after": cursor})
    assert reply.refused(400, "bad_request")["field"] == "after"


def test_memory_is_not_found(world: World, word: str) -> None:
    ann = world.user("ann").with_key("k1")
    ann.notes(new_id(), word)
    settle(world)
    assert search(world.admin, word) == []


@pytest.mark.parametrize("query", ["", "  ", "\x00", None])
def test_a_query_with_something_in_it_is_needed(world: World, query: str | None) -> None:
    reply = world.admin.call("admin_search", body={"query": query})
    details = reply.refused(400, "validation_error")
    assert [violation["field"] for violation in details["violations"]] == ["query"]


def test_a_search_is_on_record_without_its_query(world: World, word: str) -> None:
    ann = world.user("ann")
    ann.says(new_id(), word)
    body = {"query": word, "userId": ann.name, "includeDeleted": True, "justification": "case 7"}
    found = world.auditor.call("admin_search", body=body).expect(200)["data"]
    assert [text_of(result["entry"]) for result in found] == [word]
    query = {"action": "searchConversations", "limit": 1}
    [event] = world.auditor.call("admin_list_events", **query).expect(200)["data"]
    assert (event["kind"], event["outcome"], event["role"]) == ("admin_read", "allowed", "auditor")
    assert event["justification"] == "case 7"
    assert ann.name in str(event)
    assert word not in str(event)


def test_a_refused_search_is_on_record_too(world: World, word: str) -> None:
    mallory = world.user("mallory")
    mallory.call("admin_search", body={"query": word}).refused(403, "forbidden")
    mallory.call("admin_search", body={"query": 7}).refused(403, "forbidden")
    events = world.auditor.walks("admin_list_events", actorUserId=mallory.name)
    assert [(e["action"], e["outcome"]) for e in events] == [("searchConversations", "denied")] * 2
    assert word not in str(events)


def test_a_needed_justification_may_be_in_the_body(serve: Any) -> None:
    world = serve(admin__require_justification=True)
    asked = {"query": "anything"}
    world.admin.call("admin_search", body=asked).refused(400, "JUSTIFICATION_REQUIRED")
    world.admin.call("admin_search", body=asked | {"justification": "why"}).expect(200)
    world.admin.call("admin_search", body=asked, justification="why").expect(200)
