"""What a server remembers between searches never shows: after any change it finds exactly what a
server finds that was just started, and so does another server on the same database."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from recollect.conversations.entries.entry import Entry
from recollect.kernel.ids import EntryId
from recollect.search.entries.index_jobs import window_text
from recollect.search.ports import PositionedText
from tests.conftest import SoakSize
from tests.search.entries.nodes import DIMENSIONS, Node, Nodes, some_nodes
from tests.support.engines import TestDatabase
from tests.support.servers.embedding import bag_of_words
from tests.support.state_machines import prove
from tests.support.world import new_id

QUERIES = ("heron lake", "when did I see the fox")
WORDS = ("heron", "lake", "fox", "lantern", "yesterday", "I", "?")
WINDOWS = """
SELECT i.conversation_id, i.entry_id, i.seq, e.indexed_content, v.window_embedding
FROM entry_index i JOIN entries e ON e.id = i.entry_id
LEFT JOIN entry_embeddings v ON v.entry_id = i.entry_id
ORDER BY i.conversation_id, i.seq
"""
picks = st.integers(0, 100)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@pytest.fixture(scope="module")
def nodes(engine: TestDatabase) -> Iterator[Nodes]:
    """Servers on one database."""
    with some_nodes(engine) as running:
        yield running


@dataclass(slots=True)
class Tree:
    """One id, which may belong to several trees in turn."""

    id: str
    entries: list[Entry] = field(default_factory=list)
    deleted: bool = False
    shared: bool = False


class Changes(RuleBasedStateMachine):
    """Two people, two servers, and three ids of conversations."""

    nodes: Nodes
    pair: tuple[Node, Node]

    @initialize()
    def start(self) -> None:
        """New names, so that examples don't meet; one tree to begin with."""
        self.ann, self.bob = f"ann-{new_id()}", f"bob-{new_id()}"
        self.trees = [Tree(new_id()) for _ in range(3)]
        self.say(0, 0, "heron lake")

    @rule(node=picks, pick=picks, text=texts)
    def say(self, node: int, pick: int, text: str) -> None:
        """Also makes the tree, at first and after it was evicted."""
        tree = self.trees[pick % 3]
        if not tree.deleted:
            tree.entries.append(self.at(node).say(self.ann, tree.id, text))

    @rule(node=picks, pick=picks, which=picks, text=texts)
    def replace(self, node: int, pick: int, which: int, text: str) -> None:
        """An indexer gives an entry another text."""
        tree = self.trees[pick % 3]
        if tree.entries and not tree.deleted:
            self.at(node).index(tree.entries[which % len(tree.entries)], text)

    @rule(node=picks, pick=picks)
    def share(self, node: int, pick: int) -> None:
        """With Bob, or no more."""
        tree = self.trees[pick % 3]
        if not tree.entries or tree.deleted:
            return
        change = self.at(node).unshare if tree.shared else self.at(node).share
        change(self.ann, tree.id, self.bob)
        tree.shared = not tree.shared

    @rule(node=picks, pick=picks)
    def delete(self, node: int, pick: int) -> None:
        """Or restore what is deleted; that brings back the owner alone."""
        tree = self.trees[pick % 3]
        if tree.deleted:
            self.at(node).restore(tree.id)
            tree.deleted = tree.shared = False
        elif tree.entries:
            self.at(node).delete(self.ann, tree.id)
            tree.deleted = True

    @rule(node=picks)
    def evict(self, node: int) -> None:
        """The ids of what was deleted are free again."""
        self.at(node).evict()
        for tree in self.trees:
            if tree.deleted:
                tree.entries, tree.deleted, tree.shared = [], False, False

    @rule(node=picks)
    def work(self, node: int) -> None:
        """Vectors are made."""
        self.at(node).work()

    @rule(node=picks, query=st.sampled_from(QUERIES))
    def look(self, node: int, query: str) -> None:
        """A search of one server alone: the other falls behind."""
        self.at(node).find(self.ann, query)

    @invariant()
    def nobody_sees_a_difference(self) -> None:
        """By every type of search, to the last bit of the scores."""
        for user in (self.ann, self.bob):
            for query in QUERIES:
                anew = self.pair[0].find_anew(user, query)
                for node in self.pair:
                    assert node.find(user, query) == anew

    def at(self, number: int) -> Node:
        """One of the servers."""
        return self.pair[number % 2]


def test_what_is_remembered_is_what_is_stored(nodes: Nodes, soak_size: SoakSize) -> None:
    class Here(Changes):
        pair = (nodes.node(), nodes.node())

    Here.nodes = nodes
    prove(Here, examples=soak_size(4, 60))


def test_searches_among_writes_leave_nothing_behind(nodes: Nodes, engine: TestDatabase) -> None:
    """While many write on two servers, others search; then all is as if nobody had searched."""
    pair, ann, trees = (nodes.node(), nodes.node()), f"ann-{new_id()}", [new_id() for _ in range(4)]
    for tree in trees:
        pair[0].say(ann, tree, "heron lake")
    stop = threading.Event()

    def write(number: int) -> None:
        for turn in range(20):
            entry = pair[turn % 2].say(ann, trees[number], f"heron {turn} by the lake {number}")
            pair[number % 2].index(entry, f"a fox {turn} by the lantern {number}")
            pair[turn % 2].work()

    def search(number: int) -> None:
        while not stop.is_set():
            pair[number % 2].find(ann, QUERIES[number % 2])

    with ThreadPoolExecutor(8) as pool:
        searching = [pool.submit(search, number) for number in range(4)]
        writing = [pool.submit(write, number) for number in range(4)]
        try:
            for future in writing:
                future.result(60)
        finally:
            stop.set()
        for future in searching:
            future.result(60)
    pair[0].work()
    for query in QUERIES:
        anew = pair[0].find_anew(ann, query)
        assert all(node.find(ann, query) == anew for node in pair)
        assert anew["auto"]
    assert_windows(engine)


def assert_windows(database: TestDatabase) -> None:
    """Each entry has the window that its text and its neighbours' make now."""
    conversations: dict[str, list[tuple[PositionedText, Any]]] = {}
    for conversation, id_, seq, text, window in database.rows(WINDOWS):
        placed = PositionedText(EntryId(str(id_)), seq, text)
        conversations.setdefault(str(conversation), []).append((placed, window))
    for rows in conversations.values():
        placed_texts = [placed for placed, _ in rows]
        for place, (_, window) in enumerate(rows):
            wanted = bag_of_words(window_text(placed_texts, place), DIMENSIONS)
            np.testing.assert_allclose(as_numbers(window), wanted, atol=1e-6)


def as_numbers(stored: bytes | str) -> Any:
    """A stored vector: bytes of one engine, text of the other."""
    return np.frombuffer(stored, ">f4") if isinstance(stored, bytes) else json.loads(stored)
