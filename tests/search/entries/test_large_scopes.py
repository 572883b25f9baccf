"""A scope that is too large to be ranked as a whole gives what it would give if it were small."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from recollect.conversations.model import Conversation
from recollect.search.entries import candidates
from recollect.search.model import EntryHit
from tests.search.entries.search_setup import FEW, MANY, Finder, SearchSetup
from tests.support.builders import NOON
from tests.support.embedding import WordEmbedder
from tests.support.storage import Storage

TYPES = ("auto", "fulltext", "semantic")
SUBJECTS = (
    *("boat", "harbour", "knee", "doctor", "garden", "piano", "sister", "train", "recipe", "tax"),
    *("holiday", "painting", "bob", "carol", "kitchen", "letter", "mountain", "window", "bicycle"),
    *("coffee", "market", "teacher", "jacket", "river", "camera", "ladder", "island", "museum"),
)
FILLERS = ("lorem", "ipsum", "dolor", "amet", "elit", "sed", "magna", "enim", "minim", "quis")
# Fewer than there are entries, so that a neighbour is there for its neighbour's sake alone.
CANDIDATES = {"auto": 60, "fulltext": 60, "semantic": 1_000}
QUERIES = (
    "boat",
    "boat harbour sister",
    "when did we go to the doctor about the knee?",
    "what did Bob say about the piano?",
    "Bob and Carol in the garden",
    "Zoe and Carol in the museum",
    "Zoe and Carol",
    "what is my recipe",
    "what did you suggest about the tax?",
    "lor ips",
    "holiday holidays painted trains",
    "boat " * 40 + " ".join(f"word{number}" for number in range(90)),
    "海 tax",
    "?!",
)
Finders = dict[str, Finder]
every_type = pytest.mark.parametrize("kind", TYPES)


@pytest.fixture(scope="module")
def setup(storage: Storage) -> SearchSetup:
    """A town that talks: ann sees most of it, dan a little."""
    setup = SearchSetup(storage, embedder=WordEmbedder(dimensions=512))
    chance = random.Random(20)
    for number in range(24):
        owner = "dan" if number % 6 == 5 else "ann"
        talk(setup, setup.tree(owner), chance, speakers=("ann", "bob@example.org", "Carol"))
    setup.say(setup.tree("ann"), "lorem ipsum", by="zoe")
    setup.say(setup.tree("ann"), "zoe likes carol and the museum", by="ann")
    gone = setup.tree("ann")
    talk(setup, gone, chance, speakers=("ann", "erin"))
    setup.index()
    setup.storage.do(setup.storage.stores.conversations.update_deleted, gone.tree_id, NOON)
    return setup


def talk(
    setup: SearchSetup,
    conversation: Conversation,
    chance: random.Random,
    *,
    speakers: Sequence[str],
) -> None:
    for _ in range(12):
        words = chance.choices(FILLERS, k=chance.randint(2, 60))
        words += chance.choices(SUBJECTS, k=chance.randint(0, 3))
        chance.shuffle(words)
        ending = chance.choice(["?", ".", " yesterday.", ""])
        by = chance.choice(speakers)
        said_by_assistant = chance.random() < 0.2
        setup.say(conversation, " ".join(words) + ending, by=by, assistant=said_by_assistant)


@pytest.fixture(scope="module")
def small(setup: SearchSetup) -> dict[str, Finder]:
    """By type: ranks everything."""
    return {kind: setup.finder(exact_max=MANY, candidates=n) for kind, n in CANDIDATES.items()}


@pytest.fixture(scope="module")
def large(setup: SearchSetup) -> dict[str, Finder]:
    """By type: gathers candidates first."""
    return {kind: setup.finder(exact_max=FEW, candidates=n) for kind, n in CANDIDATES.items()}


def places(hits: Sequence[EntryHit]) -> list[tuple[str, float, str | None]]:
    return [(hit.entry_id, hit.score, hit.highlights) for hit in hits]


@every_type
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "single"])
@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_results_and_scores_are_those_of_a_small_scope(
    small: Finders, large: Finders, kind: str, grouped: bool, query: str
) -> None:
    for user in ("ann", "dan"):
        asked = {"limit": 1_000, "group_by_conversation": grouped}
        wanted = small[kind].page(user, query, kind, **asked)
        found = large[kind].page(user, query, kind, **asked)
        assert places(found.items) == places(wanted.items)
        assert not found.degraded


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_so_they_are_by_words_alone(
    setup: SearchSetup, small: Finders, large: Finders, query: str
) -> None:
    setup.embedder.down = True
    try:
        wanted = small["auto"].page("ann", query, limit=1_000, group_by_conversation=False)
        found = large["auto"].page("ann", query, limit=1_000, group_by_conversation=False)
    finally:
        setup.embedder.down = False
    assert places(found.items) == places(wanted.items)
    assert found.degraded == wanted.degraded == ["embedding"]


@every_type
def test_so_they_are_when_matches_come_in_many_batches(
    small: Finders, large: Finders, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_BATCH", 7)
    for query in ("boat", "lor ips", "boat harbour sister"):
        wanted = small[kind].page("ann", query, kind, limit=1_000)
        assert places(large[kind].page("ann", query, kind, limit=1_000).items) == places(
            wanted.items
        )


def test_of_very_many_full_text_matches_the_best_are_walked_through(
    small: Finders, large: Finders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "_BATCH", 7)
    monkeypatch.setattr(candidates, "_MATCHES_MAX", 20)
    asked: dict[str, Any] = {"kind": "fulltext", "limit": 1_000, "group_by_conversation": False}
    wanted = places(small["fulltext"].page("ann", "lorem", **asked).items)
    found = places(large["fulltext"].page("ann", "lorem", **asked).items)
    assert len(wanted) > 100
    assert 20 <= len(found) < 40 + 7
    assert found[:20] == wanted[:20]


def test_the_questions_find_something(small: Finders) -> None:
    for query in QUERIES[:10]:
        pages = (small[kind].page("ann", query, kind, limit=1_000) for kind in TYPES)
        assert max(len(page.items) for page in pages) > 3, query


@every_type
def test_a_walk_shows_each_result_once(setup: SearchSetup, kind: str) -> None:
    many = {"candidates": 1_000}
    small, large = setup.finder(exact_max=MANY, **many), setup.finder(exact_max=FEW, **many)
    walked = large.walk("ann", "lorem", kind, limit=7, group_by_conversation=False)
    whole = small.page("ann", "lorem", kind, limit=1_000, group_by_conversation=False)
    assert len(walked) > 7
    assert places(walked) == places(whole.items)


def test_of_many_matches_the_best_are_the_same(setup: SearchSetup) -> None:
    few = {"candidates": 20}
    small, large = setup.finder(exact_max=MANY, **few), setup.finder(exact_max=FEW, **few)
    for query in ("boat harbour lorem", "sister train tax ipsum magna", "piano knee quis"):
        wanted, found = (finder.page("ann", query, limit=10) for finder in (small, large))
        assert places(found.items) == places(wanted.items)


@every_type
@pytest.mark.parametrize("user_id", [None, "ann", "dan", "nobody"])
@pytest.mark.parametrize("include_deleted", [True, False], ids=["deleted too", "live"])
def test_an_administrator_finds_the_same(
    small: Finders, large: Finders, kind: str, user_id: str | None, include_deleted: bool
) -> None:
    asked: dict[str, Any] = {"user_id": user_id, "include_deleted": include_deleted, "limit": 1_000}
    for query in ("boat harbour", "what did Erin say about the piano?"):
        wanted = small[kind].admin_page(query, kind, **asked)
        found = large[kind].admin_page(query, kind, **asked)
        assert places(found.items) == places(wanted.items)


def test_deleted_trees_are_found_by_who_asks_for_them(large: Finders) -> None:
    def trees(**asked: Any) -> int:
        page = large["semantic"].admin_page("erin boat piano garden tax", limit=1_000, **asked)
        return len({hit.conversation_id for hit in page.items})

    assert trees(include_deleted=True) == trees(include_deleted=False) + 1


@every_type
def test_closer_rows_of_others_push_nothing_out(storage: Storage, kind: str) -> None:
    setup = SearchSetup(storage)
    mine = setup.tree(f"meg-{kind}")
    own = [setup.say(mine, f"lantern on the pier, number {n}", by="meg").id for n in range(10)]
    theirs = setup.tree(f"eve-{kind}")
    for _ in range(60):
        setup.say(theirs, "lantern pier", by="eve")
    setup.index()
    finder = setup.finder(exact_max=FEW, candidates=10)
    page = finder.page(f"meg-{kind}", "lantern pier", kind, group_by_conversation=False)
    assert {hit.entry_id for hit in page.items} == set(own)


def test_an_entry_without_a_vector_is_found_by_its_words(storage: Storage) -> None:
    setup = SearchSetup(storage)
    tree = setup.tree("new")
    for number in range(10):
        setup.say(tree, f"a gazebo, number {number}")
    finder = setup.finder(exact_max=FEW)
    assert len(finder.page("new", "gazebo", group_by_conversation=False).items) == 10
    assert finder.page("new", "gazebo", "semantic").items == []


def test_when_the_embedder_fails_words_answer(storage: Storage) -> None:
    setup = SearchSetup(storage)
    tree = setup.tree("dim")
    for number in range(10):
        setup.say(tree, f"a pergola, number {number}")
    setup.index()
    setup.embedder.down = True
    page = setup.finder(exact_max=FEW).page("dim", "pergola", group_by_conversation=False)
    assert (len(page.items), page.degraded) == (10, ["embedding"])
