"""The embedded store answers the scenarios that have a call in it as the server does."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

import pytest

from recollect.ir import MemoryEntry, MemoryScope, SecretRefused
from tests.ir.library import Library, a_store, done, ids, new_name
from tests.scenarios.secret_texts import (
    ACCEPTED,
    ACCEPTED_RECORD,
    REFUSED,
    SECRET_RECORD,
    SPACED_CARD,
)
from tests.scenarios.test_queries import FOUND, NOTHING, TEXTS
from tests.support.engines import TestDatabase


@pytest.fixture(scope="module")
def library(engine: TestDatabase) -> Iterator[Library]:
    store = a_store(engine)
    done(store.initialize())
    yield Library(store, engine)
    done(store.close())


@pytest.mark.scenario(1)
def test_what_is_an_agents_own_is_found_by_it_alone(library: Library) -> None:
    x, y = new_name(), new_name()
    entry = library.adds(x, value={"vault": "below the stairs"})
    mine, other = (library.store.as_principal(slug) for slug in (x, y))
    assert ids(done(mine.search_memories("vault"))) == [entry.memory_id]
    assert done(other.search_memories("vault")) == []
    assert done(other.get_memory(entry.memory_id)) is None


@pytest.mark.scenario(7)
def test_a_deleted_entry_is_gone_from_search_and_deleted_once(library: Library) -> None:
    slug = new_name()
    library.adds(slug, value={"ferry": "at dawn"})
    (found,) = done(library.store.search_memories("ferry", agent_slug=slug))
    assert done(library.store.delete_memory(found.memory_id)) is True
    assert done(library.store.search_memories("ferry", agent_slug=slug)) == []
    assert done(library.store.delete_memory(found.memory_id)) is False


@pytest.mark.scenario(17)
def test_every_query_finds_its_entry(library: Library) -> None:
    slug = new_name()
    for key, text in TEXTS.items():
        library.adds(slug, key=key, value={"note": text})
    for query, key in FOUND.items():
        assert library.finds(query, agent_slug=slug)[:1] == [key], query
    for query in NOTHING:
        assert library.finds(query, agent_slug=slug) == [], query
    assert library.lists(agent_slug=slug, tags=["%"]) == []


@pytest.mark.scenario(17)
def test_full_text_may_be_switched_off_and_on_again(
    new_database: Callable[[], TestDatabase],
) -> None:
    database, slug = new_database(), new_name()
    for round_, enabled in enumerate((True, False, True)):
        # The other engine's store has no such switch: it is opened anew each time.
        options = {"enable_fts": enabled} if database.engine == "sqlite" else {}
        library = Library(a_store(database, **options), database)
        done(library.store.initialize())
        for key, text in TEXTS.items():
            library.adds(slug, key=key, value={"note": f"{text} {round_}"})
        for query, key in FOUND.items():
            found = library.finds(query, agent_slug=slug, limit=round_ + 1)
            assert found == [key] * (round_ + 1), query
        done(library.store.close())


@pytest.mark.scenario(21)
def test_an_entry_is_hidden_from_its_instant_on_and_shown_if_asked_for(library: Library) -> None:
    slug = new_name()
    entry = library.adds(slug, ttl_seconds=60, age=timedelta(seconds=60))
    alive = library.adds(slug, ttl_seconds=3_600)
    assert library.gets(entry) is None
    assert ids(library.lists(agent_slug=slug)) == [alive.memory_id]
    assert ids(done(library.store.search_memories("ochre", agent_slug=slug))) == [alive.memory_id]
    kept = library.lists(agent_slug=slug, include_expired=True)
    assert set(ids(kept)) == {entry.memory_id, alive.memory_id}
    assert done(library.store.expire_old_memories()) >= 1
    assert ids(library.lists(agent_slug=slug, include_expired=True)) == [alive.memory_id]


@pytest.mark.scenario(28)
@pytest.mark.parametrize(
    ("scope", "policy", "allowed"),
    [
        (MemoryScope.SESSION, "permanent", "dev, ephemeral"),
        (MemoryScope.LONG_TERM, "for-ever", "dev, production, compliance, permanent"),
        (MemoryScope.ORG, "ephemeral", "dev, production, compliance, permanent"),
    ],
)
def test_a_policy_that_is_not_for_the_scope_is_answered_with_those_that_are(
    library: Library, scope: MemoryScope, policy: str, allowed: str
) -> None:
    slug = new_name()
    with pytest.raises(ValueError, match=allowed):
        library.adds(slug, scope=scope, run_id="r", retention_policy=policy)
    assert library.lists(agent_slug=slug) == []


@pytest.mark.scenario(50)
def test_each_refused_text_is_refused_and_each_accepted_one_kept(library: Library) -> None:
    entry = library.adds()
    for text, part in REFUSED.values():
        entry.value = {"note": text}
        for call in (
            partial(library.adds, value={"note": text}),
            partial(library.adds, metadata={"note": text}),
            partial(_updates, library, entry),
        ):
            with pytest.raises(SecretRefused) as refusal:
                call()
            assert part not in str(refusal.value).lower()
    with pytest.raises(SecretRefused):
        library.adds(value=SECRET_RECORD)
    stored = library.database.stored_text().lower()
    assert not [part for _, part in REFUSED.values() if part in stored]
    for text in ACCEPTED:
        assert library.adds(value={"note": text}).value == {"note": text}
    assert library.adds(value=ACCEPTED_RECORD).value == ACCEPTED_RECORD
    assert library.adds(value={"card": SPACED_CARD}).pii_tags == ["credit_card"]


def _updates(library: Library, entry: MemoryEntry) -> MemoryEntry:
    return done(library.store.update_memory(entry))
