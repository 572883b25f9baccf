"""Whose word replaces whose: what somebody says of themself, and what others say of them."""

import pytest

from tests.support.memory.callers import Callers
from tests.support.memory.people import person_of
from tests.support.memory.statements import a_chat, memories_by_content, state_in_turn, status_of
from tests.support.searching import settle_memories
from tests.support.world import World, new_id

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)


@pytest.fixture
def callers(vector_world: World) -> Callers:
    """A server that compares by the words that two texts share."""
    return Callers(vector_world)


@pytest.mark.scenario(53)
def test_ones_own_word_replaces_hearsay_in_any_space_and_never_the_other_way_round(
    callers: Callers,
) -> None:
    pat, quinn = callers.person("pat"), callers.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (likes,) = state_in_turn(pat, "Quinn likes mayo", subjects=[me], learned_in=chat)
    (hobby,) = state_in_turn(pat, "Quinn's hobby is chess", subjects=[me], learned_in=chat)
    (hates,) = state_in_turn(quinn, "I hate mayo", subjects=[me])
    (old,) = memories_by_content(pat, status="superseded").values()
    assert (old["id"], old["superseded_by"]) == (likes["id"], hates["id"])
    assert old["retracted_at"] is not None
    assert memories_by_content(pat)[hobby["content"]]["trust"] == "hearsay"
    (again,) = state_in_turn(pat, "Quinn loves mayo", subjects=[me], learned_in=chat)
    assert (again["trust"], status_of(quinn, hates)) == ("hearsay", "active")
    assert status_of(pat, again) == "active"


def test_two_people_who_disagree_about_a_third_are_both_kept(callers: Callers) -> None:
    ann, bob, cleo = callers.person("ann"), callers.person("bob"), callers.person("cleo")
    chat = a_chat(ann, bob, cleo)
    members = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(cleo)]}
    (one,) = state_in_turn(ann, "Cleo lives in Porto", **members)
    (other,) = state_in_turn(bob, "Cleo lives in Lisbon", **members)
    rows = {row["id"]: row for row in cleo.lists("/memories", chat_id=chat)}
    assert rows[one["id"]]["conflicts_with"] == [other["id"]]
    assert rows[other["id"]]["conflicts_with"] == [one["id"]]


def test_nobody_replaces_what_somebody_said_of_themself(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    chat = a_chat(ann, bob)
    members = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(ann)]}
    (own,) = state_in_turn(ann, "Ann lives in Porto", **members)
    (claim,) = state_in_turn(bob, "Ann lives in Lisbon", **members)
    rows = {row["id"]: row for row in bob.lists("/memories", chat_id=chat)}
    assert {own["id"], claim["id"]} <= set(rows)
    assert (rows[own["id"]]["trust"], rows[claim["id"]]["trust"]) == ("fact", "hearsay")


def test_hearsay_that_comes_late_gives_way_to_what_was_said_after_it(callers: Callers) -> None:
    pat, quinn = callers.person("pat"), callers.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (hates,) = state_in_turn(quinn, "I hate mayo", subjects=[me])
    before = {"observed_at": "2020-05-01T00:00:00Z", "learned_in": chat}
    (likes,) = state_in_turn(pat, "Quinn likes mayo", subjects=[me], **before)
    (old,) = memories_by_content(pat, status="superseded").values()
    assert (old["id"], old["superseded_by"]) == (likes["id"], hates["id"])


def test_ones_word_in_an_open_space_leaves_hearsay_where_fewer_read_it(callers: Callers) -> None:
    pat, quinn = callers.person("pat"), callers.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (likes,) = state_in_turn(pat, "Quinn likes mayo", subjects=[me], learned_in=chat)
    agent = quinn.registers(id=f"a-{new_id()[-12:]}")["id"]
    quinn.adds("I hate mayo", subjects=[me], agent_id=agent, visibility="public")
    settle_memories(callers.world)
    assert status_of(pat, likes) == "active"
