"""Texts that entries are found by: redaction, index calls, and what still lacks a text."""

from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.encryption import KEY_A
from tests.support.searching import TYPES, settle
from tests.support.world import Ref, User, World, history, memory, new_id, text_of

MANY = 500


@pytest.fixture(scope="module")
def world(vector_world: World) -> World:
    """A server with every kind of search."""
    return vector_world


def item(entry: dict[str, Any], text: str, **changes: Any) -> dict[str, Any]:
    """One item of an index call."""
    return {
        "conversationId": entry["conversationId"],
        "entryId": entry["id"],
        "indexedContent": text,
    } | changes


def index(world: World, *items: dict[str, Any]) -> int:
    return int(world.indexer.call("index", body=list(items)).expect(200)["indexed"])


def unindexed(world: World, **query: Any) -> list[dict[str, Any]]:
    """All that lacks a text, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        page = world.indexer.call("unindexed", **query).expect(200)
        assert set(page) == {"data", "cursor"}
        found += page["data"]
        if page["cursor"] is None:
            return found
        assert page["data"], "a cursor led to an empty page"
        assert len(page["cursor"]) <= 100
        query["cursor"] = page["cursor"]


def finds(user: User, query: str, kind: str = "fulltext") -> list[str]:
    return [result["entryId"] for result in user.finds(query, searchType=kind)]


@pytest.mark.scenario(35)
@pytest.mark.parametrize("kind", TYPES)
def test_a_redacted_word_is_not_found_and_not_shown(world: World, kind: str) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.says(conversation, "the neighbour before mentions barley")
    body = {"content": "my password is hunter2", "indexedContent": "my password is withheld"}
    entry = ann.call("append", conversation, body=body).expect(201)
    ann.says(conversation, "the neighbour after mentions barley")
    settle(world)
    raw = ann.finds("hunter2", searchType=kind, groupByConversation=False)
    assert entry["id"] not in [result["entryId"] for result in raw]
    found = ann.finds("withheld", searchType=kind, groupByConversation=False)
    assert found[0]["entryId"] == entry["id"]
    beside = ann.finds("barley", searchType=kind, groupByConversation=False)
    for result in (*found, *beside):
        if result["entryId"] == entry["id"]:
            assert "hunter2" not in result["highlights"]
            assert "barley" not in result["highlights"]
            assert "neighbour" not in result["highlights"]
    assert text_of(found[0]["entry"]) == "my password is hunter2"


@pytest.mark.scenario(35)
def test_a_client_redacts_too(world: World) -> None:
    k1 = world.user("ann").with_key("k1")
    entry = k1.says(new_id(), "card 4111", indexedContent="card withheld")
    assert finds(k1, "4111") == []
    assert finds(k1, "card withheld") == [entry["id"]]


@pytest.mark.scenario(36)
def test_a_walk_shows_each_unindexed_entry_once(serve: Serve) -> None:
    world = serve(search__index_raw_text=False)
    ann = world.user("ann")
    with world.clock.hold():
        conversations = [new_id() for _ in range(5)]
        said = [ann.says(conversations[n % 5], f"line {n}") for n in range(MANY)]
    walked = unindexed(world, limit=9)
    assert sorted(i["entry"]["id"] for i in walked) == sorted(entry["id"] for entry in said)
    assert {i["conversationId"] for i in walked} == set(conversations)


@pytest.mark.scenario(36)
def test_one_bad_item_keeps_the_whole_call_out(serve: Serve) -> None:
    world = serve(search__index_raw_text=False)
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    entries = [ann.says(conversation, f"line {n}") for n in range(9)]
    good = [item(entry, "sorrel") for entry in entries]
    note = ann.notes(conversation, "m")
    bad = {
        "unknown": (item(entries[0], "sorrel", entryId=new_id()), 404),
        "memory": (item(note, "sorrel"), 400),
        "elsewhere": (item(entries[0], "sorrel", conversationId=ann.starts()["id"]), 404),
        "nowhere": (item(entries[0], "sorrel", conversationId=new_id()), 404),
        "empty": (item(entries[0], ""), 400),
        "incomplete": ({"conversationId": conversation["id"]}, 400),
    }
    for name, (wrong, status) in bad.items():
        for place in (0, 4, 9):
            batch = [*good[:place], wrong, *good[place:]]
            reply = world.indexer.call("index", body=batch)
            assert reply.status == status, (name, reply)
        assert finds(ann, "sorrel") == []
    assert len(unindexed(world)) == 9
    assert index(world, *good) == 9
    assert unindexed(world) == []
    assert len(ann.finds("sorrel", searchType="fulltext", groupByConversation=False)) == 9


def test_a_refused_item_is_told_in_the_usual_way(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    entry = ann.says(new_id(), "line")
    note = ann.notes(entry["conversationId"], "m")
    unknown = item(entry, "t", entryId=new_id())
    details = world.indexer.call("index", body=[unknown]).refused(404, "not_found")
    assert details == {"resource": "entry", "id": unknown["entryId"]}
    world.indexer.call("index", body=[item(note, "t")]).refused(400, "bad_request")
    ann.deletes(entry["conversationId"])
    gone = world.indexer.call("index", body=[item(entry, "t")])
    assert gone.refused(404, "not_found")["resource"] in ("conversation", "entry")


def test_indexing_replaces_what_was_there(world: World) -> None:
    ann = world.user("ann")
    entry = ann.says(new_id(), "tarragon")
    settle(world)
    for text, gone in (("marjoram", "tarragon"), ("lovage", "marjoram")):
        assert index(world, item(entry, text)) == 1
        settle(world)
        for kind in TYPES:
            assert finds(ann, gone, kind) == []
            assert finds(ann, text, kind) == [entry["id"]]
        [found] = ann.finds(text, searchType="fulltext")
        assert found["highlights"] == f"**{text}**"
        assert text_of(found["entry"]) == "tarragon"


def test_of_two_items_for_one_entry_the_last_counts(world: World) -> None:
    ann = world.user("ann")
    entry = ann.says(new_id(), "basil")
    assert index(world, item(entry, "borage"), item(entry, "chervil")) >= 1
    assert finds(ann, "borage") == []
    assert finds(ann, "chervil") == [entry["id"]]


def test_an_index_call_does_not_move_the_conversation(world: World) -> None:
    ann = world.user("ann")
    entry = ann.says(new_id(), "thyme")
    before = ann.gets(entry["conversationId"])
    world.clock.advance(minutes=1)
    index(world, item(entry, "oregano"))
    assert ann.gets(entry["conversationId"]) == before
    assert ann.texts(entry["conversationId"]) == ["thyme"]


def test_only_indexers_index(world: World) -> None:
    ann = world.user("ann")
    entry = ann.says(new_id(), "dill")
    for user in (ann, ann.with_key("k1"), world.user("sam"), world.auditor):
        user.call("index", body=[item(entry, "fennel")]).refused(403, "forbidden")
        user.call("index", body={"no": "list"}).refused(403, "forbidden")
        user.call("unindexed").refused(403, "forbidden")
        user.call("unindexed", limit=0).refused(403, "forbidden")
    world.nobody.call("index", body=[]).refused(401, "unauthorized")
    world.nobody.call("unindexed").refused(401, "unauthorized")
    for user in (world.indexer, world.admin):
        assert user.call("index", body=[item(entry, "fennel")]).expect(200) == {"indexed": 1}
        user.call("unindexed").expect(200)
    assert finds(ann, "fennel") == [entry["id"]]


def test_the_index_role_reads_and_finds_nothing(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.says(conversation, "caraway")
    world.indexer.call("get_conversation", conversation).refused(403, "forbidden")
    world.indexer.call("admin_get_conversation", conversation).refused(403, "forbidden")
    world.indexer.call("admin_search", body={"query": "caraway"}).refused(403, "forbidden")
    assert finds(world.indexer, "caraway") == []


def test_unindexed_are_live_history_entries_oldest_first(serve: Serve) -> None:
    world = serve(search__index_raw_text=False)
    ann = world.user("ann").with_key("k1")
    kept, gone = ann.starts(), ann.starts()
    seen: list[tuple[Ref, str]] = []
    for number in range(6):
        world.clock.advance(seconds=1)
        entry = ann.says(kept, f"line {number}")
        seen.append((entry["conversationId"], entry["id"]))
        ann.says(gone, "in a deleted tree")
        ann.notes(kept, "memory")
        ann.says(kept, "with a text", indexedContent="a text")
    fork = ann.forks(kept, seen[3][1])
    entry = ann.says(fork, "in a fork")
    seen.append((fork["id"], entry["id"]))
    ann.deletes(gone)
    listed = unindexed(world, limit=2)
    assert [(i["conversationId"], i["entry"]["id"]) for i in listed] == seen
    assert all(set(i) == {"conversationId", "entry"} for i in listed)
    [first, *_] = ann.call("list_entries", kept).expect(200)["data"]
    assert listed[0]["entry"] == first
    world.admin.call("admin_restore_conversation", gone).expect(200)
    assert len(unindexed(world)) == len(seen) + 6


def test_the_cursor_of_unindexed_outlives_its_entry(serve: Serve) -> None:
    world = serve(search__index_raw_text=False)
    ann = world.user("ann")
    said = [ann.says(new_id(), f"line {n}") for n in range(4)]
    page = world.indexer.call("unindexed", limit=2).expect(200)
    index(world, *(item(entry, "t") for entry in said[:3]))
    rest = world.indexer.call("unindexed", cursor=page["cursor"]).expect(200)
    assert [i["entry"]["id"] for i in rest["data"]] == [said[3]["id"]]
    assert rest["cursor"] is None


@pytest.mark.rest_only("a page has one token, under one name")
def test_the_cursor_of_unindexed_has_three_names(serve: Serve) -> None:
    world = serve(search__index_raw_text=False)
    for number in range(3):
        world.user("ann").says(new_id(), f"line {number}")
    cursor = world.indexer.call("unindexed", limit=1).expect(200)["cursor"]
    pages = [
        world.indexer.call("unindexed", limit=1, **{name: cursor}).expect(200)
        for name in ("cursor", "after", "afterCursor")
    ]
    assert len({str(page["data"]) for page in pages}) == 1
    assert pages[2]["afterCursor"] == pages[2]["cursor"]
    assert "afterCursor" not in pages[0]
    world.indexer.call("unindexed", cursor="a", after="b").refused(400, "validation_error")
    for name in ("cursor", "after", "afterCursor"):
        details = world.indexer.call("unindexed", **{name: "nonsense"}).refused(400, "bad_request")
        assert details["field"] == "cursor"


def test_raw_text_is_indexed_by_default_only_when_contents_are_plain(serve: Serve) -> None:
    sealed = serve(encryption__keys=[KEY_A])
    ann = sealed.user("ann")
    ann.says(new_id(), "cumin")
    entry = ann.says(new_id(), "cloves", indexedContent="nutmeg")
    assert finds(ann, "cumin") == finds(ann, "cloves") == []
    [found] = ann.finds("nutmeg")
    assert found["entryId"] == entry["id"]
    assert text_of(found["entry"]) == "cloves"
    assert found["conversationTitle"] == "cloves"
    assert [text_of(i["entry"]) for i in unindexed(sealed)] == ["cumin"]


def test_entries_without_text_are_unindexed_too(world: World) -> None:
    ann = world.user("ann")
    content = [{"role": "USER", "attachments": [{"href": "https://a.example", "contentType": "x"}]}]
    entry = ann.call("append", new_id(), body=history("") | {"content": content}).expect(201)
    waiting = [i for i in unindexed(world, limit=1000) if i["entry"]["id"] == entry["id"]]
    assert [i["conversationId"] for i in waiting] == [entry["conversationId"]]
    index(world, item(entry, "a picture of ginger"))
    assert finds(ann, "ginger") == [entry["id"]]


def test_memory_takes_no_indexed_content(world: World) -> None:
    k1 = world.user("ann").with_key("k1")
    body = memory(["m"]) | {"indexedContent": "i"}
    reply = k1.call("append", new_id(), body=body)
    assert reply.refused(400, "bad_request")["field"] == "indexedContent"
