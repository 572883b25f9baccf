"""Search over memories: what a caller finds, in which order, and what they can't."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from sqlalchemy import text

from recollect.domain.memories import MemoryId
from recollect.domain.spaces import Space, SpaceKind
from recollect.ports.database import Tx
from recollect.services.memory_indexing import MemoryIndexer
from recollect.stores.memory_tables import memories
from recollect.stores.statements import Statement
from tests.conftest import Host
from tests.memory.people import person_of
from tests.memory.shelf import Shelf, a_shelf
from tests.support.embedding_server import EmbeddingServer
from tests.support.encryption import KEY_A
from tests.support.searching import embedding_flags, settle_memories
from tests.support.town import Asker, Town
from tests.support.world import World, new_id

ODD_QUERIES = (
    "what is the theme?",
    "it's",
    "user-pref",
    "a:b",
    '"',
    "'",
    "(",
    ")",
    "%",
    "_",
    "\\",
    "*",
    "-",
    "NOT",
    "AND OR",
    "NEAR(a b)",
    "a\0b",
    "🎉",
)


@pytest.fixture
def vectors(vector_world: World) -> Town:
    """A server that searches by meaning, too."""
    return Town(vector_world)


@pytest.fixture
def owner(town: Town) -> Asker:
    return town.person("olga")


@pytest.fixture
def agent(owner: Asker) -> str:
    return an_agent(owner)


@pytest.fixture
def broken(embeddings: EmbeddingServer) -> Iterator[EmbeddingServer]:
    """The endpoint that makes vectors; well again at the end."""
    yield embeddings
    embeddings.mode, embeddings.times = "ok", None


def an_agent(owner: Asker, **members: Any) -> str:
    return str(owner.registers(id=f"a-{new_id()[-12:]}", **members)["id"])


def ids(found: Sequence[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in found]


def contents(found: Sequence[dict[str, Any]]) -> list[str]:
    return [one["content"] for one in found]


def walk(asker: Asker, **members: Any) -> list[dict[str, Any]]:
    """All hits, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        page = asker.post("/memories/search", body=members).expect(200)
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        assert page["data"], "a cursor led to an empty page"
        members["after"] = page["next_cursor"]


def test_a_hit_is_a_memory_with_score_stages_and_why(owner: Asker, agent: str) -> None:
    memory = owner.adds("Ann moved to Lisbon", agent_id=agent)
    page = owner.post("/memories/search", body={"query": "lisbon", "agent_id": agent}).expect(200)
    (hit,) = page["data"]
    assert {name: hit[name] for name in memory} == memory
    assert hit["score"] > 0
    assert hit["stages"] == ["fulltext"]
    assert hit["why"] == "Matches the word lisbon."
    assert page["next_cursor"] is None
    assert page["degraded"] == []
    assert "withheld" not in page


def test_search_answers_without_the_version_too(owner: Asker, agent: str) -> None:
    memory = owner.adds("tea with milk", agent_id=agent)
    found = owner.call("POST", "/memories/search", body={"query": "tea", "agent_id": agent})
    assert ids(found.expect(200)["data"]) == [memory["id"]]


@pytest.mark.scenario(2)
def test_a_private_memory_takes_no_place_of_a_public_one(town: Town) -> None:
    owner, other = town.person("olga"), town.person("ugo")
    agent = an_agent(owner)
    owner.adds("the theme is green", agent_id=agent, visibility="private")
    public = owner.adds("the theme is green", agent_id=agent, visibility="public")
    for limit in (10, 1):
        assert ids(other.finds("theme green", agent_id=agent, limit=limit)) == [public["id"]]
    assert len(owner.finds("theme green", agent_id=agent)) == 2


@pytest.mark.scenario(16)
def test_nearer_memories_of_others_change_neither_hit_nor_score(host: Host) -> None:
    with host() as alone, host() as crowded:
        scores = []
        for world in (alone, crowded):
            town = Town(world)
            asker = town.person("ann")
            if world is crowded:
                _crowd(world, 10_000)
            with world.clock.hold():
                memory = asker.adds("the red boat lies in Porto", space={"kind": "user"})
                (hit,) = asker.finds("red boat", spaces="all", limit=1)
            assert hit["id"] == memory["id"]
            scores.append(hit["score"])
        assert scores[0] == scores[1]


def _crowd(world: World, count: int) -> None:
    """Memories of another user that hold nothing but the words of the query."""
    first = Town(world).person("zed").adds("red boat", space={"kind": "user"})
    names = ", ".join(column.name for column in memories.columns if column.name not in _OWN)
    row, index = f"memories.id = '{first['id']}'", f"i.memory_id = '{first['id']}'"
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
    statements = (
        f"{numbers} INSERT INTO memories (id, {names}) "
        f"SELECT 'crowd-' || n.i, {names} FROM memories, n WHERE {row}",
        "INSERT INTO memory_index (doc, memory_id, revision, head, terms, stems, pending) "
        "SELECT m.doc, m.id, 1, i.head, i.terms, i.stems, i.pending "
        f"FROM memories m, memory_index i WHERE {index} AND m.id LIKE 'crowd-%'",
    )
    with a_shelf(world) as shelf:
        for statement in statements:
            shelf.storage.do(lambda tx, made: tx.run(made, {}), Statement(text(statement)))


_OWN = ("doc", "id")


@pytest.mark.scenario(17)
@pytest.mark.parametrize("fulltext", [True, False])
def test_any_string_is_a_query_in_every_script(host: Host, fulltext: bool) -> None:
    with host(search__fulltext__enabled=fulltext) as world:
        owner = Town(world).person("olga")
        agent = an_agent(owner)
        texts = {
            "theme": "What is the theme? It's dark",
            "key": "user-pref a:b is set, NOT unset",
            "japanese": "京都で猫と暮らす",
            "accented": "José mange à l'école, crème brûlée",
        }
        memories = {name: owner.adds(text, agent_id=agent) for name, text in texts.items()}

        def found(query: str, **members: Any) -> set[str]:
            hits = owner.finds(query, agent_id=agent, **members)
            return {name for name, one in memories.items() if one["id"] in ids(hits)}

        for query in ODD_QUERIES:
            found(query)
        assert found("what is the theme?") == {"theme"}
        assert "theme" in found("it's")
        assert found("user-pref") == {"key"}
        assert found("a:b") == {"key"}
        assert found("猫") == {"japanese"}
        assert found("京都") == {"japanese"}
        assert found("jose ECOLE") == {"accented"}
        assert found("Brûlée") == {"accented"}
        assert found("") == set()
        assert found(" \n\t ") == set()
        assert found("dark", tags=["%"]) == set()


def test_full_text_that_is_switched_off_and_on_again_finds_the_same(host: Host) -> None:
    with host() as world:
        owner = Town(world).person("olga")
        agent = an_agent(owner)
        memory = owner.adds("tea with milk", agent_id=agent)
        database = world.database
    for enabled in (False, True):
        with host(database, search__fulltext__enabled=enabled) as world:
            asker = Asker(world.named(owner.name), world)
            assert ids(asker.finds("milk", agent_id=agent)) == [memory["id"]]


def test_an_absent_query_and_an_absent_place_are_refused(owner: Asker, agent: str) -> None:
    owner.post("/memories/search", body={"agent_id": agent}).refused(422, "validation_error")
    details = owner.post("/memories/search", body={"query": "x"}).refused(422, "validation_error")
    assert details["violations"][0]["field"] == "spaces"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("limit", 0),
        ("limit", 101),
        ("mode", "fuzzy"),
        ("mode", "semantic"),
        ("min_score", "high"),
        ("after", "nowhere"),
        ("qurey", "x"),
    ],
)
def test_a_wrong_member_is_named(owner: Asker, agent: str, member: str, value: Any) -> None:
    body = {"query": "tea", "agent_id": agent, member: value}
    details = owner.post("/memories/search", body=body).refused(422, "validation_error")
    assert details["violations"][0]["field"] == member


def test_unknown_places_are_not_found(owner: Asker) -> None:
    for member in ("agent_id", "chat_id", "run_id"):
        owner.post("/memories/search", body={"query": "tea", member: "nobody"}).refused(
            404, "not_found"
        )
        owner.post("/memories/search", body={"query": " ", member: "nobody"}).refused(
            404, "not_found"
        )


def test_pages_hold_every_hit_once_in_one_order(owner: Asker, agent: str) -> None:
    for number in range(12):
        owner.adds(f"tea {'tea ' * (number % 4)}number {number}", agent_id=agent)
    whole = owner.finds("tea", agent_id=agent, limit=100)
    assert len(whole) == 12
    paged = walk(owner, query="tea", agent_id=agent, limit=5)
    assert ids(paged) == ids(whole)
    scores = [hit["score"] for hit in paged]
    assert scores == sorted(scores, reverse=True)


def test_a_walk_goes_on_while_time_passes_and_rows_come(
    town: Town, owner: Asker, agent: str
) -> None:
    known = [owner.adds(f"tea number {number}", agent_id=agent)["id"] for number in range(6)]
    body = {"query": "tea", "agent_id": agent, "limit": 3}
    first = owner.post("/memories/search", body=body).expect(200)
    town.world.clock.advance(days=40)
    owner.adds("tea and tea and tea", agent_id=agent)
    rest = owner.post("/memories/search", body=body | {"after": first["next_cursor"]}).expect(200)
    assert sorted(ids(first["data"] + rest["data"])) == sorted(known)


def test_a_cursor_is_good_for_its_own_search_and_caller(town: Town, agent: str) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    mine = an_agent(ann)
    for number in range(3):
        ann.adds(f"tea number {number}", agent_id=mine)
    body = {"query": "tea", "agent_id": mine, "limit": 1}
    cursor = ann.post("/memories/search", body=body).expect(200)["next_cursor"]
    for asker, change in ((ann, {"query": "milk"}), (ann, {"tags": ["x"]}), (bob, {})):
        asker.post("/memories/search", body=body | change | {"after": cursor}).refused(
            422, "validation_error"
        )


def test_filters_narrow_what_is_found(owner: Asker, agent: str) -> None:
    event = owner.adds("tea party", agent_id=agent, type="event", tags=["fun"])
    fact = owner.adds("tea is hot", agent_id=agent, type="knowledge")
    assert ids(owner.finds("tea", agent_id=agent, types=["event"])) == [event["id"]]
    assert ids(owner.finds("tea", agent_id=agent, tags=["fun"])) == [event["id"]]
    assert ids(owner.finds("tea", agent_id=agent, types=["knowledge"])) == [fact["id"]]
    assert owner.finds("tea", agent_id=agent, tags=["Fun"]) == []


def test_a_deleted_and_an_expired_memory_are_not_found(
    town: Town, owner: Asker, agent: str
) -> None:
    gone = owner.adds("tea at noon", agent_id=agent)
    due = owner.adds("tea at one", agent_id=agent, ttl_seconds=60)
    assert len(owner.finds("tea", agent_id=agent)) == 2
    owner.delete("/memories/{}", gone["id"]).expect(204)
    assert ids(owner.finds("tea", agent_id=agent)) == [due["id"]]
    town.world.clock.advance(seconds=60)
    assert owner.finds("tea", agent_id=agent) == []
    assert ids(owner.finds("tea", agent_id=agent, include_expired=True)) == [due["id"]]


def test_a_changed_memory_is_found_by_its_new_words_alone(owner: Asker, agent: str) -> None:
    memory = owner.adds("home is Porto", agent_id=agent)
    assert len(owner.finds("porto", agent_id=agent)) == 1
    owner.patch("/memories/{}", memory["id"], body={"content": "home is Lisbon"}).expect(200)
    assert owner.finds("porto", agent_id=agent) == []
    assert contents(owner.finds("lisbon", agent_id=agent)) == ["home is Lisbon"]


def test_a_record_is_found_by_key_and_values(owner: Asker, agent: str) -> None:
    body = {"key": "ui-theme", "value": {"color": "teal"}, "agent_id": agent}
    record = owner.post("/memories", body=body).expect(201)
    for query in ("theme", "color", "teal"):
        assert ids(owner.finds(query, agent_id=agent)) == [record["id"]]


def test_a_fact_stands_for_the_raw_list_it_was_made_from(
    town: Town, owner: Asker, shelf: Shelf
) -> None:
    space = Space(SpaceKind.USER, owner.name)
    raw = shelf.puts(space, content="user: I moved to Lisbon yesterday")
    fact = shelf.puts(space, content="Olga moved to Lisbon", source_memories=(raw,))
    _index(shelf, [raw, fact])
    (hit,) = owner.finds("moved Lisbon", user_id=owner.name)
    assert hit["id"] == fact
    assert hit["source_memories"] == [raw]
    assert ids(owner.finds("yesterday", user_id=owner.name)) == [raw]


def _index(shelf: Shelf, memory_ids: Sequence[str]) -> None:
    stores = shelf.storage.stores
    indexer = MemoryIndexer(stores, shelf.storage.runtime, vectors=False)

    def work(tx: Tx) -> None:
        for memory_id in memory_ids:
            stored = stores.memories.fetch(tx, MemoryId(memory_id))
            assert stored is not None
            indexer.write(tx, stored)

    shelf.storage.write(work)


def test_people_whom_a_query_names_lift_what_is_about_them(town: Town) -> None:
    ann = town.person("ann")
    about_bo = ann.adds("likes tea", space={"kind": "user"}, subjects=["Bo Green"])
    ann.adds("likes tea", space={"kind": "user"}, subjects=["Cy Blue"])
    first = ann.finds("does Bo Green like tea?", user_id=ann.name)[0]
    assert first["id"] == about_bo["id"]
    assert "person" in first["stages"]
    assert "is about Bo Green" in first["why"]


def test_a_claim_of_somebody_else_leads_nobody_to_a_person(town: Town) -> None:
    ann, bob = town.person("ann"), town.person("bob")
    agent = an_agent(ann)
    person = ann.post("/people", body={"name": f"Sam {new_id()[:6]}"}).expect(201)
    claim = {"relationship": "therapist"}
    ann.post("/people/{}/relationships", person["id"], body=claim).expect(201)
    ann.adds("is kind", agent_id=agent, visibility="public", subjects=[person["id"]])
    assert contents(ann.finds("my therapist", agent_id=agent)) == ["is kind"]
    assert bob.finds("my therapist", agent_id=agent) == []
    assert bob.finds("Ann's therapist", agent_id=agent) == []


@pytest.mark.scenario(20)
def test_a_relationship_of_the_asker_leads_to_what_is_known(town: Town) -> None:
    pat = town.person("pat")
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


def test_a_time_in_a_query_finds_what_was_said_then(town: Town) -> None:
    ann = town.person("ann")
    ann.adds("the trip was fine", space={"kind": "user"}, observed_at="2024-05-07T12:00:00Z")
    ann.adds("the trip was fun", space={"kind": "user"}, observed_at="2023-02-07T12:00:00Z")
    first = ann.finds("the trip in May 2024", user_id=ann.name)[0]
    assert first["content"] == "the trip was fine"
    assert "time" in first["stages"]
    assert "May 2024" in first["why"]
    assert contents(ann.finds("what was in February 2023?", user_id=ann.name)) == [
        "the trip was fun"
    ]


def test_least_score_and_modes(vectors: Town) -> None:
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


def test_what_is_near_in_meaning_says_so(vectors: Town) -> None:
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
    vectors: Town, broken: EmbeddingServer
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
    with host(**_flags(broken)) as world:
        ann = Town(world).person("ann")
        broken.mode, broken.times = "error", 2
        memory = ann.adds("the violet lamp", space={"kind": "user"})
        settle_memories(world)
        (hit,) = ann.finds("violet lamp", user_id=ann.name, mode="semantic")
        assert hit["id"] == memory["id"]


def _flags(server: EmbeddingServer) -> dict[str, Any]:
    return {name.replace(".", "__"): value for name, value in embedding_flags(server).items()}


def test_a_large_scope_gives_the_same_hits_and_scores(
    host: Host, embeddings: EmbeddingServer
) -> None:
    """Above `search.exact_max` the indexes of the engine propose candidates."""
    with host(**_flags(embeddings)) as world, world.clock.hold():
        ann = Town(world).person("ann")
        for number in range(12):
            ann.adds(f"tea {'tea ' * (number % 3)} 猫 number {number}", space={"kind": "user"})
        ann.adds("a lonely harbour", space={"kind": "user"})
        settle_memories(world)
        queries = ("tea number", "harbour", "猫", "tea 7", "nothing there")
        exact = [ann.finds(query, user_id=ann.name, limit=50) for query in queries]
        for fulltext in (True, False):
            flags = {"search__exact_max": 3, "search__fulltext__enabled": fulltext}
            with host(world.database, **_flags(embeddings), **flags) as large:
                asker = Asker(large.named(ann.name), large)
                large.clock.advance(seconds=(world.clock.now() - large.clock.now()).total_seconds())
                for query, whole in zip(queries, exact, strict=True):
                    found = asker.finds(query, user_id=ann.name, limit=50)
                    assert ids(found) == ids(whole)
                    assert [hit["score"] for hit in found] == pytest.approx(
                        [hit["score"] for hit in whole], abs=1e-6
                    )


def test_sealed_memories_are_found_by_words_that_no_index_of_the_engine_holds(
    host: Host,
) -> None:
    with host(encryption__keys=[KEY_A]) as world:
        ann = Town(world).person("ann")
        memory = ann.adds("a xylophone in Porto", space={"kind": "user"})
        assert ids(ann.finds("xylophones", user_id=ann.name)) == [memory["id"]]
        rows = world.database.rows("SELECT terms, stems FROM memory_index")
        assert rows
        assert all("xylophon" not in str(row) for row in rows)


@pytest.mark.scenario(36)
def test_explain_counts_what_a_group_is_not_told_to_its_subject(town: Town) -> None:
    quinn, pat = town.person("quinn"), town.person("pat")
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
    town: Town, owner: Asker, agent: str, shelf: Shelf
) -> None:
    memory = owner.adds("write to ann@example.org", agent_id=agent, visibility="private")
    owner.finds("write", agent_id=agent)
    told = [
        event
        for event in shelf.events("memory", "read")
        if memory["id"] in event["ids"] and event["operation"] == "searchMemories"
    ]
    assert len(told) == 1
