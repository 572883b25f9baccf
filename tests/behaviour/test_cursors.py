"""Pages and cursors: every item once, no cursor without a next item, no silent restart."""

from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.world import User, World, at_once, id_of, new_id, text_of


def many(user: User, count: int) -> list[str]:
    """Ids of new conversations, in order of creation."""
    return [user.starts()["id"] for _ in range(count)]


@pytest.mark.scenario(1)
def test_conversations_with_one_updated_at_come_once_each(world: World) -> None:
    ann = world.user("ann")
    with world.clock.hold():
        made = many(ann, 1000)
    walked = ann.walks("list_conversations", limit=7)
    assert len({c["updatedAt"] for c in walked}) == 1
    assert [c["id"] for c in walked] == sorted(made, reverse=True)


@pytest.mark.scenario(2)
def test_entries_with_one_created_at_come_in_append_order(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    with world.clock.hold():
        for number in range(1000):
            ann.says(conversation, str(number))
    walked = ann.walks("list_entries", conversation, limit=33)
    assert len({e["createdAt"] for e in walked}) == 1
    assert [text_of(e) for e in walked] == [str(number) for number in range(1000)]


@pytest.mark.scenario(3)
def test_a_full_last_page_has_no_cursor(world: World) -> None:
    ann = world.user("ann")
    many(ann, 20)
    page = ann.call("list_conversations", limit=20).expect(200)
    assert len(page["data"]) == 20
    assert page["nextCursor"] is None
    assert ann.call("list_conversations").expect(200) == page
    assert ann.call("list_conversations", limit=19).expect(200)["nextCursor"] is not None


@pytest.mark.scenario(4)
@pytest.mark.parametrize("is_uuid", [True, False])
def test_an_unknown_cursor_is_refused(world: World, is_uuid: bool) -> None:
    ann, cursor = world.user("ann"), new_id() if is_uuid else "no-uuid"
    conversation = ann.starts()
    ann.says(conversation, "hello")
    for operation, ids in (
        ("list_conversations", []),
        ("list_entries", [conversation]),
        ("list_forks", [conversation]),
        ("list_memberships", [conversation]),
        ("list_transfers", []),
    ):
        assert ann.call(operation, *ids, after=cursor).refused(400, "bad_request")["field"]
    for operation, ids in (
        ("admin_list_conversations", []),
        ("admin_list_entries", [conversation]),
        ("admin_list_events", []),
    ):
        assert world.admin.call(operation, *ids, after=cursor).refused(400, "bad_request")["field"]


@pytest.mark.scenario(4)
def test_a_membership_walk_goes_on_after_its_member_was_removed(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    members = world.members(conversation, ann, *["reader"] * 5)
    page = ann.call("list_memberships", conversation, limit=3).expect(200)
    last = page["data"][-1]["userId"]
    ann.call("remove_membership", conversation, last).expect(204)
    rest = ann.walks("list_memberships", conversation, limit=3, after=page["nextCursor"])
    assert [m["userId"] for m in page["data"] + rest] == [ann.name] + [m.name for m in members]


@pytest.mark.scenario(5)
def test_a_walk_goes_on_after_its_conversation_was_deleted(world: World) -> None:
    ann = world.user("ann")
    made = many(ann, 9)
    page = ann.call("list_conversations", limit=3).expect(200)
    ann.deletes(page["nextCursor"])
    rest = ann.walks("list_conversations", limit=3, after=page["nextCursor"])
    assert [c["id"] for c in page["data"] + rest] == made[::-1]


@pytest.mark.scenario(6)
def test_sorting_comes_before_the_limit(world: World) -> None:
    ann, rob = world.user("ann"), world.user("rob")
    made = many(ann, 300)
    for conversation in made:
        ann.shares(conversation, rob, "reader")
    ann.says(made[0], "newest")
    page = rob.call("list_conversations", limit=5).expect(200)
    assert [c["id"] for c in page["data"]] == [made[0], *made[:-5:-1]]


def test_an_empty_cursor_means_the_first_page(world: World) -> None:
    ann = world.user("ann")
    many(ann, 3)
    first = ann.call("list_conversations", limit=2).expect(200)
    assert ann.call("list_conversations", limit=2, after="").expect(200) == first


@pytest.mark.rest_only("a page has one token, under one name")
def test_after_cursor_is_an_alias_and_is_answered_when_it_was_used(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    for number in range(3):
        ann.says(conversation, str(number))
    world.members(conversation, ann, "reader", "reader")
    for operation in ("list_entries", "list_memberships"):
        first = ann.call(operation, conversation, limit=2, afterCursor="").expect(200)
        assert first["afterCursor"] == first["nextCursor"]
        plain = ann.call(operation, conversation, limit=2).expect(200)
        assert "afterCursor" not in plain
        by_alias = ann.call(
            operation, conversation, limit=2, afterCursor=first["nextCursor"]
        ).expect(200)
        by_name = ann.call(operation, conversation, limit=2, after=first["nextCursor"]).expect(200)
        assert by_alias["data"] == by_name["data"]
        assert len(by_name["data"]) == 1


@pytest.mark.rest_only("a page has one token, under one name")
def test_two_names_with_one_value_agree_and_with_two_values_are_refused(world: World) -> None:
    ann = world.user("ann")
    made = many(ann, 3)
    query = {"after": made[2], "afterCursor": made[2]}
    page = ann.call("list_conversations", **query).expect(200)
    assert [c["id"] for c in page["data"]] == made[1::-1]
    query["afterCursor"] = made[1]
    ann.call("list_conversations", **query).expect(400)


@pytest.mark.rest_only("a page has one token, under one name")
def test_the_alias_is_always_answered_when_the_server_is_set_so(serve: Serve) -> None:
    world = serve(api__emit_after_cursor=True)
    ann = world.user("ann")
    many(ann, 2)
    page = ann.call("list_conversations", limit=1).expect(200)
    assert page["afterCursor"] == page["nextCursor"] is not None


def test_a_conversation_cursor_that_the_caller_cannot_read_is_refused(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    theirs = bob.starts()
    ann.starts()
    ann.call("list_conversations", after=theirs["id"]).refused(400, "bad_request")
    bob.shares(theirs, ann, "reader")
    ann.call("list_conversations", after=theirs["id"]).expect(200)
    bob.deletes(theirs)
    ann.call("list_conversations", after=theirs["id"]).refused(400, "bad_request")


def test_an_entry_cursor_must_be_on_the_listed_path_and_visible(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    first, second = ann.says(root, "1"), ann.says(root, "2")
    hidden = ann.with_key("k2").notes(root, "m")
    fork = ann.forks(root, second)
    elsewhere = ann.says(new_id(), "elsewhere")
    refused: list[tuple[Any, Any]] = [(fork, second), (root, elsewhere), (root, hidden)]
    for conversation, cursor in refused:
        reply = ann.with_key("k1").call("list_entries", conversation, after=cursor["id"])
        assert reply.refused(400, "bad_request")["field"]
    ann.call("list_entries", fork, after=first["id"]).expect(200)


def test_an_entry_of_a_past_epoch_is_a_good_cursor(world: World) -> None:
    ann, conversation = world.user("ann").with_key("k1"), new_id()
    past = ann.syncs(conversation, ["a"])["entry"]
    ann.syncs(conversation, ["b"])
    page = ann.call("list_entries", conversation, after=past["id"]).expect(200)
    assert [text_of(e) for e in page["data"]] == ["b"]


def test_a_cursor_of_one_list_is_refused_by_another(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    world.members(conversation, ann, "reader", "reader")
    cursor = ann.call("list_memberships", conversation, limit=1).expect(200)["nextCursor"]
    ann.call("list_transfers", after=cursor).refused(400, "bad_request")


def test_lists_of_kind_b_without_a_limit_return_everything(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    world.members(conversation, ann, *["reader"] * 60)
    entry = ann.says(conversation, "x")
    for _ in range(60):
        ann.forks(conversation, entry)
    for operation in ("list_memberships", "list_forks"):
        page = ann.call(operation, conversation).expect(200)
        assert len(page["data"]) == 61
        assert "nextCursor" not in page
        assert ann.walks(operation, conversation, limit=7) == page["data"]


def test_transfers_with_one_instant_are_walked_once_each(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    with world.clock.hold():
        made = many(ann, 12)
        for conversation in made:
            ann.shares(conversation, bob, "reader")
        offered = {ann.offers(conversation, bob)["id"] for conversation in made}
    walked = bob.walks("list_transfers", limit=5, role="recipient")
    assert len(walked) == 12
    assert {t["id"] for t in walked} == offered


def test_memberships_with_one_instant_are_ordered_by_user(world: World) -> None:
    ann = world.user("ann")
    with world.clock.hold():
        conversation = ann.starts()
        members = world.members(conversation, ann, *["reader"] * 12)
    walked = ann.walks("list_memberships", conversation, limit=5)
    assert [m["userId"] for m in walked] == sorted([ann.name, *(m.name for m in members)])


def test_unchanged_conversations_are_never_skipped_during_writes(world: World) -> None:
    ann = world.user("ann")
    still, busy = many(ann, 40), many(ann, 10)

    def write() -> set[str]:
        for number in range(60):
            ann.says(busy[number % 10], "x")
        return set()

    def walk() -> set[str]:
        return {id_of(c) for c in ann.walks("list_conversations", limit=3)}

    for seen in at_once([write, walk, walk, walk])[1:]:
        assert seen >= set(still)


def test_entries_appended_during_a_walk_do_not_disturb_it(world: World) -> None:
    ann, conversation = world.user("ann"), new_id()
    for number in range(30):
        ann.says(conversation, str(number))

    def write() -> list[str]:
        for number in range(30, 60):
            ann.says(conversation, str(number))
        return []

    def walk() -> list[str]:
        return [text_of(e) for e in ann.walks("list_entries", conversation, limit=4)]

    for seen in at_once([write, walk, walk])[1:]:
        assert seen == [str(number) for number in range(len(seen))]
        assert len(seen) >= 30
