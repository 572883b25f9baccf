"""Ownership transfers: who may offer, accept and cancel, and what an accepted one changes."""

from functools import partial
from typing import Any

import pytest

from tests.conftest import Serve
from tests.support.world import Ref, User, World, at_once, id_of, new_id


def offer(conversation: Ref, to: str) -> dict[str, str]:
    """The body of a new transfer."""
    return {"conversationId": id_of(conversation), "newOwnerUserId": to}


def pending(world: World) -> tuple[dict[str, Any], User, User, dict[str, Any]]:
    """A conversation of ann's with a transfer offered to bob, who is a reader."""
    ann = world.user("ann")
    conversation = ann.starts("The title")
    [bob] = world.members(conversation, ann, "reader")
    return conversation, ann, bob, ann.offers(conversation, bob)


def test_a_transfer_as_it_is_shown(world: World) -> None:
    conversation, ann, bob, transfer = pending(world)
    assert transfer == {
        "id": transfer["id"],
        "conversationId": conversation["id"],
        "conversationTitle": "The title",
        "fromUserId": ann.name,
        "toUserId": bob.name,
        "createdAt": transfer["createdAt"],
    }
    for user in (ann, bob):
        assert user.call("get_transfer", transfer).expect(200) == transfer
        assert user.walks("list_transfers") == [transfer]


def test_a_transfer_made_through_a_fork_names_the_root(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    fork = ann.forks(root, ann.says(root, "A"))
    [bob] = world.members(root, ann, "writer")
    assert ann.offers(fork, bob)["conversationId"] == root["id"]


def test_refusals_come_in_the_contracts_order(world: World) -> None:
    conversation, ann, bob, transfer = pending(world)
    [mia] = world.members(conversation, ann, "manager")
    unknown = new_id()
    missing = ann.call("create_transfer", body=offer(unknown, ann.name))
    assert missing.refused(404, "not_found") == {"resource": "conversation", "id": unknown}
    for user in (bob, mia, world.user("sam")):
        body = offer(conversation, user.name)
        user.call("create_transfer", body=body).refused(403, "forbidden")
    ann.call("create_transfer", body=offer(conversation, ann.name)).refused(400, "bad_request")
    ann.call("create_transfer", body=offer(conversation, "stranger")).refused(400, "bad_request")
    again = ann.call("create_transfer", body=offer(conversation, mia.name))
    again.refused(409, "TRANSFER_ALREADY_PENDING")
    assert again.body["existingTransferId"] == transfer["id"]
    assert "details" not in again.body
    for body in ({}, {"conversationId": conversation["id"]}, offer("no-uuid", mia.name)):
        ann.call("create_transfer", body=body).refused(400, "validation_error")


def test_who_may_do_what_with_a_transfer(world: World) -> None:
    conversation, ann, _, transfer = pending(world)
    [mia] = world.members(conversation, ann, "manager")
    for outsider in (mia, world.user("sam"), world.admin):
        outsider.call("get_transfer", transfer).refused(404, "not_found")
        outsider.call("accept_transfer", transfer).refused(403, "forbidden")
        outsider.call("delete_transfer", transfer).refused(403, "forbidden")
        assert outsider.walks("list_transfers") == []
    ann.call("accept_transfer", transfer).refused(403, "forbidden")
    ann.call("get_transfer", transfer).expect(200)


@pytest.mark.parametrize("who", ["sender", "recipient"])
def test_sender_and_recipient_may_end_it(world: World, who: str) -> None:
    conversation, ann, bob, transfer = pending(world)
    (ann if who == "sender" else bob).call("delete_transfer", transfer).expect(204)
    for operation in ("get_transfer", "accept_transfer", "delete_transfer"):
        bob.call(operation, transfer).refused(404, "not_found")
    assert ann.levels(conversation)[ann.name] == "owner"
    ann.offers(conversation, bob)


def test_the_list_takes_a_role_and_unknown_ones_mean_all(world: World) -> None:
    ann, bob = world.user("ann"), world.user("bob")
    sent, got = ann.starts(), bob.starts()
    ann.shares(sent, bob, "reader")
    bob.shares(got, ann, "reader")
    first, second = ann.offers(sent, bob)["id"], bob.offers(got, ann)["id"]

    def listed(**query: str) -> list[str]:
        return [t["id"] for t in ann.walks("list_transfers", **query)]

    assert listed() == listed(role="all") == listed(role="whatever") == [second, first]
    assert listed(role="sender") == [first]
    assert listed(role="Recipient") == [second]


@pytest.mark.scenario(25)
@pytest.mark.parametrize("leaves", [True, False])
def test_a_removed_recipient_loses_the_transfer(world: World, leaves: bool) -> None:
    conversation, ann, bob, transfer = pending(world)
    (bob if leaves else ann).call("remove_membership", conversation, bob.name).expect(204)
    for user in (ann, bob):
        user.call("get_transfer", transfer).refused(404, "not_found")
        user.call("accept_transfer", transfer).refused(404, "not_found")


def test_a_deleted_tree_loses_its_transfer(world: World) -> None:
    conversation, ann, bob, transfer = pending(world)
    ann.deletes(conversation)
    bob.call("accept_transfer", transfer).refused(404, "not_found")
    assert ann.walks("list_transfers") == []
    world.admin.call("admin_restore_conversation", conversation).expect(200)
    bob.call("get_transfer", transfer).refused(404, "not_found")


@pytest.mark.scenario(25)
def test_of_accept_and_cancel_at_once_one_succeeds(world: World) -> None:
    for _ in range(8):
        conversation, ann, bob, transfer = pending(world)
        accepted, cancelled = at_once(
            [
                partial(bob.call, "accept_transfer", transfer),
                partial(ann.call, "delete_transfer", transfer),
            ]
        )
        assert sorted([accepted.status, cancelled.status]) == [204, 404]
        owner, other = (bob, ann) if accepted.status == 204 else (ann, bob)
        levels = ann.levels(conversation)
        assert levels[owner.name] == "owner"
        assert list(levels.values()).count("owner") == 1
        assert other.gets(conversation)["ownerUserId"] == owner.name


@pytest.mark.scenario(26)
def test_an_accepted_transfer_changes_the_whole_tree(world: World) -> None:
    conversation, ann, bob, transfer = pending(world)
    entry = ann.says(conversation, "A")
    forks = [ann.forks(conversation, entry) for _ in range(2)]
    forks.append(ann.forks(forks[0], ann.says(forks[0], "B")))
    bob.call("accept_transfer", transfer).expect(204)
    for branch in (conversation, *forks):
        seen = bob.gets(branch)
        assert (seen["ownerUserId"], seen["accessLevel"]) == (bob.name, "owner")
        assert ann.gets(branch)["accessLevel"] == "manager"
    assert ann.levels(conversation) == {ann.name: "manager", bob.name: "owner"}
    bob.call("get_transfer", transfer).refused(404, "not_found")
    ann.call("delete_conversation", conversation).refused(403, "forbidden")
    bob.offers(conversation, ann)


def test_of_two_offers_at_once_one_gets_the_others_id(world: World) -> None:
    for _ in range(5):
        ann = world.user("ann")
        conversation = ann.starts()
        members = world.members(conversation, ann, "reader", "writer")
        replies = at_once(
            partial(ann.call, "create_transfer", body=offer(conversation, member.name))
            for member in members
        )
        made, refused = sorted(replies, key=lambda r: r.status)
        refused.refused(409, "TRANSFER_ALREADY_PENDING")
        assert refused.body["existingTransferId"] == made.expect(201)["id"]


@pytest.mark.amendment(17)
def test_an_offer_that_nobody_takes_lapses(serve: Serve) -> None:
    world = serve(transfers__ttl_days=2)
    conversation, ann, bob, transfer = pending(world)
    world.clock.advance(days=2, seconds=-60)
    assert bob.walks("list_transfers", limit=1) == [transfer]
    world.clock.advance(seconds=61)
    for user in (ann, bob):
        assert user.walks("list_transfers") == user.walks("list_transfers", limit=1) == []
        for operation in ("get_transfer", "delete_transfer"):
            gone = user.call(operation, transfer).refused(404, "not_found")
            assert gone == {"resource": "transfer", "id": transfer["id"]}
    bob.call("accept_transfer", transfer).refused(404, "not_found")
    assert ann.levels(conversation) == {ann.name: "owner", bob.name: "reader"}
    bob.call("accept_transfer", ann.offers(conversation, bob)).expect(204)
    assert ann.levels(conversation) == {ann.name: "manager", bob.name: "owner"}


@pytest.mark.amendment(17)
def test_an_offer_stands_for_a_month_by_default(serve: Serve) -> None:
    world = serve()
    _, _, bob, transfer = pending(world)
    world.clock.advance(days=30, seconds=-60)
    bob.call("get_transfer", transfer).expect(200)
    world.clock.advance(seconds=61)
    bob.call("get_transfer", transfer).refused(404, "not_found")
