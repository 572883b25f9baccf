"""The parts of a search over memories: raw lists and facts, people, times, meaning, large scopes,
sealed words, and what is told of it."""

import time
from collections.abc import Iterator, Sequence

import pytest

from recollect.db.transaction import Tx
from recollect.kernel.ids import MemoryId
from recollect.kernel.space import Space, SpaceKind
from recollect.search.memories.indexing import MemoryIndexer
from tests.conftest import Host
from tests.support.encryption import KEY_A
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.people import person_of
from tests.support.memory.search import an_agent, contents, ids, vector_flags
from tests.support.memory.store import StoredMemories
from tests.support.searching import PAUSE_SECONDS, settle_memories, waiting_memories
from tests.support.servers.embedding import EmbeddingServer
from tests.support.world import World, new_id

pytestmark = pytest.mark.surfaces("grpc", scenarios_only=True)

TRIES_MAX = 1_000


@pytest.fixture
def vectors(vector_world: World) -> Callers:
    """A server that searches by meaning, too."""
    return Callers(vector_world)


@pytest.fixture
def broken(embeddings: EmbeddingServer) -> Iterator[EmbeddingServer]:
    """The endpoint that makes vectors; well again at the end."""
    yield embeddings
    embeddings.mode, embeddings.times = "ok", None


def test_a_fact_stands_for_the_raw_list_it_was_made_from(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    owner = callers.person("olga")
    space = Space(SpaceKind.USER, owner.name)
    raw = stored_memories.puts(space, content="user: I moved to Lisbon yesterday")
    fact = stored_memories.puts(space, content="Olga moved to Lisbon", source_memories=(raw,))
    _index(stored_memories, [raw, fact])
    (hit,) = owner.finds("moved Lisbon", user_id=owner.name)
    assert hit["id"] == fact
    assert hit["source_memories"] == [raw]
    assert ids(owner.finds("yesterday", user_id=owner.name)) == [raw]


def _index(stored_memories: StoredMemories, memory_ids: Sequence[str]) -> None:
    stores = stored_memories.storage.stores
    indexer = MemoryIndexer(stores, stored_memories.storage.runtime, vectors=False)

    def work(tx: Tx) -> None:
        for memory_id in memory_ids:
            stored = stores.memories.fetch(tx, MemoryId(memory_id))
            assert stored is not None
            indexer.write(tx, stored)

    stored_memories.storage.write(work)


def test_people_whom_a_query_names_lift_what_is_about_them(callers: Callers) -> None:
    ann = callers.person("ann")
    about_bo = ann.adds("likes tea", space={"kind": "user"}, subjects=["Bo Green"])
    ann.adds("likes tea", space={"kind": "user"}, subjects=["Cy Blue"])
    first = ann.finds("does Bo Green like tea?", user_id=ann.name)[0]
    assert first["id"] == about_bo["id"]
    assert "person" in first["stages"]
    assert "is about Bo Green" in first["why"]


def test_a_claim_of_somebody_else_leads_nobody_to_a_person(callers: Callers) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = an_agent(ann)
    person = ann.post("/people", body={"name": f"Sam {new_id()[:6]}"}).expect(201)
    claim = {"relationship": "therapist"}
    ann.post("/people/{}/relationships", person["id"], body=claim).expect(201)
    ann.adds("is kind", agent_id=agent, visibility="public", subjects=[person["id"]])
    assert contents(ann.finds("my therapist", agent_id=agent)) == ["is kind"]
    assert bob.finds("my therapist", agent_id=agent) == []
    assert bob.finds("Ann's therapist", agent_id=agent) == []


@pytest.mark.scenario(20)
def test_a_relationship_of_the_asker_leads_to_what_is_known(callers: Callers) -> None:
    pat = callers.person("pat")
    quinn = pat.post("/people", body={"name": f"Quinn {new_id()[:6]}"}).expect(201)
    claim = {"relationship": "business partner"}
    pat.post("/people/{}/relationships", quinn["id"], body=claim).expect(201)
    pat.adds(
        f"{quinn['name']}'s launch is March 15", space={"kind": "user"}, subjects=[quinn["id"]]
    )
    pat.adds("The launch of the new site is delayed", space={"kind": "user"})
    chat = f"chat-{new_id()}"
    pat.put("/chats/{}", chat, body={"kind": "private"}).expect(201)
    hits = pat.finds("when is my business partner's launch?", chat_id=chat)
    assert "March 15" in hits[0]["content"]
    assert "person" in hits[0]["stages"]


def test_a_time_in_a_query_finds_what_was_said_then(callers: Callers) -> None:
    ann = callers.person("ann")
    ann.adds("the trip was fine", space={"kind": "user"}, observed_at="2024-05-07T12:00:00Z")
    ann.adds("the trip was fun", space={"kind": "user"}, observed_at="2023-02-07T12:00:00Z")
    first = ann.finds("the trip in May 2024", user_id=ann.name)[0]
    assert first["content"] == "the trip was fine"
    assert "time" in first["stages"]
    assert "May 2024" in first["why"]
    assert contents(ann.finds("what was in February 2023?", user_id=ann.name)) == [
        "the trip was fun"
    ]


def test_least_score_and_modes(vectors: Callers) -> None:
    ann = vectors.person("ann")
    near = ann.adds("red boat in the harbour", space={"kind": "user"})
    far = ann.adds("boat", space={"kind": "user"})
    settle_memories(vectors.world)
    for mode in ("auto", "fulltext", "semantic"):
        hits = ann.finds("red boat", user_id=ann.name, mode=mode)
        assert hits[0]["id"] in (near["id"], far["id"])
        best = hits[0]["score"]
        least = best - 0.001
        assert len(ann.finds("red boat", user_id=ann.name, mode=mode, min_score=least)) == 1
        assert ann.finds("red boat", user_id=ann.name, mode=mode, min_score=best + 1) == []


def test_what_is_near_in_meaning_says_so(vectors: Callers) -> None:
    ann = vectors.person("ann")
    ann.adds("the red boat", space={"kind": "user"})
    settle_memories(vectors.world)
    (hit,) = ann.finds("red boat", user_id=ann.name)
    assert hit["stages"] == ["fulltext", "vector"]
    (hit,) = ann.finds("red boat", user_id=ann.name, mode="semantic")
    assert hit["stages"] == ["vector"]
    assert hit["why"] == "Is close in meaning."


@pytest.mark.scenario(18)
def test_without_vectors_words_are_found_and_the_answer_says_so(
    vectors: Callers, broken: EmbeddingServer
) -> None:
    ann = vectors.person("ann")
    broken.mode = "down"
    memory = ann.adds("the green lamp", space={"kind": "user"})
    page = ann.post(
        "/memories/search", body={"query": "green lamp please", "user_id": ann.name}
    ).expect(200)
    assert ids(page["data"]) == [memory["id"]]
    assert page["degraded"] == ["embedding"]


def test_vectors_come_when_the_endpoint_is_back(host: Host, broken: EmbeddingServer) -> None:
    with host(**vector_flags(broken)) as world:
        ann = Callers(world).person("ann")
        broken.mode, broken.times = "error", 2
        memory = ann.adds("the violet lamp", space={"kind": "user"})
        for _ in range(TRIES_MAX):
            if not waiting_memories(world.database):
                break
            world.clock.advance(minutes=1)  # a failed job is tried again later
            time.sleep(PAUSE_SECONDS)
        (hit,) = ann.finds("violet lamp", user_id=ann.name, mode="semantic")
        assert hit["id"] == memory["id"]


def test_a_large_scope_gives_the_same_hits_and_scores(
    host: Host, embeddings: EmbeddingServer
) -> None:
    """Above `search.exact_max` the indexes of the engine propose candidates."""
    with host(**vector_flags(embeddings)) as world, world.clock.hold():
        ann = Callers(world).person("ann")
        for number in range(12):
            ann.adds(f"tea {'tea ' * (number % 3)} 猫 number {number}", space={"kind": "user"})
        ann.adds("a lonely harbour", space={"kind": "user"})
        settle_memories(world)
        queries = ("tea number", "harbour", "猫", "tea 7", "nothing there")
        exact = [ann.finds(query, user_id=ann.name, limit=50) for query in queries]
        for fulltext in (True, False):
            flags = {"search__exact_max": 3, "search__fulltext__enabled": fulltext}
            with host(world.database, **vector_flags(embeddings), **flags) as large:
                caller = Caller(large.named(ann.name), large)
                large.clock.advance(seconds=(world.clock.now() - large.clock.now()).total_seconds())
                for query, whole in zip(queries, exact, strict=True):
                    found = caller.finds(query, user_id=ann.name, limit=50)
                    assert ids(found) == ids(whole)
                    assert [hit["score"] for hit in found] == pytest.approx(
                        [hit["score"] for hit in whole], abs=1e-6
                    )


def test_sealed_memories_are_found_by_words_that_no_index_of_the_engine_holds(
    host: Host,
) -> None:
    with host(encryption__keys=[KEY_A]) as world:
        ann = Callers(world).person("ann")
        memory = ann.adds("a xylophone in Porto", space={"kind": "user"})
        assert ids(ann.finds("xylophones", user_id=ann.name)) == [memory["id"]]
        rows = world.database.rows("SELECT terms, stems FROM memory_index")
        assert rows
        assert all("xylophon" not in str(row) for row in rows)


def test_words_are_sealed_with_the_texts_once_there_is_a_key(host: Host) -> None:
    with host() as world:
        ann = Callers(world).person("ann")
        memory = ann.adds("a xylophone in Porto", space={"kind": "user"})
        database = world.database
    with host(database, encryption__keys=[KEY_A], jobs__poll_ms=10) as world:
        for _ in range(TRIES_MAX):
            if "xylophon" not in str(database.rows("SELECT terms, stems FROM memory_index")):
                break
            time.sleep(PAUSE_SECONDS)
        else:
            raise AssertionError("the words were not sealed")
        caller = Caller(world.named(ann.name), world)
        assert ids(caller.finds("xylophones", user_id=ann.name)) == [memory["id"]]


def test_a_new_model_gets_vectors_of_its_own(host: Host, embeddings: EmbeddingServer) -> None:
    with host() as world:
        ann = Callers(world).person("ann")
        memory = ann.adds("the violet lamp", space={"kind": "user"})
        database = world.database
    for model in ("one", "two"):
        flags = vector_flags(embeddings) | {"embedding__openai__model": model}
        with host(database, **flags) as world:
            caller = Caller(world.named(ann.name), world)
            for _ in range(TRIES_MAX):
                hits = caller.finds("violet lamp", user_id=ann.name, mode="semantic")
                if hits:
                    break
                time.sleep(PAUSE_SECONDS)
            assert ids(hits) == [memory["id"]]


@pytest.mark.scenario(36)
def test_explain_counts_what_a_group_is_not_told_to_its_subject(callers: Callers) -> None:
    quinn, pat = callers.person("quinn"), callers.person("pat")
    chat = f"g-{new_id()}"
    pat.put("/chats/{}", chat, body={"kind": "group"}).expect(201)
    pat.put("/chats/{}/participants/{}", chat, quinn.name, body={"kind": "user"}).expect(200)
    subject = person_of(quinn)
    pat.adds(
        "has a peanut allergy",
        space={"kind": "chat", "id": chat},
        sensitivity="sensitive",
        subjects=[subject],
    )
    body = {"query": "peanut allergy", "chat_id": chat, "explain": True}
    page = quinn.post("/memories/search", body=body).expect(200)
    assert page["data"] == []
    assert page["withheld"] == 1
    other = pat.post("/memories/search", body=body).expect(200)
    assert other["data"] == []
    assert other["withheld"] == 0
    unrelated = quinn.post("/memories/search", body=body | {"query": "boats"}).expect(200)
    assert unrelated["withheld"] == 0
    alone = f"p-{new_id()}"
    quinn.put("/chats/{}", alone, body={"kind": "private"}).expect(201)
    assert contents(quinn.finds("peanut allergy", chat_id=alone)) == ["has a peanut allergy"]


def test_shown_personal_data_is_told_to_the_audit_log(
    callers: Callers, stored_memories: StoredMemories
) -> None:
    owner = callers.person("olga")
    agent = an_agent(owner)
    memory = owner.adds("write to ann@example.org", agent_id=agent, visibility="private")
    owner.finds("write", agent_id=agent)
    told = [
        event
        for event in stored_memories.events("memory", "read")
        if memory["id"] in event["ids"] and event["operation"] == "searchMemories"
    ]
    assert len(told) == 1
