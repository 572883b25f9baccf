"""Search: what is found, by whom, in which order, and how a walk through the results goes."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.searching import TYPES, settle, walk
from tests.support.world import User, World, new_id, text_of

MANY = 250
every_type = pytest.mark.parametrize("kind", TYPES)


@pytest.fixture(scope="module")
def world(vector_world: World) -> World:
    """A server with every kind of search."""
    return vector_world


@pytest.fixture(scope="module")
def reader_of_many(world: World) -> User:
    """Somebody with one matching entry in each of many conversations."""
    ann = world.user("ann")
    for number in range(MANY):
        ann.says(new_id(), f"harbour lantern {number}")
    settle(world)
    return ann


@pytest.fixture(scope="module")
def grouped(world: World) -> User:
    """Somebody with three matching entries in one conversation and one in another."""
    ann = world.user("ann")
    crowded = ann.starts("crowded")
    for text in ("walnut once", "walnut walnut walnut", "a walnut between other words"):
        ann.says(crowded, text)
    ann.says(ann.starts("lonely"), "one more walnut")
    settle(world)
    return ann


def texts(results: list[dict[str, Any]]) -> list[str]:
    return [text_of(result["entry"]) for result in results]


def said(world: World, *lines: str) -> User:
    """A new user who has said each of these in a conversation of its own."""
    user = world.user("ann")
    for line in lines:
        user.says(new_id(), line)
    settle(world)
    return user


@pytest.mark.scenario(31)
@every_type
def test_a_walk_shows_each_result_once(reader_of_many: User, kind: str) -> None:
    found = walk(reader_of_many, query="harbour lantern", searchType=kind, limit=20)
    assert sorted(texts(found)) == sorted(f"harbour lantern {number}" for number in range(MANY))
    order = [(result["score"], result["entryId"]) for result in found]
    assert order == sorted(order, reverse=True)


@pytest.mark.scenario(31)
@every_type
def test_a_cursor_belongs_to_its_question_and_its_caller(
    world: World, reader_of_many: User, kind: str
) -> None:
    asked: dict[str, Any] = {"query": "harbour lantern", "searchType": kind, "limit": 20}
    cursor = reader_of_many.call("search", body=asked).expect(200)["nextCursor"]
    other = "fulltext" if kind == "semantic" else "semantic"
    for change in (
        {"query": "harbour"},
        {"query": "harbour lantern "},
        {"searchType": other},
        {"groupByConversation": False},
    ):
        reply = reader_of_many.call("search", body=asked | change | {"after": cursor})
        assert reply.refused(400, "bad_request")["field"] == "after", change
    reply = world.user("sam").call("search", body=asked | {"after": cursor})
    assert reply.refused(400, "bad_request")["field"] == "after"
    reply = world.admin.call("admin_search", body=asked | {"after": cursor})
    assert reply.refused(400, "bad_request")["field"] == "after"


def test_a_walk_may_change_its_page_size(reader_of_many: User) -> None:
    asked: dict[str, Any] = {"query": "harbour", "searchType": "fulltext"}
    whole = walk(reader_of_many, **asked, limit=1000)
    first = reader_of_many.call("search", body=asked | {"limit": 3}).expect(200)
    rest = asked | {"limit": 1000, "after": first["nextCursor"], "includeEntry": False}
    second = reader_of_many.call("search", body=rest).expect(200)
    assert [r["entryId"] for r in first["data"] + second["data"]] == [r["entryId"] for r in whole]
    assert second["nextCursor"] is None


def test_a_full_last_page_has_no_cursor(reader_of_many: User) -> None:
    asked = {"query": "harbour", "searchType": "fulltext", "limit": MANY}
    page = reader_of_many.call("search", body=asked).expect(200)
    assert (len(page["data"]), page["nextCursor"]) == (MANY, None)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "x",
        lambda _: new_id(),
        lambda cursor: cursor[:-1],
        lambda cursor: cursor + "A",
        lambda cursor: cursor.swapcase(),
        lambda _: "A" * 10_000,
        lambda _: "' OR 1=1 --",
    ],
    ids=["letter", "id", "cut", "longer", "other case", "huge", "sql"],
)
def test_a_cursor_that_was_not_given_is_refused(
    reader_of_many: User, damage: Callable[[str], str]
) -> None:
    asked = {"query": "harbour", "limit": 2}
    cursor = reader_of_many.call("search", body=asked).expect(200)["nextCursor"]
    reply = reader_of_many.call("search", body=asked | {"after": damage(cursor)})
    assert reply.refused(400, "bad_request")["field"] == "after"


@every_type
def test_the_default_is_one_result_a_conversation(grouped: User, kind: str) -> None:
    found = grouped.finds("walnut", searchType=kind)
    assert sorted(result["conversationTitle"] for result in found) == ["crowded", "lonely"]
    every = grouped.finds("walnut", searchType=kind, groupByConversation=False)
    best: dict[str, str] = {}
    for result in every:
        best.setdefault(result["conversationId"], result["entryId"])
    assert {result["conversationId"]: result["entryId"] for result in found} == best
    assert len(every) == 4


@every_type
def test_grouping_comes_before_the_limit(grouped: User, kind: str) -> None:
    assert len(grouped.finds("walnut", searchType=kind, limit=2)) == 2
    walked = walk(grouped, query="walnut", searchType=kind, limit=1)
    assert walked == grouped.finds("walnut", searchType=kind)


def test_a_fork_is_a_group_of_its_own(world: World) -> None:
    ann = world.user("ann")
    root = ann.starts()
    ann.says(root, "chestnut in the root")
    fork = ann.forks(root, ann.says(root, "the fork point"))
    entry = ann.says(fork, "chestnut in the fork")
    settle(world)
    found = ann.finds("chestnut", searchType="fulltext")
    assert {r["conversationId"] for r in found} == {root["id"], fork["id"]}
    [own] = [r for r in found if r["conversationId"] == fork["id"]]
    assert own["entryId"] == entry["id"]


def test_a_result_is_whole(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts("About birds")
    entry = ann.with_key("k1").says(conversation, "A kestrel over the dunes.")
    settle(world)
    [found] = ann.finds("Kestrel")
    [listed] = ann.call("list_entries", conversation).expect(200)["data"]
    assert found["score"] > 0
    assert found | {"score": 1} == {
        "conversationId": conversation["id"],
        "conversationTitle": "About birds",
        "entryId": entry["id"],
        "score": 1,
        "highlights": "A **kestrel** over the dunes.",
        "entry": listed,
    }
    [brief] = ann.finds("Kestrel", includeEntry=False)
    assert set(found) - set(brief) == {"entry"}


def test_a_conversation_without_title_shows_none(world: World) -> None:
    ann = world.user("ann")
    conversation = ann.starts()
    ann.says(conversation, "A pelican.")
    ann.call("update_conversation", conversation, body={"title": None}).expect(200)
    settle(world)
    [found] = ann.finds("pelican")
    assert "conversationTitle" not in found


@pytest.mark.parametrize(
    "query",
    ["heron marsh", "MARSH heron", "her mar", "h", "hErOn's", "heron AND marsh", '"heron" (marsh*'],
)
def test_fulltext_wants_every_word_as_a_beginning_in_any_case(world: World, query: str) -> None:
    ann = said(world, "A heron and the marsh.")
    assert texts(ann.finds(query, searchType="fulltext")) == ["A heron and the marsh."]


@pytest.mark.parametrize("query", ["heron desert", "eron", "herons", "heron OR desert", "-heron x"])
def test_fulltext_finds_nothing_when_a_word_is_missing(world: World, query: str) -> None:
    assert said(world, "A heron and the marsh.").finds(query, searchType="fulltext") == []


def test_auto_takes_words_as_alternatives(world: World) -> None:
    ann = said(world, "The ferry leaves at noon.", "Nothing of that kind here.")
    assert texts(ann.finds("When does the ferry go to Oslo?"))[0] == "The ferry leaves at noon."


def test_semantic_shows_nothing_below_the_least_score(world: World) -> None:
    ann = said(world, "purple elephants dance", "green tractors rest")
    found = ann.finds("purple elephants", searchType="semantic")
    assert texts(found) == ["purple elephants dance"]
    assert 0.2 <= found[0]["score"] <= 1.000001


@pytest.mark.parametrize("kind", ["AUTO", "FullText", "SEMANTIC", None])
def test_types_come_in_any_letter_case(world: World, kind: str | None) -> None:
    ann = said(world, "A cormorant dries its wings.")
    assert len(ann.finds("cormorant", searchType=kind)) == 1


def test_words_are_found_at_once_and_vectors_follow(
    serve: Callable[..., World], embeddings: Any
) -> None:
    flags = {
        "embedding__provider": "openai",
        "embedding__openai__base_url": embeddings.url,
        "embedding__openai__dimensions": embeddings.dimensions,
        "jobs__embedded_worker": False,
    }
    ann = serve(**flags).user("ann")
    ann.says(new_id(), "A dipper in the stream.")
    assert len(ann.finds("dipper", searchType="fulltext")) == 1
    assert len(ann.finds("dipper")) == 1
    assert ann.finds("dipper", searchType="semantic") == []


@every_type
def test_only_members_find(world: World, kind: str) -> None:
    ann, sam = world.user("ann"), world.user("sam")
    conversation = ann.starts()
    ann.says(conversation, "An osprey above the lake.")
    [rob] = world.members(conversation, ann, "reader")
    settle(world)
    for finder in (ann, rob, ann.with_key("k2")):
        assert len(finder.finds("osprey", searchType=kind)) == 1
    for other in (sam, sam.with_key("k1"), world.admin, world.auditor, world.indexer):
        assert other.finds("osprey", searchType=kind) == []


@every_type
def test_memory_is_not_found(world: World, kind: str) -> None:
    ann = world.user("ann").with_key("k1")
    conversation = ann.starts()
    ann.notes(conversation, "A wagtail.", {"text": "wagtail"})
    ann.syncs(conversation, ["wagtail"])
    settle(world)
    assert ann.finds("wagtail", searchType=kind) == []


@pytest.mark.scenario(34)
@every_type
def test_who_was_removed_finds_nothing_and_no_trace_in_the_scores(world: World, kind: str) -> None:
    ann, rob, twin = world.user("ann"), world.user("rob"), world.user("rob")
    for reader in (rob, twin):
        reader.says(new_id(), "saffron harvest in autumn")
        reader.says(new_id(), "a long talk about saffron and other spices of the east")
    settle(world)

    def scores(reader: User) -> dict[str, float]:
        found = reader.finds("saffron harvest", searchType=kind, groupByConversation=False)
        return {text_of(result["entry"]): result["score"] for result in found}

    before = scores(rob)
    assert before
    assert before == scores(twin)
    tree = ann.starts()
    for number in range(5):
        ann.says(tree, f"saffron harvest number {number}")
    ann.shares(tree, rob, "reader")
    settle(world)
    assert len(scores(rob)) == len(before) + 5
    rob.call("remove_membership", tree, rob.name).expect(204)
    assert scores(rob) == before == scores(twin)


@pytest.mark.scenario(28)
@every_type
def test_a_restored_tree_is_found_again_by_its_owner(world: World, kind: str) -> None:
    ann = world.user("ann")
    root = ann.starts()
    ann.says(root, "juniper berries")
    fork = ann.forks(root, ann.says(root, "and so on"))
    ann.says(fork, "juniper branches")
    [rob] = world.members(root, ann, "reader")
    settle(world)

    def found(user: User) -> list[str]:
        return sorted(texts(user.finds("juniper", searchType=kind)))

    both = ["juniper berries", "juniper branches"]
    assert found(ann) == found(rob) == both
    ann.deletes(root)
    assert found(ann) == found(rob) == []
    world.admin.call("admin_restore_conversation", fork["id"]).expect(200)
    assert found(ann) == both
    assert found(rob) == []
    ann.shares(root, rob, "reader")
    assert found(rob) == both


def test_an_evicted_tree_is_not_found(world: World) -> None:
    ann = said(world, "mistletoe")
    [found] = ann.finds("mistletoe")
    ann.deletes(found["conversationId"])
    world.clock.advance(days=2)
    body = {"retentionPeriod": "P1D", "resourceTypes": ["conversations"]}
    world.admin.call("evict", body=body).expect(204)
    for kind in TYPES:
        assert ann.finds("mistletoe", searchType=kind) == []
        admin = {"query": "mistletoe", "searchType": kind, "includeDeleted": True}
        assert world.admin.call("admin_search", body=admin).expect(200)["data"] == []


@pytest.mark.parametrize("query", ["", " ", " \t\n ", "\x00", "\u3000"])
@every_type
def test_a_blank_query_finds_nothing(world: World, kind: str, query: str) -> None:
    ann = said(world, "Anything at all.")
    reply = ann.call("search", body={"query": query, "searchType": kind})
    assert reply.expect(200) == {"data": [], "nextCursor": None}


def test_a_query_without_words_finds_nothing_by_words(world: World) -> None:
    ann = said(world, "Anything at all.")
    assert ann.finds("?!", searchType="fulltext") == []


def test_a_query_is_needed(world: World) -> None:
    for body in ({}, {"query": None}):
        details = world.user("ann").call("search", body=body).refused(400, "validation_error")
        assert details["violations"][0]["field"] == "query"


def test_highlights_show_the_match_among_twenty_to_fifty_words(world: World) -> None:
    words = [f"word{number}" for number in range(400)]
    words[200], words[203] = "Quince", "quinces"
    ann = said(world, " ".join(words))
    for kind in ("fulltext", "auto"):
        [found] = ann.finds("quince", searchType=kind)
        assert "**Quince**" in found["highlights"]
        shown = re.findall(r"\w+", found["highlights"])
        assert 20 <= len(shown) <= 50
        assert " ".join(shown) in " ".join(words)


def test_highlights_of_a_short_text_are_all_of_it(world: World) -> None:
    ann = said(world, "First the plum,\nthen the Plum tree.")
    [found] = ann.finds("plum", searchType="fulltext")
    shown = " ".join(found["highlights"].split())
    assert shown == "First the **plum**, then the **Plum** tree."


def test_highlights_of_a_semantic_hit_are_the_beginning(world: World) -> None:
    text = "apricot " * 60
    ann = said(world, text)
    [found] = ann.finds("apricot", searchType="semantic")
    assert found["highlights"] == text[:200]


def test_a_walk_goes_on_while_others_write(reader_of_many: User, world: World) -> None:
    asked: dict[str, Any] = {"query": "harbour", "searchType": "fulltext", "limit": 100}
    first = reader_of_many.call("search", body=asked).expect(200)
    said(world, "harbour of somebody else")
    rest = walk(reader_of_many, **asked, after=first["nextCursor"])
    assert len({r["entryId"] for r in [*first["data"], *rest]}) == MANY


def test_other_callers_words_are_no_part_of_the_answer(world: World) -> None:
    one, two = said(world, "elderflower syrup"), said(world, "elderflower tea")
    assert texts(one.finds("elderflower")) == ["elderflower syrup"]
    assert texts(two.finds("elderflower")) == ["elderflower tea"]
    assert one.finds("tea", searchType="fulltext") == []
