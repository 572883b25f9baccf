"""A POST of the conversation API that is sent again under its key is done once."""

from collections.abc import Callable
from typing import Any

import pytest

from recollect.idempotency.service import ABANDONED_AFTER, KEY_LIFETIME
from tests.conftest import Serve
from tests.support.api import Reply
from tests.support.encryption import KEY_A
from tests.support.world import User, World, at_once, history, id_of, memory, new_id

pytestmark = [pytest.mark.surfaces("grpc"), pytest.mark.amendment(13)]

SENT = (("k", "A"), ("other", "B"))
CALLS = ("create", "append", "note", "sync", "fork", "share", "transfer")


@pytest.fixture
def agent(world: World) -> User:
    """Ann through a client: over gRPC every append needs a key."""
    return world.user("ann").with_key("k1")


def request_of(world: World, agent: User, name: str) -> Callable[[User], Reply]:
    """A request that changes something, ready to be sent."""
    root = new_id()
    entry = agent.says(root, "A")
    bob = world.user("bob")
    if name == "transfer":
        agent.shares(root, bob, "reader")
    requests: dict[str, tuple[Any, ...]] = {
        "create": ("create_conversation", (), {"title": "Once"}),
        "append": ("append", (root,), history("B")),
        "note": ("append", (root,), memory(["n"])),
        "sync": ("sync", (root,), memory(["n"])),
        "fork": ("fork", (root, id_of(entry)), {"title": "F"}),
        "share": ("share", (root,), {"userId": bob.name, "accessLevel": "reader"}),
        "transfer": ("create_transfer", (), {"conversationId": root, "newOwnerUserId": bob.name}),
    }
    operation, ids, body = requests[name]
    return lambda user: user.call(operation, *ids, body=body)


def cut_off(world: World, user: User) -> None:
    """As if the server had died after the change and before it kept the answer, a while ago."""
    world.database.rows(
        "UPDATE idempotency_answers SET status = NULL WHERE requester_id = :who", who=user.name
    )
    world.clock.advance(seconds=ABANDONED_AFTER.total_seconds())


@pytest.mark.parametrize("name", CALLS)
def test_a_repeat_gets_the_first_answer(world: World, agent: User, name: str) -> None:
    send = request_of(world, agent, name)
    first = send(agent.under("k"))
    assert first.status in (200, 201), first.body
    assert send(agent.under("k")).body == first.body


@pytest.mark.parametrize("name", CALLS)
def test_a_request_that_was_cut_off_changes_nothing_a_second_time(
    world: World, agent: User, name: str
) -> None:
    send = request_of(world, agent, name)
    first = send(agent.under("k"))
    cut_off(world, agent)
    assert send(agent.under("k")).body == first.body
    events = world.auditor.walks("admin_list_events", actorUserId=agent.name)
    assert len([e for e in events if e["kind"] in ("membership", "transfer")]) in (0, 1, 2)
    assert len([e for e in events if (e["kind"], e["action"]) == ("membership", "update")]) == 0


def test_an_entry_is_there_once_however_often_it_was_sent(world: World, agent: User) -> None:
    conversation = new_id()
    for _ in range(3):
        agent.under("first").says(conversation, "A")
        agent.under("second").says(conversation, "B")
    replies = at_once(
        [lambda: agent.under("third").call("append", conversation, body=history("C"))] * 6
    )
    assert {reply.status for reply in replies} <= {201, 409}
    assert agent.texts(conversation) == ["A", "B", "C"]


def test_an_accepted_transfer_stays_accepted(world: World, agent: User) -> None:
    root = new_id()
    agent.says(root, "A")
    bob = world.user("bob")
    agent.shares(root, bob, "reader")
    offer = agent.offers(root, bob)
    bob.under("k").call("accept_transfer", offer).expect(204)
    bob.under("k").call("accept_transfer", offer).expect(204)
    cut_off(world, bob)
    bob.under("k").call("accept_transfer", offer).expect(204)
    bob.call("accept_transfer", offer).refused(404, "not_found")
    assert bob.gets(root)["ownerUserId"] == bob.name


def test_a_later_sync_is_not_undone_by_a_repeat(world: World, agent: User) -> None:
    root = new_id()
    agent.says(root, "A")
    agent.syncs(root, ["a"])
    first = agent.under("k").syncs(root, ["b"])
    agent.syncs(root, ["c"])
    cut_off(world, agent)
    assert agent.under("k").syncs(root, ["b"]) == first
    assert first["epochIncremented"] is True
    assert agent.texts(root, channel="memory") == ["c"]


def test_a_key_belongs_to_one_user_client_and_operation(world: World, agent: User) -> None:
    root = new_id()
    agent.under("k").says(root, "A")
    bob = world.user("bob").with_key("k1")
    agent.shares(root, bob, "writer")
    agent.with_key("k2").under("k").says(root, "B")
    bob.under("k").says(root, "C")
    assert agent.under("k").starts("another operation")["title"] == "another operation"
    assert agent.texts(root) == ["A", "B", "C"]
    other = agent.under("k").call("append", root, body=history("D"))
    other.refused(409, "conflict")


def test_after_a_refusal_the_key_is_free(world: World, agent: User) -> None:
    root = new_id()
    stranger = world.user("bob").with_key("k1")
    agent.says(root, "A")
    stranger.under("k").call("append", root, body=history("B")).refused(403, "forbidden")
    agent.shares(root, stranger, "writer")
    stranger.under("k").says(root, "C")
    assert agent.texts(root) == ["A", "C"]


def test_a_search_under_a_key_is_answered_anew(world: World, agent: User) -> None:
    body = {"query": "kumquat"}
    assert agent.under("s").call("search", body=body).expect(200)["data"] == []
    agent.says(new_id(), "a kumquat")
    assert len(agent.under("s").call("search", body=body).expect(200)["data"]) == 1
    other = agent.under("s").call("search", body={"query": "other"})
    other.refused(409, "conflict")


def test_a_day_later_the_key_is_free_and_the_entry_stays(world: World, agent: User) -> None:
    root = new_id()
    agent.under("k").says(root, "A")
    world.clock.advance(seconds=KEY_LIFETIME.total_seconds())
    agent.under("k").says(root, "B")
    assert agent.texts(root) == ["A", "B"]


def test_a_malformed_key_is_refused(world: World, agent: User) -> None:
    details = agent.under("k" * 256).call("create_conversation", body={})
    details.refused(400, "validation_error")
    assert agent.walks("list_conversations") == []


def test_kept_answers_are_sealed_with_the_texts(serve: Serve) -> None:
    world = serve(encryption__keys=[KEY_A])
    agent, root = world.user("ann").with_key("k1"), new_id()
    first = agent.under("k").says(root, "a kumquat in the cellar")
    agent.under("k").starts("the kumquat papers")
    [[one], [two]] = world.database.rows("SELECT answer FROM idempotency_answers")
    for kept in (one, two):
        assert kept.startswith("\x01")
    assert agent.under("k").says(root, "a kumquat in the cellar") == first


@pytest.mark.amendment(17)
def test_what_quotes_a_deleted_entry_is_not_answered_again(world: World, agent: User) -> None:
    root, text = new_id(), "the zanzibar papers"
    entry = agent.under("k").says(root, text)
    later = agent.under("later").says(root, "later")
    fork = agent.under("k").call("fork", root, later).expect(201)
    assert fork["lastMessagePreview"] == text
    agent.call("delete_entry", root, entry).expect(204)
    assert "zanzibar" not in str(world.database.contents(["idempotency_answers"]))
    agent.under("k").call("append", root, body=history(text)).refused(409, "conflict")
    agent.under("k").call("fork", root, later).refused(409, "conflict")
    assert agent.under("later").says(root, "later") == later


@pytest.mark.amendment(17)
def test_no_answer_quotes_a_deleted_entry_that_a_later_text_has_replaced(
    world: World, agent: User
) -> None:
    root, text = new_id(), "the zanzibar papers"
    entry = agent.says(root, text)
    bob = world.user("bob")
    agent.shares(root, bob, "reader")
    assert agent.under("t").offers(root, bob)["conversationTitle"] == text
    fork = agent.under("k").call("fork", root, agent.says(root, "later")).expect(201)
    agent.says(fork, "of its own")
    agent.call("update_conversation", fork, body={"title": "another title"}).expect(200)
    agent.call("delete_entry", root, entry).expect(204)
    assert "zanzibar" not in str(world.database.contents(["idempotency_answers"]))


@pytest.mark.amendment(15)
def test_an_answer_that_can_not_be_read_refuses_the_key_and_repeats_nothing(serve: Serve) -> None:
    world = serve(encryption__keys=[KEY_A])
    agent, root = world.user("ann").with_key("k1"), new_id()
    agent.under("k").says(root, "A")
    agent.under("other").says(root, "B")
    world.database.rows(
        "UPDATE idempotency_answers SET answer = (SELECT min(answer) FROM idempotency_answers)"
    )
    again = [agent.under(key).call("append", root, body=history(text)) for key, text in SENT]
    assert sorted(reply.status for reply in again) == [201, 409]
    assert agent.texts(root) == ["A", "B"]
