"""The past of memories: `as_of` looks for, ranks and shows the version of an instant, and opens
nothing that is closed today."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from recollect.kernel.clock import to_text
from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.search import contents, ids, vector_flags
from tests.support.servers.embedding import EmbeddingServer

Reading = Callable[..., list[str]]


@pytest.fixture
def ann(callers: Callers) -> Caller:
    return callers.person("ann")


def own(caller: Caller, content: str, **members: Any) -> dict[str, Any]:
    return caller.adds(content, space={"kind": "user"}, **members)


def instant(callers: Callers) -> str:
    """An instant between what was and what comes."""
    callers.world.clock.advance(minutes=1)
    then = to_text(callers.world.clock.now())
    callers.world.clock.advance(minutes=1)
    return then


def changes(caller: Caller, memory: dict[str, Any], **members: Any) -> None:
    caller.patch("/memories/{}", memory["id"], body=members).expect(200)


def scores(found: Sequence[dict[str, Any]]) -> list[float]:
    return [hit["score"] for hit in found]


def recalled(caller: Caller, **members: Any) -> list[str]:
    return contents(caller.post("/memories/recall", body=members).expect(200)["items"])


def listed(caller: Caller, **filters: Any) -> list[str]:
    return contents(caller.lists("/memories", spaces="all", **filters))


def found(caller: Caller, **filters: Any) -> list[str]:
    return contents(caller.finds("the house", spaces="all", **_body(filters)))


def recalled_latest(caller: Caller, **filters: Any) -> list[str]:
    return recalled(caller, spaces="all", **_body(filters))


def _body(filters: dict[str, Any]) -> dict[str, Any]:
    """In a body these are lists."""
    lists = {name: [filters[name]] for name in ("tags", "types", "subjects") if name in filters}
    return filters | lists


READINGS = pytest.mark.parametrize("read", [listed, found, recalled_latest])


@READINGS
@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("tags", "old", "new"), ("types", "event", "task"), ("sensitivity", "public", "personal")],
)
def test_a_filter_asks_for_what_the_version_of_that_time_had(
    callers: Callers, ann: Caller, read: Reading, name: str, before: str, after: str
) -> None:
    def member(value: str) -> dict[str, Any]:
        return {"tags": [value]} if name == "tags" else {name.removesuffix("s"): value}

    house = own(ann, "the house is small", **member(before))
    then = instant(callers)
    changes(ann, house, content="the house is large", **member(after))

    assert read(ann, as_of=then, **{name: before}) == ["the house is small"]
    assert read(ann, as_of=then, **{name: after}) == []
    assert read(ann, **{name: before}) == []
    assert read(ann, **{name: after}) == ["the house is large"]


@READINGS
def test_a_version_is_about_whom_it_was_about(callers: Callers, ann: Caller, read: Reading) -> None:
    kim, lee, max_ = (
        ann.post("/people", body={"name": name}).expect(201)["id"]
        for name in ("Kim Park", "Lee Moss", "Max Rud")
    )
    house = own(ann, "the house is small", subjects=[kim])
    then = instant(callers)
    changes(ann, house, subjects=[lee])
    ann.post("/people/merge", body={"primary_id": max_, "secondary_id": kim}).expect(200)

    assert read(ann, as_of=then, subjects=kim) == ["the house is small"]
    assert read(ann, as_of=then, subjects=max_) == ["the house is small"]
    assert read(ann, as_of=then, subjects=lee) == []
    assert read(ann, subjects=max_) == []


def test_words_of_a_text_that_was_replaced_find_it_in_its_time_alone(
    callers: Callers, ann: Caller
) -> None:
    home = own(ann, "my home is porto")
    then = instant(callers)
    changes(ann, home, content="my home is lisbon")

    (hit,) = ann.finds("porto", spaces="all", as_of=then)
    assert (hit["content"], hit["version"], hit["why"]) == (
        "my home is porto",
        1,
        "Matches the word porto.",
    )
    assert ann.finds("lisbon", spaces="all", as_of=then) == []
    assert ann.finds("porto", spaces="all") == []
    assert contents(ann.finds("lisbon", spaces="all")) == ["my home is lisbon"]
    assert recalled(ann, query="porto", as_of=then) == ["my home is porto"]
    assert recalled(ann, query="lisbon", as_of=then) == []


def test_hits_of_a_past_stand_in_the_order_of_that_time(callers: Callers, ann: Caller) -> None:
    tea = own(ann, "green tea and more green tea")
    own(ann, "tea")
    jam = own(ann, "jam")
    at_first = ann.finds("green tea", spaces="all")
    then = instant(callers)
    changes(ann, tea, content="coffee")
    changes(ann, jam, content="green tea, green tea")

    past = ann.finds("green tea", spaces="all", as_of=then)
    assert contents(past) == ["green tea and more green tea", "tea"]
    assert ids(past) == ids(at_first)
    assert scores(past) == pytest.approx(scores(at_first), abs=1e-4)


def test_a_superseded_fact_is_found_as_of_its_time(callers: Callers, ann: Caller) -> None:
    porto = own(ann, "my home is porto")
    then = instant(callers)
    own(ann, "my home is lisbon", supersedes=[porto["id"]])
    assert contents(ann.finds("home", spaces="all", as_of=then)) == ["my home is porto"]
    assert contents(ann.finds("home", spaces="all")) == ["my home is lisbon"]


def test_what_is_closed_today_was_never_open(callers: Callers, ann: Caller) -> None:
    bob = callers.person("bob")
    told = own(ann, "the house of bob", subjects=[person_of(bob)])
    then = instant(callers)
    assert listed(bob, as_of=then) == ["the house of bob"]
    changes(ann, told, sensitivity="sensitive", subjects=[person_of(ann)])

    for read in (listed, found, recalled_latest):
        assert read(ann, as_of=then) == ["the house of bob"]
        assert read(bob, as_of=then) == []
    bob.get("/memories/{}", told["id"], as_of=then).refused(404, "not_found")


def test_what_was_private_then_does_not_weigh_on_what_others_find(
    callers: Callers, ann: Caller
) -> None:
    eve = callers.person("eve")
    me, her = person_of(ann), person_of(eve)
    secret = own(ann, "sings, sings and sings", sensitivity="sensitive", subjects=[me])
    own(ann, "she sings in a choir", subjects=[her])
    at_first = eve.finds("sings", spaces="all")
    then = instant(callers)
    changes(ann, secret, content="sings", sensitivity="public", subjects=[her])

    assert set(contents(eve.finds("sings", spaces="all"))) == {"sings", "she sings in a choir"}
    past = eve.finds("sings", spaces="all", as_of=then)
    assert contents(past) == ["she sings in a choir"]
    assert scores(past) == pytest.approx(scores(at_first), abs=1e-4)
    assert listed(eve, as_of=then) == recalled_latest(eve, as_of=then) == ["she sings in a choir"]


@pytest.mark.scenario(60)
def test_what_was_deleted_is_in_no_past(callers: Callers, ann: Caller) -> None:
    house = own(ann, "the house is small", tags=["old"])
    then = instant(callers)
    changes(ann, house, content="the house is large")
    assert found(ann, as_of=then) == ["the house is small"]
    ann.delete("/memories/{}", house["id"]).expect(204)
    for read in (listed, found, recalled_latest):
        assert read(ann, as_of=then) == []


def test_pages_of_a_past_go_on_behind_versions_that_do_not_fit(
    callers: Callers, ann: Caller
) -> None:
    made = [own(ann, f"the house number {n}", tags=["even"] if n % 2 else []) for n in range(12)]
    then = instant(callers)
    for one in made:
        changes(ann, one, tags=["even"])
    wanted = [one["content"] for one in reversed(made) if one["tags"]]
    assert listed(ann, as_of=then, tags="even", limit=2) == wanted
    assert set(found(ann, as_of=then, tags="even")) == set(wanted)


def test_a_relation_that_was_private_then_is_told_to_nobody_else(
    callers: Callers, ann: Caller
) -> None:
    eve = callers.person("eve")
    me, her = person_of(ann), person_of(eve)
    memory = own(ann, "I like jazz", sensitivity="sensitive", subjects=[me])
    then = instant(callers)
    changes(ann, memory, content="I like tea", sensitivity="public", subjects=[me, her])

    eve.get("/graph/entities/{}", me).expect(200)
    eve.get("/graph/entities/{}", me, as_of=then).refused(404, "not_found")
    assert len(ann.get("/graph/entities/{}", me, as_of=then).expect(200)["relations"]) == 1


@pytest.mark.parametrize("about_other", [False, True], ids=["about nobody", "about another"])
def test_a_new_subject_is_not_told_what_the_memory_said_before(
    callers: Callers, ann: Caller, about_other: bool
) -> None:
    eve, sue = callers.person("eve"), callers.person("sue")
    her, subjects = person_of(eve), [person_of(sue)] if about_other else []
    memory = own(ann, "the house of eve is ugly", subjects=subjects)
    then = instant(callers)
    changes(ann, memory, content="the house is lovely", subjects=[her])

    eve.get("/memories/{}", memory["id"], as_of=then).refused(404, "not_found")
    for read in (listed, found, recalled_latest):
        assert read(eve, as_of=then) == []
        assert read(eve) == ["the house is lovely"]
        assert read(ann, as_of=then) == ["the house of eve is ugly"]
    newest, oldest = eve.lists("/memories/{}/history", memory["id"])
    assert newest["content"] == "the house is lovely"
    assert {"content", "value"} & {*oldest} == set()
    assert (oldest["memory_id"], oldest["version"], oldest["by"]) == (memory["id"], 1, None)


def test_a_subject_under_an_id_that_was_merged_reads_what_was_said_of_them(
    callers: Callers, ann: Caller
) -> None:
    eve = callers.person("eve")
    her = person_of(eve)
    card = eve.post("/people", body={"name": "Evelyn Park"}).expect(201)["id"]
    memory = own(ann, "the house of evelyn is old", subjects=[card])
    then = instant(callers)
    changes(ann, memory, content="the house of evelyn is new")
    linked = {"primary_id": her, "secondary_id": card, "link_users": True}
    callers.admin.post("/people/merge", body=linked).expect(200)

    assert listed(eve, as_of=then) == ["the house of evelyn is old"]
    texts = [item["content"] for item in eve.lists("/memories/{}/history", memory["id"])]
    assert texts == ["the house of evelyn is new", "the house of evelyn is old"]


def test_the_meaning_of_a_text_that_was_replaced_finds_it_in_its_time(
    host: Host, embeddings: EmbeddingServer
) -> None:
    with host(**vector_flags(embeddings)) as world:
        callers = Callers(world)
        ann = callers.person("ann")
        home = own(ann, "my home is porto")
        then = instant(callers)
        changes(ann, home, content="the weather was fine")
        asked = {"spaces": "all", "mode": "semantic"}
        (hit,) = ann.finds("porto home", as_of=then, **asked)
        assert (hit["content"], hit["stages"]) == ("my home is porto", ["vector"])
