"""Chats and who takes part in them."""

from typing import Any

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.world import at_once, new_id

GROUP = {"kind": "group"}


def a_chat(owner: Caller, *others: Caller, kind: str = "group") -> str:
    """A named chat of these users."""
    chat_id = f"room {new_id()}"
    owner.put("/chats/{}", chat_id, body={"kind": kind}).expect(201)
    for other in others:
        joins(owner, chat_id, other)
    return chat_id


def joins(by: Caller, chat_id: str, who: Caller) -> Any:
    """Bring a user in."""
    return by.put("/chats/{}/participants/{}", chat_id, who.name, body={"kind": "user"}).expect(200)


def present(caller: Caller, chat_id: str, **query: Any) -> set[str | None]:
    """User ids of those who take part."""
    stays = caller.lists("/chats/{}/participants", chat_id, **query)
    return {stay["user_id"] for stay in stays}


def test_who_makes_a_chat_takes_part_and_nobody_else_sees_it(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = f"Räume/{new_id()}"
    made = ann.put(
        "/chats/{}", chat_id, body={"kind": "group", "title": "Plans", "provider": "matrix"}
    ).expect(201)
    assert made == {
        "id": chat_id,
        "kind": "group",
        "title": "Plans",
        "provider": "matrix",
        "tree": False,
        "created_by": ann.name,
        "created_at": made["created_at"],
    }
    assert ann.get("/chats/{}", chat_id).expect(200) == made
    assert ann.lists("/chats") == [made]
    assert present(ann, chat_id) == {ann.name}
    assert bob.lists("/chats") == []
    bob.get("/chats/{}", chat_id).refused(404, "not_found")
    bob.get("/chats/{}/participants", chat_id).refused(404, "not_found")
    bob.put("/chats/{}", chat_id, body=GROUP).refused(404, "not_found")
    bob.put("/chats/{}/participants/{}", chat_id, bob.name, body={"kind": "user"}).refused(
        404, "not_found"
    )


def test_a_second_put_changes_what_was_sent(callers: Callers) -> None:
    ann = callers.person("ann")
    chat_id = new_id()
    ann.put("/chats/{}", chat_id, body=GROUP | {"title": "A", "provider": "x"}).expect(201)
    changed = ann.put("/chats/{}", chat_id, body={"kind": "private", "title": None}).expect(200)
    assert (changed["kind"], changed["title"], changed["provider"]) == ("private", None, "x")


def test_a_private_chat_has_one_human_and_any_number_of_agents(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers(name="Guide")
    chat_id = a_chat(ann, kind="private")
    second = ann.put("/chats/{}/participants/{}", chat_id, bob.name, body={"kind": "user"})
    assert second.refused(422, "validation_error")["violations"][0]["field"] == "kind"
    ann.put("/chats/{}/participants/{}", chat_id, agent["id"], body={"kind": "agent"}).expect(200)
    (me,) = ann.lists("/people", query=ann.name)
    # The person of the one human is the same human.
    ann.put("/chats/{}/participants/{}", chat_id, me["id"], body={"kind": "person"}).expect(200)
    ann.put("/chats/{}", chat_id, body=GROUP).expect(200)
    joins(ann, chat_id, bob)
    ann.put("/chats/{}", chat_id, body={"kind": "private"}).refused(422, "validation_error")


def test_leaving_ends_a_stay_and_returning_opens_another(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    bob.delete("/chats/{}/participants/{}", chat_id, bob.name).expect(204)
    assert present(ann, chat_id) == {ann.name}
    bob.get("/chats/{}", chat_id).refused(404, "not_found")
    bob.delete("/chats/{}/participants/{}", chat_id, bob.name).refused(404, "not_found")
    callers.world.clock.advance(seconds=60)
    joins(ann, chat_id, bob)
    stays = [
        stay
        for stay in ann.lists("/chats/{}/participants", chat_id, include_left="true", limit=1)
        if stay["user_id"] == bob.name
    ]
    assert [stay["left_at"] is None for stay in stays] == [False, True]
    assert joins(ann, chat_id, bob) == stays[1], "who takes part already stays as they are"


def test_who_left_is_shown_without_their_user_id(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    bob.delete("/chats/{}/participants/{}", chat_id, bob.name).expect(204)
    stays = ann.lists("/chats/{}/participants", chat_id, include_left="true")
    (left,) = [stay for stay in stays if stay["left_at"]]
    assert left["user_id"] is None
    assert left["person_id"] is not None


def test_only_oneself_the_creator_or_an_admin_ends_a_stay(callers: Callers) -> None:
    ann, bob, cid = callers.person("ann"), callers.person("bob"), callers.person("cid")
    chat_id = a_chat(ann, bob, cid)
    bob.delete("/chats/{}/participants/{}", chat_id, cid.name).refused(403, "forbidden")
    callers.person("eve").delete("/chats/{}/participants/{}", chat_id, cid.name).refused(
        404, "not_found"
    )
    callers.admin.delete("/chats/{}/participants/{}", chat_id, cid.name).expect(204)
    ann.delete("/chats/{}/participants/{}", chat_id, bob.name).expect(204)
    ann.delete("/chats/{}/participants/{}", chat_id, ann.name).expect(204)
    # A creator who left may bring somebody in, and does not see the chat.
    ann.get("/chats/{}", chat_id).refused(404, "not_found")
    joins(ann, chat_id, ann)
    assert present(ann, chat_id) == {ann.name}


def test_the_past_opens_to_newcomers_by_the_creator_alone(callers: Callers) -> None:
    ann, bob, cid = callers.person("ann"), callers.person("bob"), callers.person("cid")
    chat_id = a_chat(ann, bob)
    begun = ann.get("/chats/{}", chat_id).expect(200)["created_at"]
    callers.world.clock.advance(seconds=3_600)
    body = {"kind": "user", "joined_at": begun}
    path = ("/chats/{}/participants/{}", chat_id, cid.name)
    bob.put(*path, body=body).refused(403, "forbidden")
    before = body | {"joined_at": "2001-01-01T00:00:00Z"}
    ann.put(*path, body=before).refused(422, "validation_error")
    ahead = body | {"joined_at": "2999-01-01T00:00:00Z"}
    ann.put(*path, body=ahead).refused(422, "validation_error")
    assert ann.put(*path, body=body).expect(200)["joined_at"] == begun


def test_an_unknown_agent_or_person_takes_no_part(callers: Callers) -> None:
    ann, eve = callers.person("ann", orgs=("acme",)), callers.person("eve", orgs=("other",))
    chat_id = a_chat(ann)
    eve.get("/people").expect(200)
    (stranger,) = eve.lists("/people", query=eve.name)
    for kind, id_ in (("agent", "nobody"), ("person", new_id()), ("person", stranger["id"])):
        ann.put("/chats/{}/participants/{}", chat_id, id_, body={"kind": kind}).refused(
            404, "not_found"
        )
    ann.put("/chats/{}/participants/{}", chat_id, "agent:x", body={"kind": "user"}).refused(
        422, "validation_error"
    )


def test_an_agent_in_a_chat_sees_it_and_brings_people_in(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = ann.registers(name="Guide")
    robot = callers.agent(agent["id"])
    chat_id = f"room {new_id()}"
    robot.put("/chats/{}", chat_id, body={"kind": "private"}).expect(201)
    joins(robot, chat_id, bob)
    stays = bob.lists("/chats/{}/participants", chat_id)
    assert {stay["agent_id"] for stay in stays} == {None, agent["id"]}
    assert [chat["id"] for chat in robot.lists("/chats")] == [chat_id]


def test_namesakes_of_two_kinds_are_told_apart(callers: Callers) -> None:
    ann = callers.person("ann")
    bob = callers.person("bob")
    ann.post("/agents", body={"id": bob.name}).expect(201)
    chat_id = a_chat(ann, bob)
    ann.put("/chats/{}/participants/{}", chat_id, bob.name, body={"kind": "agent"}).expect(200)
    ann.delete("/chats/{}/participants/{}", chat_id, bob.name).refused(422, "validation_error")
    ann.delete("/chats/{}/participants/{}", chat_id, bob.name, kind="agent").expect(204)
    assert present(ann, chat_id) == {ann.name, bob.name}


def test_a_conversation_is_a_chat_that_is_changed_elsewhere(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    tree = ann.user.starts("Our trip")
    chat = ann.get("/chats/{}", tree["id"]).expect(200)
    assert (chat["kind"], chat["tree"], chat["title"]) == ("private", True, "Our trip")
    assert ann.lists("/chats") == [chat]
    bob.get("/chats/{}", tree["id"]).refused(404, "not_found")
    bob.put("/chats/{}", tree["id"], body=GROUP).refused(404, "not_found")
    ann.put("/chats/{}", tree["id"], body=GROUP).refused(422, "validation_error")
    ann.put("/chats/{}/participants/{}", tree["id"], bob.name, body={"kind": "user"}).refused(
        422, "validation_error"
    )
    ann.user.shares(tree["id"], bob.user, "reader")
    assert bob.get("/chats/{}", tree["id"]).expect(200)["kind"] == "group"
    assert present(bob, tree["id"]) == {ann.name, bob.name}
    bob.delete("/chats/{}/participants/{}", tree["id"], bob.name).refused(422, "validation_error")
    ann.user.deletes(tree["id"])
    ann.get("/chats/{}", tree["id"]).refused(404, "not_found")
    ann.put("/chats/{}", tree["id"], body=GROUP).refused(404, "not_found")


def test_a_named_chats_id_is_taken_for_conversations(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = new_id()
    ann.put("/chats/{}", chat_id, body=GROUP).expect(201)
    text = {"role": "USER", "text": "hello"}
    body = {"channel": "history", "contentType": "history", "content": [text]}
    for user in (ann.user, bob.user):
        assert user.call("append", chat_id, body=body).status == 403
    assert ann.get("/chats/{}", chat_id).expect(200)["tree"] is False


@pytest.mark.scenario(50)
def test_a_secret_in_a_chat_title_is_refused_and_stored_nowhere(callers: Callers) -> None:
    ann = callers.person("ann")
    secret = "sk-ant-" + "a1" * 12
    chat_id = f"room {new_id()}"
    for _ in range(2):
        refused = ann.put("/chats/{}", chat_id, body=GROUP | {"title": f"key {secret}"})
        assert refused.refused(422, "secret_refused") == {
            "field": "title",
            "family": "provider_key",
        }
        assert secret not in str(refused.body)
        ann.put("/chats/{}", chat_id, body=GROUP)


def test_chats_come_newest_first_in_pages(callers: Callers) -> None:
    ann = callers.person("ann")
    made = []
    for _ in range(5):
        made.append(a_chat(ann))
        callers.world.clock.advance(seconds=1)
    assert [chat["id"] for chat in ann.lists("/chats", limit=2)] == made[::-1]
    ann.get("/chats", after="nonsense").refused(422, "validation_error")


def test_of_many_who_join_a_private_chat_at_once_one_gets_in(callers: Callers) -> None:
    ann = callers.person("ann")
    robot = callers.agent(ann.registers(name="Guide")["id"])
    chat_id = f"room {new_id()}"
    robot.put("/chats/{}", chat_id, body={"kind": "private"}).expect(201)
    people = [callers.person("p") for _ in range(8)]
    path = "/chats/{}/participants/{}"
    replies = at_once(
        [
            lambda one=one: robot.put(path, chat_id, one.name, body={"kind": "user"})  # type: ignore[misc]
            for one in people
        ]
    )
    assert sorted(reply.status for reply in replies) == [200] + [422] * 7
    stays = robot.lists("/chats/{}/participants", chat_id)
    assert len([stay for stay in stays if stay["person_id"]]) == 1


def test_of_two_who_make_one_chat_at_once_one_has_it(callers: Callers) -> None:
    people = [callers.person("p") for _ in range(4)]
    chat_id = f"room {new_id()}"
    replies = at_once(
        [lambda one=one: one.put("/chats/{}", chat_id, body=GROUP) for one in people]  # type: ignore[misc]
    )
    assert sorted(reply.status for reply in replies) == [201, 404, 404, 404]


def test_ids_that_no_chat_can_have_are_unknown_or_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    chat_id = a_chat(ann)
    for strange in ("\x00", "x" * 300, "\x00" + chat_id):
        ann.get("/chats/{}", strange).refused(404, "not_found")
        ann.put("/chats/{}", strange, body=GROUP).refused(422, "validation_error")
        for kind in ("user", "person", "agent"):
            ann.put("/chats/{}/participants/{}", chat_id, strange, body={"kind": kind}).refused(
                422, "validation_error"
            )
        ann.delete("/chats/{}/participants/{}", chat_id, strange).refused(404, "not_found")
