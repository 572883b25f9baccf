"""What is kept of callers stays within its limit, however many they are."""

import asyncio
from datetime import UTC, datetime

import pytest

from recollect.identity.scope import TreeScope
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, EntryId, TreeId, UserId
from recollect.search.entries.corpus_cache import CorpusCache, CorpusLimits
from recollect.search.model import EntryTrait
from recollect.search.ports import SearchScope, TextRow, TreeState, VectorRow

AT = datetime(2026, 1, 1, tzinfo=UTC)
NOTHING: list[VectorRow] = []


class FakeIndex:
    """A store and a database in one: everybody has one tree with a few entries, or none."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self.reads = 0

    async def read(self, work):  # type: ignore[no-untyped-def]
        return work(None)

    scan = read

    def tree_states(self, tx: object, scope: SearchScope, *, limit: int) -> list[TreeState]:
        name = f"tree of {scope.scope.user_id}"
        return [TreeState(TreeId(name), self.entries, 1, AT, 0)] if self.entries else []

    def texts(self, tx: object, scope: SearchScope) -> list[TextRow]:
        self.reads += 1
        name = str(scope.scope.user_id)
        return [
            TextRow(
                EntryId(f"{number:036}"),
                TreeId(name),
                ConversationId(name),
                number,
                name,
                EntryTrait.NONE,
                3,
                f"heron number {number}",
            )
            for number in range(self.entries)
        ]

    def vectors(self, tx: object, scope: SearchScope, *, model: str) -> list[VectorRow]:
        return NOTHING


def scope_of(number: int) -> SearchScope:
    return SearchScope(TreeScope.member(UserId(f"user{number}"), Level.READER))


def corpora(index: FakeIndex, *, kilobytes: int) -> CorpusCache:
    limits = CorpusLimits(entries=1_000, bytes=kilobytes * 1_000)
    return CorpusCache(index, index, limits, model="", dimensions=4)  # type: ignore[arg-type]


def held(kept: CorpusCache) -> int:
    return len(kept._cached)


@pytest.mark.parametrize("entries", [0, 3])
def test_what_is_kept_stays_within_the_limit(entries: int) -> None:
    kept = corpora(FakeIndex(entries), kilobytes=100)

    async def ask() -> None:
        for number in range(500):
            corpus = await kept.get(scope_of(number))
            assert corpus is not None
            assert corpus.size == entries

    asyncio.run(ask())
    assert held(kept) <= 20 if entries else held(kept) == 0


def test_who_came_last_is_remembered_and_who_came_first_is_not() -> None:
    index = FakeIndex(3)
    kept = corpora(index, kilobytes=40)

    async def ask(*numbers: int) -> int:
        before = index.reads
        for number in numbers:
            await kept.get(scope_of(number))
        return index.reads - before

    async def story() -> None:
        assert await ask(*range(20)) == 20
        assert await ask(19, 19, 18) == 0
        assert await ask(0) == 1

    asyncio.run(story())


def test_one_who_alone_is_too_large_is_served_all_the_same() -> None:
    kept = corpora(FakeIndex(900), kilobytes=1)
    assert asyncio.run(kept.get(scope_of(1))) is not None
    assert held(kept) == 1
