"""Whose word replaces whose: what somebody says of themself, and what others say of them."""

import pytest

from tests.support.memory.callers import Town
from tests.support.memory.people import person_of
from tests.support.memory.statements import a_chat, known, status_of, told
from tests.support.searching import settle_memories
from tests.support.world import World, new_id

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)


@pytest.fixture
def town(vector_world: World) -> Town:
    """A server that compares by the words that two texts share."""
    return Town(vector_world)


@pytest.mark.scenario(53)
def test_ones_own_word_replaces_hearsay_in_any_space_and_never_the_other_way_round(
    town: Town,
) -> None:
    pat, quinn = town.person("pat"), town.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (likes,) = told(pat, "Quinn likes mayo", subjects=[me], learned_in=chat)
    (hobby,) = told(pat, "Quinn's hobby is chess", subjects=[me], learned_in=chat)
    (hates,) = told(quinn, "I hate mayo", subjects=[me])
    (old,) = known(pat, status="superseded").values()
    assert (old["id"], old["superseded_by"]) == (likes["id"], hates["id"])
    assert old["retracted_at"] is not None
    assert known(pat)[hobby["content"]]["trust"] == "hearsay"
    (again,) = told(pat, "Quinn loves mayo", subjects=[me], learned_in=chat)
    assert (again["trust"], status_of(quinn, hates)) == ("hearsay", "active")
    assert status_of(pat, again) == "active"


def test_two_people_who_disagree_about_a_third_are_both_kept(town: Town) -> None:
    ann, bob, cleo = town.person("ann"), town.person("bob"), town.person("cleo")
    chat = a_chat(ann, bob, cleo)
    members = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(cleo)]}
    (one,) = told(ann, "Cleo lives in Porto", **members)
    (other,) = told(bob, "Cleo lives in Lisbon", **members)
    rows = {row["id"]: row for row in cleo.lists("/memories", chat_id=chat)}
    assert rows[one["id"]]["conflicts_with"] == [other["id"]]
    assert rows[other["id"]]["conflicts_with"] == [one["id"]]


def test_nobody_replaces_what_somebody_said_of_themself(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    chat = a_chat(ann, bob)
    members = {"space": {"kind": "chat", "id": chat}, "subjects": [person_of(ann)]}
    (own,) = told(ann, "Ann lives in Porto", **members)
    (claim,) = told(bob, "Ann lives in Lisbon", **members)
    rows = {row["id"]: row for row in bob.lists("/memories", chat_id=chat)}
    assert {own["id"], claim["id"]} <= set(rows)
    assert (rows[own["id"]]["trust"], rows[claim["id"]]["trust"]) == ("fact", "hearsay")


def test_hearsay_that_comes_late_gives_way_to_what_was_said_after_it(town: Town) -> None:
    pat, quinn = town.person("pat"), town.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (hates,) = told(quinn, "I hate mayo", subjects=[me])
    before = {"observed_at": "2020-05-01T00:00:00Z", "learned_in": chat}
    (likes,) = told(pat, "Quinn likes mayo", subjects=[me], **before)
    (old,) = known(pat, status="superseded").values()
    assert (old["id"], old["superseded_by"]) == (likes["id"], hates["id"])


def test_ones_word_in_an_open_space_leaves_hearsay_where_fewer_read_it(town: Town) -> None:
    pat, quinn = town.person("pat"), town.person("quinn")
    me = person_of(quinn)
    chat = a_chat(pat, quinn)
    (likes,) = told(pat, "Quinn likes mayo", subjects=[me], learned_in=chat)
    agent = quinn.registers(id=f"a-{new_id()[-12:]}")["id"]
    quinn.adds("I hate mayo", subjects=[me], agent_id=agent, visibility="public")
    settle_memories(town.world)
    assert status_of(pat, likes) == "active"
