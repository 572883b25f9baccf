"""Search over memories: what a caller finds, in which order, and what they can't."""

from typing import Any

import pytest
from sqlalchemy import text

from recollect.db.statements import Query
from recollect.db.tables.memories import memories
from tests.conftest import Host
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.search import an_agent, contents, ids
from tests.support.memory.store import open_stored_memories
from tests.support.world import World

pytestmark = pytest.mark.surfaces("grpc")

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
def owner(callers: Callers) -> Caller:
    return callers.person("olga")


@pytest.fixture
def agent(owner: Caller) -> str:
    return an_agent(owner)


def walk(caller: Caller, **members: Any) -> list[dict[str, Any]]:
    """All hits, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        page = caller.post("/memories/search", body=members).expect(200)
        found += page["data"]
        if page["next_cursor"] is None:
            return found
        assert page["data"], "a cursor led to an empty page"
        members["after"] = page["next_cursor"]


def test_a_hit_is_a_memory_with_score_stages_and_why(owner: Caller, agent: str) -> None:
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


def test_search_answers_without_the_version_too(owner: Caller, agent: str) -> None:
    memory = owner.adds("tea with milk", agent_id=agent)
    found = owner.call("POST", "/memories/search", body={"query": "tea", "agent_id": agent})
    assert ids(found.expect(200)["data"]) == [memory["id"]]


@pytest.mark.scenario(2)
def test_a_private_memory_takes_no_place_of_a_public_one(callers: Callers) -> None:
    owner, other = callers.person("olga"), callers.person("ugo")
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
            callers = Callers(world)
            caller = callers.person("ann")
            if world is crowded:
                _crowd(world, 10_000)
            with world.clock.hold():
                memory = caller.adds("the red boat lies in Porto", space={"kind": "user"})
                (hit,) = caller.finds("red boat", spaces="all", limit=1)
            assert hit["id"] == memory["id"]
            scores.append(hit["score"])
        assert scores[0] == scores[1]


def _crowd(world: World, count: int) -> None:
    """Memories of another user that hold nothing but the words of the query."""
    first = Callers(world).person("zed").adds("red boat", space={"kind": "user"})
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
    with open_stored_memories(world) as stored_memories:
        for statement in statements:
            stored_memories.storage.do(lambda tx, made: tx.run(made, {}), Query(text(statement)))


_OWN = ("doc", "id")


@pytest.mark.scenario(17)
@pytest.mark.parametrize("fulltext", [True, False])
def test_any_string_is_a_query_in_every_script(host: Host, fulltext: bool) -> None:
    with host(search__fulltext__enabled=fulltext) as world:
        owner = Callers(world).person("olga")
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
        owner = Callers(world).person("olga")
        agent = an_agent(owner)
        memory = owner.adds("tea with milk", agent_id=agent)
        database = world.database
    for enabled in (False, True):
        with host(database, search__fulltext__enabled=enabled) as world:
            caller = Caller(world.named(owner.name), world)
            assert ids(caller.finds("milk", agent_id=agent)) == [memory["id"]]


def test_an_absent_query_and_an_absent_place_are_refused(owner: Caller, agent: str) -> None:
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
def test_a_wrong_member_is_named(owner: Caller, agent: str, member: str, value: Any) -> None:
    body = {"query": "tea", "agent_id": agent, member: value}
    details = owner.post("/memories/search", body=body).refused(422, "validation_error")
    assert details["violations"][0]["field"] == member


def test_unknown_places_are_not_found(owner: Caller) -> None:
    for member in ("agent_id", "chat_id", "run_id"):
        owner.post("/memories/search", body={"query": "tea", member: "nobody"}).refused(
            404, "not_found"
        )
        owner.post("/memories/search", body={"query": " ", member: "nobody"}).refused(
            404, "not_found"
        )


def test_pages_hold_every_hit_once_in_one_order(owner: Caller, agent: str) -> None:
    for number in range(12):
        owner.adds(f"tea {'tea ' * (number % 4)}number {number}", agent_id=agent)
    whole = owner.finds("tea", agent_id=agent, limit=100)
    assert len(whole) == 12
    paged = walk(owner, query="tea", agent_id=agent, limit=5)
    assert ids(paged) == ids(whole)
    scores = [hit["score"] for hit in paged]
    assert scores == sorted(scores, reverse=True)


def test_a_walk_goes_on_while_time_passes_and_rows_come(
    callers: Callers, owner: Caller, agent: str
) -> None:
    known = [owner.adds(f"tea number {number}", agent_id=agent)["id"] for number in range(6)]
    body = {"query": "tea", "agent_id": agent, "limit": 3}
    first = owner.post("/memories/search", body=body).expect(200)
    callers.world.clock.advance(days=40)
    owner.adds("tea and tea and tea", agent_id=agent)
    rest = owner.post("/memories/search", body=body | {"after": first["next_cursor"]}).expect(200)
    assert sorted(ids(first["data"] + rest["data"])) == sorted(known)


def test_a_cursor_is_good_for_its_own_search_and_caller(callers: Callers, agent: str) -> None:
    ann, bob = callers.person("ann"), callers.person("bob")
    mine = an_agent(ann)
    for number in range(3):
        ann.adds(f"tea number {number}", agent_id=mine)
    body = {"query": "tea", "agent_id": mine, "limit": 1}
    cursor = ann.post("/memories/search", body=body).expect(200)["next_cursor"]
    for caller, change in ((ann, {"query": "milk"}), (ann, {"tags": ["x"]}), (bob, {})):
        caller.post("/memories/search", body=body | change | {"after": cursor}).refused(
            422, "validation_error"
        )
    # An empty filter is none.
    ann.post("/memories/search", body=body | {"tags": [], "after": cursor}).expect(200)


def test_filters_narrow_what_is_found(owner: Caller, agent: str) -> None:
    event = owner.adds("tea party", agent_id=agent, type="event", tags=["fun"])
    fact = owner.adds("tea is hot", agent_id=agent, type="knowledge")
    assert ids(owner.finds("tea", agent_id=agent, types=["event"])) == [event["id"]]
    assert ids(owner.finds("tea", agent_id=agent, tags=["fun"])) == [event["id"]]
    assert ids(owner.finds("tea", agent_id=agent, types=["knowledge"])) == [fact["id"]]
    assert owner.finds("tea", agent_id=agent, tags=["Fun"]) == []


def test_a_deleted_and_an_expired_memory_are_not_found(
    callers: Callers, owner: Caller, agent: str
) -> None:
    gone = owner.adds("tea at noon", agent_id=agent)
    due = owner.adds("tea at one", agent_id=agent, ttl_seconds=60)
    assert len(owner.finds("tea", agent_id=agent)) == 2
    owner.delete("/memories/{}", gone["id"]).expect(204)
    assert ids(owner.finds("tea", agent_id=agent)) == [due["id"]]
    callers.world.clock.advance(seconds=60)
    assert owner.finds("tea", agent_id=agent) == []
    assert ids(owner.finds("tea", agent_id=agent, include_expired=True)) == [due["id"]]


def test_a_changed_memory_is_found_by_its_new_words_alone(owner: Caller, agent: str) -> None:
    memory = owner.adds("home is Porto", agent_id=agent)
    assert len(owner.finds("porto", agent_id=agent)) == 1
    owner.patch("/memories/{}", memory["id"], body={"content": "home is Lisbon"}).expect(200)
    assert owner.finds("porto", agent_id=agent) == []
    assert contents(owner.finds("lisbon", agent_id=agent)) == ["home is Lisbon"]


def test_a_record_is_found_by_key_and_values(owner: Caller, agent: str) -> None:
    body = {"key": "ui-theme", "value": {"color": "teal"}, "agent_id": agent}
    record = owner.post("/memories", body=body).expect(201)
    for query in ("theme", "color", "teal"):
        assert ids(owner.finds(query, agent_id=agent)) == [record["id"]]
