"""Forks: what a branch inherits, where it is cut, and that nobody else notices."""

from typing import Any

import pytest

from tests.support.world import User, World, history, memory, new_id, text_of


def abc(user: User) -> tuple[str, list[dict[str, Any]]]:
    """A root with the entries A, B and C."""
    root = new_id()
    return root, [user.says(root, text) for text in "ABC"]


@pytest.mark.scenario(7)
def test_a_fork_at_the_first_entry_is_blank(world: World) -> None:
    ann = world.user("ann")
    root, [a, *_] = abc(ann)
    fork = ann.forks(root, a)
    assert fork["forkedAtConversationId"] == root
    assert "forkedAtEntryId" not in fork
    assert ann.texts(fork) == []
    ann.says(fork, "D")
    assert ann.texts(fork) == ["D"]
    assert ann.texts(root) == ["A", "B", "C"]


@pytest.mark.scenario(8)
def test_a_fork_of_a_fork_at_its_first_own_entry_shows_what_was_inherited(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, c] = abc(ann)
    fork = ann.forks(root, c)
    second = ann.forks(fork, ann.says(fork, "D"))
    assert second["forkedAtEntryId"] == b["id"]
    assert second["forkedAtConversationId"] == fork["id"]
    assert ann.texts(second) == ["A", "B"]


@pytest.mark.scenario(9)
def test_a_fork_of_a_fork_at_an_inherited_entry_cuts_there(world: World) -> None:
    ann = world.user("ann")
    root, [a, b, c] = abc(ann)
    fork = ann.forks(root, c)
    ann.says(fork, "D")
    second = ann.forks(fork, b)
    assert second["forkedAtEntryId"] == a["id"]
    assert ann.texts(second) == ["A"]
    ann.says(second, "E")
    assert ann.texts(second) == ["A", "E"]


@pytest.mark.scenario(10)
def test_a_blank_fork_forked_at_its_first_entry_is_blank_as_well(world: World) -> None:
    ann = world.user("ann")
    root, [a, *_] = abc(ann)
    blank = ann.forks(root, a)
    second = ann.forks(blank, ann.says(blank, "D"))
    assert "forkedAtEntryId" not in second
    assert second["forkedAtConversationId"] == blank["id"]
    assert ann.texts(second) == []


@pytest.mark.scenario(11)
def test_a_fork_point_may_be_an_entry_that_the_caller_cannot_see(world: World) -> None:
    ann = world.user("ann")
    k1, conversation = ann.with_key("k1"), new_id()
    ann.says(conversation, "H1")
    m1 = k1.notes(conversation, "M1")
    fork = ann.forks(conversation, ann.says(conversation, "H2"))
    assert fork["forkedAtEntryId"] == m1["id"]
    ann.says(fork, "H3")
    assert ann.texts(fork) == ["H1", "H3"]
    assert k1.texts(fork) == ["H1", "M1", "H3"]
    assert ann.with_key("k2").texts(fork) == ["H1", "H3"]


@pytest.mark.scenario(12)
def test_later_entries_stay_on_their_branch(world: World) -> None:
    ann = world.user("ann")
    root, [_, _, c] = abc(ann)
    fork = ann.forks(root, c)
    ann.says(root, "X")
    ann.says(fork, "Y")
    assert ann.texts(root) == ["A", "B", "C", "X"]
    assert ann.texts(fork) == ["A", "B", "Y"]
    for branch in (root, fork):
        assert ann.texts(branch, forks="all") == ["A", "B", "C", "X", "Y"]


@pytest.mark.scenario(14)
def test_a_reader_cannot_fork_by_append_and_nothing_is_created(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, _] = abc(ann)
    [rob] = world.members(root, ann, "reader")
    fork = new_id()
    for extra in ({}, {"forkedAtEntryId": b["id"]}, {"forkedAtEntryId": new_id()}):
        body = history("D") | {"forkedAtConversationId": root} | extra
        rob.call("append", fork, body=body).refused(403, "forbidden")
        synced = memory(["m"]) | {"forkedAtConversationId": root} | extra
        rob.with_key("k1").call("sync", fork, body=synced).refused(403, "forbidden")
    for user in (ann, rob):
        user.call("get_conversation", fork).refused(404, "not_found")
    assert len(ann.walks("list_forks", root)) == 1


def test_an_inherited_entry_keeps_the_conversation_where_it_is_stored(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, _] = abc(ann)
    fork = ann.forks(root, b)
    own = ann.says(fork, "D")
    listed = ann.call("list_entries", fork).expect(200)["data"]
    assert [e["conversationId"] for e in listed] == [root, fork["id"]]
    assert listed[1] == own


def test_a_fork_has_the_parents_title_metadata_owner_and_members(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts("Parent", {"k": ["v"]})
    entry = ann.says(root, "A")
    [wil] = world.members(root, ann, "writer")
    fork = wil.forks(root, entry)
    assert (fork["title"], fork["metadata"]) == ("Parent", {"k": ["v"]})
    assert (fork["ownerUserId"], fork["accessLevel"]) == (ann.name, "writer")
    assert fork["createdAt"] == fork["updatedAt"] > root["createdAt"]
    assert wil.forks(root, entry, "Own")["title"] == "Own"
    assert ann.levels(fork) == ann.levels(root)
    assert wil.gets(fork) == fork


def test_a_fork_inherits_the_preview_up_to_its_point(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    root, [a, b, c] = abc(ann)
    at_c = ann.forks(root, c)
    assert at_c["lastMessagePreview"] == "B"
    ann.notes(at_c, "memory is no preview")
    d = ann.says(at_c, "D")
    assert ann.gets(at_c)["lastMessagePreview"] == "D"
    assert ann.gets(root)["lastMessagePreview"] == "C"
    assert ann.forks(at_c, d)["lastMessagePreview"] == "B"
    assert ann.forks(at_c, b)["lastMessagePreview"] == "A"
    assert "lastMessagePreview" not in ann.forks(at_c, a)


def test_a_fork_may_be_made_at_no_other_than_a_visible_history_entry(world: World) -> None:
    ann = world.user("ann")
    k1 = ann.with_key("k1")
    root, [_, b, c] = abc(ann)
    mine = k1.notes(root, "mine")
    fork = ann.forks(root, b)
    elsewhere = ann.says(new_id(), "elsewhere")
    k1.call("fork", root, mine).refused(403, "forbidden")
    unseen: list[tuple[User, Any, Any]] = [
        (ann, root, mine),
        (ann.with_key("k2"), root, mine),
        (ann, fork, b),
        (ann, fork, c),
        (ann, root, elsewhere),
        (ann, root, {"id": new_id()}),
        (ann, root, {"id": "no-uuid"}),
    ]
    for user, conversation, entry in unseen:
        details = user.call("fork", conversation, entry).refused(404, "not_found")
        assert details == {"resource": "entry", "id": entry["id"]}


def test_a_fork_needs_a_writer(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, _] = abc(ann)
    rob, wil = world.members(root, ann, "reader", "writer")
    rob.call("fork", root, b).refused(403, "forbidden")
    wil.forks(root, b)


def test_fork_by_append_equals_fork_then_append(world: World) -> None:
    ann = world.user("ann")
    root, [a, b, _] = abc(ann)
    fork = new_id()
    ann.says(fork, "D", forkedAtConversationId=root.upper(), forkedAtEntryId=b["id"])
    seen = ann.gets(fork)
    assert (seen["forkedAtConversationId"], seen["forkedAtEntryId"]) == (root, a["id"])
    assert ann.texts(fork) == ["A", "D"]
    assert (seen["title"], seen["lastMessagePreview"]) == ("D", "D")


def test_fork_by_append_without_an_entry_is_blank(world: World) -> None:
    ann = world.user("ann")
    root, _ = abc(ann)
    fork = new_id()
    ann.says(fork, "D", forkedAtConversationId=root)
    seen = ann.gets(fork)
    assert seen["forkedAtConversationId"] == root
    assert "forkedAtEntryId" not in seen
    assert ann.texts(fork) == ["D"]


def test_fork_by_append_has_the_same_checks(world: World) -> None:
    ann, sam = world.user("ann"), world.user("sam")
    root, [_, b, _] = abc(ann)
    k1 = ann.with_key("k1")
    mine = k1.notes(root, "mine")
    fork = new_id()

    def tries(user: User, **members: Any) -> Any:
        return user.call("append", fork, body=history("D") | members)

    tries(ann, forkedAtEntryId=b["id"]).expect(400)
    missing = tries(ann, forkedAtConversationId=new_id()).refused(404, "not_found")
    assert missing["resource"] == "conversation"
    tries(sam, forkedAtConversationId=root, forkedAtEntryId=b["id"]).refused(403, "forbidden")
    unknown = tries(ann, forkedAtConversationId=root, forkedAtEntryId=new_id())
    assert unknown.refused(404, "not_found")["resource"] == "entry"
    tries(k1, forkedAtConversationId=root, forkedAtEntryId=mine["id"]).refused(403, "forbidden")
    tries(ann, forkedAtConversationId="no-uuid").refused(400, "validation_error")
    ann.call("get_conversation", fork).refused(404, "not_found")


def test_fork_members_are_ignored_on_a_known_conversation(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, _] = abc(ann)
    known = ann.starts()
    ann.says(known, "D", forkedAtConversationId=root, forkedAtEntryId=b["id"])
    assert "forkedAtConversationId" not in ann.gets(known)
    assert ann.texts(known) == ["D"]


def test_sync_honours_the_fork_members(world: World) -> None:
    ann = world.user("ann")
    k1 = ann.with_key("k1")
    root, [_, b, _] = abc(ann)
    fork = new_id()
    done = k1.syncs(fork, ["m"], forkedAtConversationId=root, forkedAtEntryId=b["id"])
    assert done["epoch"] == 1
    assert k1.texts(fork) == ["A", "m"]
    assert ann.gets(fork)["title"] == "A"


def test_a_blank_text_fork_by_append_takes_the_parents_title(world: World) -> None:
    ann = world.user("ann")
    root, [_, b, _] = abc(ann)
    fork = new_id()
    body = history("") | {"content": [{"role": "AI", "events": []}]}
    body |= {"forkedAtConversationId": root, "forkedAtEntryId": b["id"]}
    ann.call("append", fork, body=body).expect(201)
    assert ann.gets(fork)["title"] == "A"


def test_a_fork_without_any_title_gets_one_from_its_first_history_entry(world: World) -> None:
    ann = world.user("ann").with_key("k1")
    root, fork = new_id(), new_id()
    ann.syncs(root, ["m"])
    ann.syncs(fork, ["n"], forkedAtConversationId=root)
    assert "title" not in ann.gets(fork)
    ann.says(fork, "First words")
    assert ann.gets(fork)["title"] == "First words"
    assert "title" not in ann.gets(root)


def test_the_fork_list_shows_the_whole_tree_in_order(world: World) -> None:
    ann = world.user("ann")
    root, [a, b, c] = abc(ann)
    at_c1, at_c2 = ann.forks(root, c), ann.forks(root, c)
    blank1, blank2 = ann.forks(root, a), ann.forks(root, a)
    at_b = ann.forks(root, b, "named")
    nested = ann.forks(at_c1, ann.says(at_c1, "D"))
    expected = [{"id": root}, blank2, blank1, at_b, nested, at_c2, at_c1]
    listed = ann.walks("list_forks", root)
    assert [f["conversationId"] for f in listed] == [c["id"] for c in expected]
    assert ann.walks("list_forks", nested, limit=2) == listed
    assert set(listed[0]) == {"conversationId", "title", "createdAt"}
    assert listed[3] == {
        "conversationId": at_b["id"],
        "forkedAtEntryId": a["id"],
        "forkedAtConversationId": root,
        "title": "named",
        "createdAt": at_b["createdAt"],
    }


def test_a_chain_of_forks_shows_every_inherited_part(world: World) -> None:
    ann = world.user("ann")
    branch, expected = new_id(), ["0"]
    ann.says(branch, "0")
    for number in range(1, 13):
        cut = ann.says(branch, "cut")
        branch = ann.forks(branch, cut)["id"]
        ann.says(branch, str(number))
        expected.append(str(number))
    assert ann.texts(branch) == expected
    assert [text_of(e) for e in ann.walks("list_entries", branch, limit=2)] == expected


def test_a_fork_by_append_of_a_deleted_parent_is_not_found(world: World) -> None:
    ann = world.user("ann")
    root, _ = abc(ann)
    ann.deletes(root)
    body = history("D") | {"forkedAtConversationId": root}
    ann.call("append", new_id(), body=body).refused(404, "not_found")
