"""Who was known at an earlier instant, under which name, and with which claims."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import a_name, knows, merges, self_of


class Hours:
    """The instants of a story whose steps are an hour apart."""

    def __init__(self, callers: Callers) -> None:
        self._clock = callers.world.clock

    def next(self) -> str:
        """Now, before the next step begins."""
        now = str(self._clock.now().isoformat())
        self._clock.advance(seconds=3_600)
        return now


@pytest.fixture
def hours(callers: Callers) -> Iterator[Hours]:
    """A story that nothing else moves the clock in."""
    with callers.world.clock.hold():
        yield Hours(callers)


def found(caller: Caller, person: dict[str, Any], as_of: str) -> dict[str, Any] | None:
    """The person as the caller reads them then; None if nobody knew them."""
    reply = caller.get("/people/{}", person["id"], as_of=as_of)
    if reply.status == 404:
        return None
    body: dict[str, Any] = reply.expect(200)
    return body


def test_a_person_had_the_name_of_then(callers: Callers, hours: Hours) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    before = hours.next()
    old, new = a_name("Sam"), a_name("Samuel")
    sam = knows(ann, old, metadata={"desk": 1})
    first = hours.next()
    changed = ann.patch("/people/{}", sam["id"], body={"name": new, "metadata": {"desk": 2}})
    second = hours.next()
    assert found(ann, sam, before) is None
    assert found(ann, sam, first) == sam
    assert found(ann, sam, second) == changed.expect(200) == ann.get("/people/{}", sam["id"]).body
    # Today's rights: what is hidden now is hidden then.
    seen = found(bob, sam, first)
    assert seen is not None
    assert (seen["name"], seen["metadata"]) == (old, None)
    for query, instants in ((old, [first]), (new, [second])):
        for at in (before, first, second):
            people = ann.lists("/people", query=query, as_of=at)
            assert [one["id"] for one in people] == ([sam["id"]] if at in instants else [])
    listed = {at: [one["id"] for one in ann.lists("/people", as_of=at)] for at in (before, first)}
    assert sam["id"] in listed[first]
    assert sam["id"] not in listed[before]
    names = [one["name"] for one in ann.lists("/people", as_of=first, limit=1)]
    assert old in names
    assert new not in names


def test_claims_count_from_the_instant_at_which_they_were_stated(
    callers: Callers, hours: Hours
) -> None:
    ann = callers.person("ann")
    sam = knows(ann, a_name("Sam"))
    first = hours.next()
    alias = a_name("Sammy")
    ann.post("/people/{}/aliases", sam["id"], body={"value": alias}).expect(201)
    second = hours.next()
    claim = ann.post("/people/{}/relationships", sam["id"], body={"relationship": "friend"})
    third = hours.next()

    def claims(at: str) -> tuple[list[str], list[str]]:
        person = found(ann, sam, at)
        assert person is not None
        aliases = [one["value"] for one in person["aliases"]]
        return aliases, [one["relationship"] for one in person["relationships"]]

    assert [claims(at) for at in (first, second, third)] == [
        ([], []),
        ([alias], []),
        ([alias], ["friend"]),
    ]
    assert ann.lists("/people", query=alias, as_of=first) == []
    assert [one["id"] for one in ann.lists("/people", query=alias, as_of=second)] == [sam["id"]]
    # A claim that its stater has withdrawn is in no past, like a deleted memory.
    claim_id = claim.expect(201)["id"]
    ann.delete("/people/{}/relationships/{}", sam["id"], claim_id).expect(204)
    assert claims(third) == ([alias], [])


def test_one_of_two_who_turned_out_to_be_one_was_known_by_then(
    callers: Callers, hours: Hours
) -> None:
    ann = callers.person("ann")
    early = knows(ann, a_name("Sam"))
    first = hours.next()
    late = knows(ann, a_name("Samuel"))
    hours.next()
    merges(ann, late, early)
    for one in (early, late):
        person = found(ann, one, first)
        assert person is not None
        assert person["id"] == late["id"]


def test_a_deleted_person_is_in_no_past(callers: Callers, hours: Hours) -> None:
    ann = callers.person("ann")
    sam = knows(ann, a_name("Sam"))
    first = hours.next()
    ann.patch("/people/{}", sam["id"], body={"name": a_name("Samuel")}).expect(200)
    hours.next()
    ann.delete("/people/{}", sam["id"]).expect(204)
    assert found(ann, sam, first) is None
    left = callers.world.database.rows(
        "SELECT name FROM person_versions WHERE person_id = :id", id=sam["id"]
    )
    assert left == []


def test_memories_about_a_person_are_those_of_then(callers: Callers, hours: Hours) -> None:
    ann = callers.person("ann")
    me, mine = self_of(ann)["id"], {"space": {"kind": "user"}}
    before = hours.next()
    old = ann.adds("I live in Porto", subjects=["me"], **mine)
    first = hours.next()
    new = ann.adds("I live in Lisbon", subjects=["me"], supersedes=[old["id"]], **mine)
    second = hours.next()
    ann.patch("/memories/{}", new["id"], body={"content": "I live in Faro"}).expect(200)

    def texts(**query: Any) -> list[str]:
        return [one["content"] for one in ann.lists("/people/{}/memories", me, **query)]

    assert texts() == ["I live in Faro"]
    assert [texts(as_of=at) for at in (before, first, second)] == [
        [],
        ["I live in Porto"],
        ["I live in Lisbon"],
    ]
    ann.delete("/memories/{}", new["id"]).expect(204)
    assert [texts(as_of=at) for at in (first, second)] == [["I live in Porto"], []]


def test_an_instant_that_is_none_is_refused(callers: Callers) -> None:
    ann = callers.person("ann")
    for path in ("/people", f"/people/{self_of(ann)['id']}"):
        told = ann.get(path, as_of="yesterday").refused(422, "validation_error")
        assert [one["field"] for one in told["violations"]] == ["as_of"]
