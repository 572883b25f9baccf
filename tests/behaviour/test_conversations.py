"""Conversations: creating, titles, previews, metadata, list modes and the query."""

from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.encryption import KEY_A
from tests.support.world import User, World, history, new_id

LONG = (
    "The quick brown fox jumps over the lazy dog and then runs away"
    " into the forest, far from here, to sleep."
)


def ids(user: User, **query: str) -> list[str]:
    """What a listing shows, as ids."""
    return [c["id"] for c in user.walks("list_conversations", **query)]


def test_a_created_conversation_belongs_to_its_caller(world: World) -> None:
    ann = world.user("ann")
    made = ann.starts("Title", {"topic": "fruit"})
    assert made["title"] == "Title"
    assert made["metadata"] == {"topic": "fruit"}
    assert (made["ownerUserId"], made["accessLevel"]) == (ann.name, "owner")
    assert made["createdAt"] == made["updatedAt"]
    assert ann.gets(made) == made
    assert ann.call("list_conversations").expect(200)["data"] == [made]


def test_access_level_is_the_callers(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    for level in ("reader", "writer", "manager"):
        [user] = world.members(conversation, ann, level)
        assert user.gets(conversation)["accessLevel"] == level
        assert user.call("list_conversations").expect(200)["data"][0]["accessLevel"] == level


def test_patch_sets_keeps_and_clears_the_title(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("one")
    renamed = ann.call("update_conversation", conversation, body={"title": "two"}).expect(200)
    assert renamed == conversation | {"title": "two"}
    assert ann.call("update_conversation", conversation, body={}).expect(200) == renamed
    cleared = ann.call("update_conversation", conversation, body={"title": None}).expect(200)
    assert "title" not in cleared
    assert ann.gets(conversation) == cleared


@pytest.mark.amendment(17)
def test_patch_replaces_the_metadata_as_a_whole(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("one", {"topic": "fruit", "n": 1})
    patch = {"metadata": {"topic": "trees"}}
    patched = ann.call("update_conversation", conversation, body=patch).expect(200)
    assert patched == conversation | patch
    for kept in ({}, {"metadata": None}):
        assert ann.call("update_conversation", conversation, body=kept).expect(200) == patched
    assert [c["id"] for c in ann.walks("list_conversations", query="trees")] == [patched["id"]]
    emptied = ann.call("update_conversation", conversation, body={"metadata": {}}).expect(200)
    assert "metadata" not in emptied
    assert emptied["title"] == "one"
    too_large = {"metadata": {"x": "y" * 16_384}}
    ann.call("update_conversation", conversation, body=too_large).refused(400, "validation_error")
    [reader] = world.members(conversation, ann, "reader")
    reader.call("update_conversation", conversation, body=patch).refused(403, "forbidden")


def test_a_cleared_title_is_not_set_again_by_an_entry(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    ann.says(conversation, "first")
    ann.call("update_conversation", conversation, body={"title": None}).expect(200)
    ann.says(conversation, "second")
    assert "title" not in ann.gets(conversation)


def test_a_title_given_at_creation_is_not_replaced_by_an_entry(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("given")
    ann.says(conversation, "something else")
    assert ann.gets(conversation)["title"] == "given"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("short", "short"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 40),
        ("日" * 50, "日" * 40),
        ("  outer \n\t inner\r\n  runs  ", "outer inner runs"),
        ("bell\u0007 and \u001besc\u0085 end", "bell and esc end"),
        (LONG, LONG[:40]),
    ],
)
def test_the_first_entry_of_a_conversation_made_by_append_is_its_title(
    world: World, text: str, title: str
) -> None:
    ann, conversation = world.user("ann"), new_id()
    ann.says(conversation, text)
    ann.says(conversation, "later")
    assert ann.gets(conversation)["title"] == title


@pytest.mark.parametrize(
    ("text", "preview"),
    [
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 100 + "…"),
        ("  a \u0000"[:-1] + "\n b\u0001 ", "a b"),
        (LONG, LONG[:100] + "…"),
    ],
)
def test_the_preview_is_the_last_text_cleaned_and_cut(
    world: World, text: str, preview: str
) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    assert "lastMessagePreview" not in conversation
    ann.says(conversation, "earlier")
    ann.says(conversation, text)
    assert ann.gets(conversation)["lastMessagePreview"] == preview


def test_entries_without_text_leave_title_and_preview_alone(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    silent = history("") | {"content": [{"role": "AI", "events": [{"n": 1}]}]}
    ann.call("append", conversation, body=silent).expect(201)
    assert not {"title", "lastMessagePreview"} & set(ann.gets(conversation))
    ann.says(conversation, "words")
    ann.call("append", conversation, body=silent).expect(201)
    assert ann.gets(conversation)["lastMessagePreview"] == "words"


def test_memory_never_becomes_a_title_or_a_preview(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    by_append, by_sync = new_id(), new_id()
    ann.notes(by_append, {"text": "secret"})
    ann.syncs(by_sync, [{"role": "USER", "text": "secret"}])
    for conversation in (by_append, by_sync):
        assert not {"title", "lastMessagePreview"} & set(ann.gets(conversation))
        ann.says(conversation, "spoken")
        seen = ann.gets(conversation)
        assert (seen["title"], seen["lastMessagePreview"]) == ("spoken", "spoken")


def test_updated_at_moves_on_history_only(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts("t")
    before = conversation["updatedAt"]
    ann.notes(conversation, "m")
    ann.syncs(conversation, ["m", "n"])
    ann.call("update_conversation", conversation, body={"title": "u"}).expect(200)
    world.members(conversation, ann, "reader")
    assert ann.gets(conversation)["updatedAt"] == before
    entry = ann.says(conversation, "h")
    after = ann.gets(conversation)["updatedAt"]
    assert after > before
    ann.forks(conversation, entry)
    assert ann.gets(conversation)["updatedAt"] == after


def test_conversations_are_ordered_by_update(world: World) -> None:
    ann = world.user("ann")
    one, two, three = (ann.starts()["id"] for _ in range(3))
    assert ids(ann) == [three, two, one]
    ann.says(one, "again")
    assert ids(ann) == [one, three, two]


def test_list_modes_choose_within_each_tree(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()["id"]
    entry = ann.says(root, "A")
    fork = ann.forks(root, entry)["id"]
    other = ann.starts()["id"]
    assert ids(ann, mode="all") == [other, fork, root]
    assert ids(ann, mode="roots") == [other, root]
    assert ids(ann) == ids(ann, mode="latest-fork") == [other, fork]
    ann.says(root, "B")
    assert ids(ann) == [root, other]
    assert [ids(ann, mode=m, limit="1") for m in ("all", "roots")] == [
        [root, other, fork],
        [root, other],
    ]


def test_ties_of_latest_fork_go_to_the_greater_id(world: World) -> None:
    ann, root = world.user("ann"), new_id()
    with world.clock.hold():
        entry = ann.says(root, "A")
        forks = [ann.forks(root, entry)["id"] for _ in range(3)]
    assert ids(ann) == [max(root, *forks)]


@pytest.mark.parametrize("flags", [{}, {"encryption__keys": [KEY_A]}], ids=["plain", "encrypted"])
def test_the_query_finds_titles_and_metadata_whatever_the_case(
    serve: Serve, flags: dict[str, Any]
) -> None:
    world = serve(**flags)
    ann, bob = world.user("ann"), world.user("bob")
    apples = ann.starts("Äpfel und Birnen")["id"]
    percent = ann.starts("100% wool_blend")["id"]
    tagged = ann.starts(metadata={"tags": ["Äpfelmus"], "deep": {"note": "STRASSE 7"}, "n": 42})[
        "id"
    ]
    bob.starts("Äpfel of somebody else")
    assert ids(ann, query="ÄPFEL") == [tagged, apples]
    assert ids(ann, query="birnen") == [apples]
    assert ids(ann, query="0% W") == [percent]
    assert ids(ann, query="l_b") == [percent]
    assert ids(ann, query="100_") == []
    assert ids(ann, query="straSSe") == [tagged]
    assert ids(ann, query="tags") == []
    assert ids(ann, query="42") == []
    assert ids(ann, query="") == [tagged, percent, apples]
    assert ids(ann, query="äpfel", limit="1") == [tagged, apples]


def test_the_query_applies_before_the_mode_picks_one(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts("needle")
    fork = ann.forks(root, ann.says(root, "A"), title="newer")
    assert ids(ann) == [fork["id"]]
    assert ids(ann, query="needle") == [root["id"]]
    assert ids(ann, query="needle", mode="roots") == [root["id"]]
    assert ids(ann, query="newer", mode="roots") == []


def test_lists_show_permitted_conversations_only(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    secret, shared = ann.starts()["id"], ann.starts()["id"]
    ann.shares(shared, bob, "reader")
    assert ids(bob) == [shared]
    assert set(ids(ann)) == {secret, shared}
    ann.call("remove_membership", shared, bob.name).expect(204)
    assert ids(bob) == []


@pytest.mark.amendment(9)
def test_a_title_that_holds_a_secret_is_refused_and_written_nowhere(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("plain")
    entry = ann.says(conversation, "hello")
    title = {"title": "the wifi password is zqtitle77"}
    for operation, target, body in (
        ("create_conversation", (), title),
        ("update_conversation", (conversation,), title),
        ("fork", (conversation, entry), title),
    ):
        reply = ann.call(operation, *target, body=body)
        reply.refused(400, "secret_refused")
        assert "zqtitle77" not in str(reply.body)
    assert ids(ann) == [conversation["id"]]
    assert "zqtitle77" not in world.database.stored_text()
