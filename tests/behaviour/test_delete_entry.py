"""Deleting an entry of the history: what goes, what stays, and who may."""

from typing import Any

import pytest

from tests.support.world import Ref, User, World, id_of, new_id

pytestmark = pytest.mark.amendment(17)

MARKER = [{"role": "USER"}]


def delete(user: User, conversation: Ref, entry: Ref) -> None:
    user.call("delete_entry", conversation, entry).expect(204)


def contents(user: User, conversation: Ref, **query: Any) -> list[Any]:
    """The text of each entry, None for a marker."""
    page = user.call("list_entries", conversation, **query).expect(200)["data"]
    for entry in page:
        assert entry.get("removed", False) is (entry["content"] == MARKER)
    return [entry["content"][0].get("text") for entry in page]


def told(user: User, conversation: Ref) -> tuple[str | None, str | None]:
    """Title and preview."""
    shown = user.gets(conversation)
    return shown.get("title"), shown.get("lastMessagePreview")


def test_a_marker_stays_at_the_position_in_all_forks(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    a, b, c = (ann.says(root, text) for text in "ABC")
    fork = ann.forks(root, c)["id"]
    ann.says(fork, "X")
    other = ann.forks(root, b)["id"]
    before = ann.call("list_entries", root).expect(200)["data"][1]
    delete(ann, fork, b)
    for conversation, texts in ((root, ["A", None, "C"]), (fork, ["A", None, "X"]), (other, ["A"])):
        assert contents(ann, conversation) == texts
    assert contents(ann, root, order="desc", limit=2) == ["C", None]
    assert contents(ann, root, after=b["id"]) == ["C"]
    after = ann.call("list_entries", root).expect(200)["data"][1]
    assert after == before | {"content": MARKER, "removed": True}
    assert ann.gets(fork)["forkedAtEntryId"] == b["id"]
    again = ann.forks(root, b)
    assert again["forkedAtEntryId"] == a["id"]
    for conversation in (root, fork):
        gone = ann.call("delete_entry", conversation, b).refused(404, "not_found")
        assert gone == {"resource": "entry", "id": b["id"]}


def test_titles_and_previews_are_made_of_what_is_left(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    a = ann.says(root, "first words")
    b = ann.says(root, "second words")
    c = ann.says(root, "third words")
    fork = ann.forks(root, c)["id"]
    named = ann.forks(root, c, title="of its own")["id"]
    assert told(ann, fork) == ("first words", "second words")
    updated = ann.gets(root)["updatedAt"]
    delete(ann, root, b)
    assert told(ann, root) == ("first words", "third words")
    assert told(ann, fork) == ("first words", "first words")
    delete(ann, root, a)
    assert told(ann, root) == ("third words", "third words")
    assert told(ann, fork) == ("third words", None)
    assert told(ann, named) == ("of its own", None)
    assert ann.gets(root)["updatedAt"] == updated
    late = ann.forks(root, ann.says(root, "fourth words"))["id"]
    assert told(ann, late) == ("third words", "third words")
    for entry in ann.call("list_entries", root).expect(200)["data"]:
        if not entry.get("removed"):
            delete(ann, root, entry)
    assert told(ann, root) == (None, None)
    ann.says(root, "new words")
    assert told(ann, root) == ("new words", "new words")


def test_one_may_delete_ones_own_and_a_manager_those_of_others(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    entry = ann.says(root, "of ann")
    manager, writer, reader = world.members(root, ann, "manager", "writer", "reader")
    own = writer.says(root, "of the writer")
    sam = world.user("sam")
    for user in (writer, reader, sam):
        user.call("delete_entry", root, entry).refused(403, "forbidden")
        user.call("delete_entry", root, new_id()).refused(
            *((404, "not_found") if user is writer else (403, "forbidden"))
        )
    assert contents(ann, root) == ["of ann", "of the writer"]
    delete(writer, root, own)
    delete(manager, root, entry)
    assert contents(reader, root) == [None, None]


def test_only_what_the_conversation_shows_of_its_history_is_deleted(world: World) -> None:
    ann, root = world.user("ann").with_key("k1"), new_id()
    a = ann.says(root, "A")
    fork = ann.forks(root, a)["id"]
    note = ann.notes(root, "of k1")
    ann.call("delete_entry", fork, a).refused(404, "not_found")
    ann.call("delete_entry", ann.starts(), a).refused(404, "not_found")
    ann.call("delete_entry", new_id(), a).refused(404, "not_found")
    ann.call("delete_entry", root, note).refused(403, "forbidden")
    for other in (world.named(ann.name), ann.with_key("k2")):
        other.call("delete_entry", root, note).refused(404, "not_found")
    assert ann.texts(root) == ["A", "of k1"]
    ann.deletes(root)
    ann.call("delete_entry", root, a).refused(404, "not_found")


def test_one_event_tells_of_it_without_the_text(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    entry = ann.says(root, "a kumquat")
    [manager] = world.members(root, ann, "manager")
    delete(manager, root, entry)
    events = world.auditor.walks("admin_list_events", actorUserId=manager.name)
    [event] = events
    assert (event["kind"], event["action"]) == ("conversation", "deleteEntry")
    assert (event["conversationId"], event["targetUserId"]) == (root, ann.name)
    assert (event["params"], event["count"]) == ({"entryId": entry["id"]}, 0)
    assert "kumquat" not in str(events)


def test_no_text_is_stored_any_more(world: World) -> None:
    ann, root = world.user("ann").with_key("k1"), new_id()
    text = "the zanzibar papers"
    entry = ann.says(root, text)
    ann.forks(root, ann.says(root, "later"))
    tables = ("entries", "entry_index", "conversations", "audit_events")
    assert "zanzibar" in str(world.database.contents(tables))
    delete(ann, root, entry)
    assert "zanzibar" not in str(world.database.contents(tables))


@pytest.mark.rest_only("the indexer's list and the admin's are the same over gRPC or not there")
def test_a_marker_is_not_to_be_indexed_and_admins_see_no_more(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    entry = ann.says(root, "a kumquat")
    delete(ann, root, entry)
    assert entry["id"] not in str(world.indexer.walks("unindexed", limit=1000))
    item = {"conversationId": root, "entryId": entry["id"], "indexedContent": "a kumquat"}
    details = world.indexer.call("index", body=[item]).refused(404, "not_found")
    assert details == {"resource": "entry", "id": id_of(entry)}
    [shown] = world.admin.call("admin_list_entries", root).expect(200)["data"]
    assert (shown["content"], shown["removed"]) == (MARKER, True)
