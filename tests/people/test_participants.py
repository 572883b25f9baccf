"""One human takes part once, whichever way they were brought in."""

import pytest

from recollect.kernel.ids import ChatId, PersonId
from recollect.people.chat import Participant, ParticipantKind
from tests.people.test_chats import GROUP, a_chat, joins
from tests.support.events import settle
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, merges, person_of, self_of
from tests.support.memory.store import StoredMemories

ONE = "/chats/{}/participants/{}"
KINDS = ("user", "person")


def id_of(caller: Caller, kind: str) -> str:
    return caller.name if kind == "user" else person_of(caller)


def brings(by: Caller, chat_id: str, who: Caller, kind: str) -> dict[str, object]:
    stay: dict[str, object] = by.put(ONE, chat_id, id_of(who, kind), body={"kind": kind}).expect(
        200
    )
    return stay


def open_stays(caller: Caller, chat_id: str, who: str) -> list[dict[str, object]]:
    stays = caller.lists("/chats/{}/participants", chat_id)
    return [stay for stay in stays if stay["person_id"] == who]


def is_out(caller: Caller, chat_id: str) -> None:
    caller.get("/chats/{}", chat_id).refused(404, "not_found")
    space = {"kind": "chat", "id": chat_id}
    caller.post("/memories", body={"content": "still here", "space": space}).refused(
        404, "not_found"
    )


@pytest.mark.parametrize("removed_as", KINDS)
@pytest.mark.parametrize("added_as", KINDS)
def test_who_is_removed_is_out_whichever_way_they_came_in(
    callers: Callers, added_as: str, removed_as: str
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    stay = brings(ann, chat_id, bob, added_as)
    for kind in KINDS:
        assert brings(ann, chat_id, bob, kind) == stay, "a second way in is none"
    assert open_stays(ann, chat_id, person_of(bob)) == [stay]
    ann.delete(ONE, chat_id, id_of(bob, removed_as)).expect(204)
    assert open_stays(ann, chat_id, person_of(bob)) == []
    is_out(bob, chat_id)
    for kind in KINDS:
        ann.delete(ONE, chat_id, id_of(bob, kind)).refused(404, "not_found")


@pytest.mark.parametrize("left_as", KINDS)
@pytest.mark.parametrize("added_as", KINDS)
def test_everybody_leaves_by_either_id(callers: Callers, added_as: str, left_as: str) -> None:
    ann, bob, cid = callers.person("ann"), callers.person("bob"), callers.person("cid")
    chat_id = a_chat(ann, cid)
    brings(ann, chat_id, bob, added_as)
    cid.delete(ONE, chat_id, id_of(bob, left_as)).refused(403, "forbidden")
    bob.delete(ONE, chat_id, id_of(bob, left_as)).expect(204)
    is_out(bob, chat_id)


@pytest.mark.parametrize("removed_as", KINDS)
def test_stays_of_both_kinds_end_together(
    callers: Callers, stored_memories: StoredMemories, removed_as: str
) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    twice = Participant(ParticipantKind.PERSON, person_of(bob), stored_memories.now)
    stored_memories.storage.do(stored_memories.storage.stores.chats.join, ChatId(chat_id), twice)
    assert len(open_stays(ann, chat_id, person_of(bob))) == 2
    ann.delete(ONE, chat_id, id_of(bob, removed_as), kind=removed_as).expect(204)
    assert open_stays(ann, chat_id, person_of(bob)) == []
    is_out(bob, chat_id)


@pytest.mark.parametrize("by", ["user", "person", "merged"])
def test_a_merge_makes_one_participant_of_two(callers: Callers, by: str) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    nick, me = knows(bob, a_name("Nick")), self_of(bob)
    bob.put(ONE, chat_id, nick["id"], body={"kind": "person"}).expect(200)
    merges(bob, me, nick).expect(200)
    ids = {"user": bob.name, "person": me["id"], "merged": nick["id"]}
    ann.delete(ONE, chat_id, ids[by]).expect(204)
    assert open_stays(ann, chat_id, me["id"]) == []
    is_out(bob, chat_id)
    bob.post("/people/{}/unmerge", me["id"], body={"secondary_id": nick["id"]}).expect(200)
    is_out(bob, chat_id)


def test_a_person_who_is_a_user_counts_once_in_a_private_chat(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, kind="private")
    assert brings(ann, chat_id, ann, "person")["user_id"] == ann.name
    ann.put(ONE, chat_id, person_of(bob), body={"kind": "person"}).refused(422, "validation_error")
    assert len(ann.lists("/chats/{}/participants", chat_id)) == 1


def test_who_was_brought_in_as_a_person_follows_the_chat_as_a_user(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    brings(ann, chat_id, bob, "person")
    settle(callers.world.database)
    (event,) = bob.lists("/events", event_type="chat.join")
    assert event["payload"]["member_id"] == person_of(bob), "ann need not learn who the user is"


def test_who_returns_by_the_other_way_has_a_second_stay(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann)
    brings(ann, chat_id, bob, "person")
    bob.delete(ONE, chat_id, bob.name).expect(204)
    callers.world.clock.advance(seconds=60)
    joins(ann, chat_id, bob)
    stays = ann.lists("/chats/{}/participants", chat_id, include_left="true")
    mine = [stay["left_at"] is None for stay in stays if stay["person_id"] == person_of(bob)]
    assert mine == [False, True]


def test_a_user_named_as_somebodys_person_is_told_apart(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat_id = a_chat(ann, bob)
    namesake = PersonId(person_of(bob))
    ann.put(ONE, chat_id, namesake, body={"kind": "user"}).expect(200)
    ann.delete(ONE, chat_id, namesake).refused(422, "validation_error")
    ann.delete(ONE, chat_id, namesake, kind="user").expect(204)
    bob.get("/chats/{}", chat_id).expect(200)
    ann.put("/chats/{}", chat_id, body=GROUP).expect(200)
