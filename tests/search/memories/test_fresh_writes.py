"""What somebody has just written is found by its meaning at once, in a time that is bounded."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from recollect.embedding.port import Vectors
from recollect.search.memories.fresh_vectors import ON_THE_SPOT_SECONDS, FreshVectors
from recollect.search.memories.indexing import MemoryVectorWriter
from recollect.search.memories.rows import PendingMemoryText
from recollect.search.model import index_words
from tests.conftest import Host
from tests.support.memory.builders import a_memory, keep
from tests.support.memory.callers import Caller, Callers
from tests.support.memory.search import an_agent, ids, vector_flags
from tests.support.searching import waiting_memories
from tests.support.servers.embedding import EmbeddingServer
from tests.support.storage import Storage
from tests.support.world import World

pytestmark = pytest.mark.amendment(18)
both_protocols = pytest.mark.surfaces("grpc")

BUILT_IN: dict[str, Any] = {"embedding__provider": "builtin", "jobs__embedded_worker": False}
CAT = "Our cat naps on the windowsill all afternoon"
PET = "a pet asleep in the sun"
_PENDING = "SELECT count(*) FROM memory_index WHERE pending"
# More than the built-in model reads in the time that a search waits.
MANY = 40
TRIES_MAX = 200
LONG = "The harbour was quiet and the boats lay still below the old lighthouse. " * 16


@pytest.fixture
def idle(host: Host) -> Iterator[World]:
    """A server with the built-in model, whose jobs nobody runs."""
    with host(**BUILT_IN) as world:
        yield world


def searches(caller: Caller, query: str, **members: Any) -> dict[str, Any]:
    body = {"query": query, "mode": "semantic"} | members
    page: dict[str, Any] = caller.post("/memories/search", body=body).expect(200)
    return page


def finds_all(caller: Caller, query: str, **members: Any) -> dict[str, Any]:
    """The same, of one that had the time it needed: on a busy machine a first one may not."""
    pages = (searches(caller, query, **members) for _ in range(TRIES_MAX))
    return next(page for page in pages if not page["degraded"])


def pending(world: World) -> int:
    return int(world.database.rows(_PENDING)[0][0])


@both_protocols
def test_a_search_finds_by_meaning_what_its_caller_has_just_written(idle: World) -> None:
    ann = Callers(idle).person("ann")
    cat = ann.adds(CAT, space={"kind": "user"})
    page = finds_all(ann, PET, user_id=ann.name)
    assert ids(page["data"]) == [cat["id"]]
    assert page["data"][0]["stages"] == ["vector"]
    # The vector is stored: nothing is left for the job to do.
    assert pending(idle) == 0


def test_a_recall_finds_it_too_and_so_does_a_search_after_a_change(idle: World) -> None:
    ann = Callers(idle).person("ann")
    note = ann.adds("The invoice was paid", space={"kind": "user"})
    assert finds_all(ann, PET, user_id=ann.name)["data"] == []
    ann.patch("/memories/{}", note["id"], body={"content": CAT}).expect(200)
    body = {"query": PET, "user_id": ann.name}
    recalls = (ann.post("/memories/recall", body=body).expect(200) for _ in range(TRIES_MAX))
    told = next(recall for recall in recalls if not recall["degraded"])
    assert ids(told["items"]) == [note["id"]]
    assert pending(idle) == 0


@both_protocols
def test_an_answer_says_that_what_others_wrote_has_no_vector_yet(idle: World) -> None:
    callers = Callers(idle)
    ann, bob = callers.person("ann"), callers.person("bob")
    agent = an_agent(bob)
    bob.adds(CAT, agent_id=agent, visibility="public")
    page = searches(ann, PET, agent_id=agent)
    assert (page["data"], page["degraded"]) == ([], ["vectors_pending"])
    assert pending(idle) == 1
    finds_all(bob, PET, agent_id=agent)
    page = searches(ann, PET, agent_id=agent)
    assert (len(page["data"]), page["degraded"]) == (1, [])


def test_what_is_left_over_is_said_and_done_by_the_next_searches(idle: World) -> None:
    ann = Callers(idle).person("ann")
    items = [
        {"op": "create", "content": f"{number}: {LONG}", "space": {"kind": "user"}}
        for number in range(MANY)
    ]
    ann.post("/memories/batch", body={"items": items}).expect(200)
    first = searches(ann, "boats in the harbour", user_id=ann.name, limit=100)
    assert len(first["data"]) < MANY
    assert first["degraded"] == ["vectors_pending"]
    last = finds_all(ann, "boats in the harbour", user_id=ann.name, limit=100)
    assert len(last["data"]) == MANY


def test_a_large_scope_has_its_callers_fresh_writes_among_the_candidates(host: Host) -> None:
    with host(**BUILT_IN, search__exact_max=3, search__candidates=1) as world:
        ann = Callers(world).person("ann")
        for day in range(5):
            ann.adds(f"The invoice of day {day} was paid", space={"kind": "user"})
        cat = ann.adds(CAT, space={"kind": "user"})
        page = finds_all(ann, PET, user_id=ann.name)
        assert ids(page["data"])[:1] == [cat["id"]]


def test_an_endpoint_is_not_asked_for_vectors_of_texts_while_a_search_waits(
    host: Host, embeddings: EmbeddingServer
) -> None:
    with host(**vector_flags(embeddings) | {"jobs__embedded_worker": False}) as world:
        ann = Callers(world).person("ann")
        ann.adds("the red boat", space={"kind": "user"})
        embeddings.requests.clear()
        page = ann.post("/memories/search", body={"query": "red boat", "user_id": ann.name}).expect(
            200
        )
        assert len(page["data"]) == 1
        assert page["degraded"] == ["vectors_pending"]
        assert [request["input"] for request in embeddings.requests] == [["red boat"]]


def test_after_a_change_of_the_model_an_answer_says_that_vectors_are_missing(
    host: Host, embeddings: EmbeddingServer
) -> None:
    quiet = {"jobs__embedded_worker": False}
    with host(**BUILT_IN) as world:
        ann = Callers(world).person("ann")
        ann.adds(CAT, space={"kind": "user"})
        finds_all(ann, PET, user_id=ann.name)
        with host(world.database, **vector_flags(embeddings) | quiet) as other:
            asked = Caller(other.named(ann.name), other)
            assert searches(asked, CAT, user_id=ann.name)["degraded"] == ["vectors_pending"]


@both_protocols
def test_a_write_may_wait_until_it_is_found_by_meaning(host: Host) -> None:
    with host(embedding__provider="builtin", jobs__poll_ms=10) as world:
        callers = Callers(world)
        ann, bob = callers.person("ann"), callers.person("bob")
        agent = an_agent(ann)
        body = {"content": CAT, "agent_id": agent, "visibility": "public", "wait": "indexed"}
        assert _codes(ann.post("/memories", body=body).expect(201)) == []
        page = searches(bob, PET, agent_id=agent)
        assert (len(page["data"]), page["degraded"]) == (1, [])


def test_a_write_may_wait_for_all_that_it_has_queued(host: Host) -> None:
    with host(embedding__provider="builtin", jobs__poll_ms=10) as world:
        ann = Callers(world).person("ann")
        body = {"content": CAT, "space": {"kind": "user"}, "wait": "extracted", "wait_seconds": 30}
        assert _codes(ann.post("/memories", body=body).expect(201)) == []
        assert waiting_memories(world.database) == 0


@both_protocols
@pytest.mark.parametrize("wait", ["indexed", "extracted"])
def test_a_write_that_has_waited_long_enough_is_stored_and_says_so(idle: World, wait: str) -> None:
    ann = Callers(idle).person("ann")
    body = {"content": CAT, "space": {"kind": "user"}, "wait": wait, "wait_seconds": 1}
    written = ann.post("/memories", body=body).expect(201)
    assert _codes(written) == ["wait_timeout"]
    assert ann.get("/memories/{}", written["id"]).expect(200)["content"] == CAT


def test_a_write_waits_for_nothing_where_no_vectors_are_made(callers: Callers) -> None:
    ann = callers.person("ann")
    for wait in ("indexed", "extracted"):
        body = {"content": f"{wait} tea", "space": {"kind": "user"}, "wait": wait}
        assert _codes(ann.post("/memories", body=body).expect(201)) == []


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"wait": "indexed", "wait_seconds": 0}, "wait_seconds"),
        ({"wait": "indexed", "wait_seconds": 31}, "wait_seconds"),
        ({"wait_seconds": 5}, "wait_seconds"),
        ({"wait": "forever"}, "wait"),
    ],
)
def test_a_wait_that_is_not_understood_stores_nothing(
    callers: Callers, members: dict[str, Any], field: str
) -> None:
    ann = callers.person("ann")
    body = {"content": "tea", "space": {"kind": "user"}} | members
    refusal = ann.post("/memories", body=body).expect(422)
    assert [one["field"] for one in refusal["details"]["violations"]] == [field]
    assert ann.lists("/memories", user_id=ann.name) == []


def test_a_batch_does_not_wait(callers: Callers) -> None:
    ann = callers.person("ann")
    item = {"op": "create", "content": "tea", "space": {"kind": "user"}, "wait": "indexed"}
    refusal = ann.post("/memories/batch", body={"items": [item]}).expect(422)
    assert "wait" in str(refusal["details"])
    assert ann.lists("/memories", user_id=ann.name) == []


def _codes(written: dict[str, Any]) -> list[str]:
    # Where a text may lie says a warning of its own.
    codes = [one["code"] for one in written["warnings"]]
    return [code for code in codes if code.startswith("wait")]


class _HeldEmbedder:
    """Gives no vector before it is let go."""

    model, dimensions = "held", 4

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.let_go = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        self.texts += texts
        await self.let_go.wait()
        return np.ones((len(texts), self.dimensions), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        [vector] = await self.embed([text])
        return np.asarray(vector)

    async def close(self) -> None:
        """See `Embedder`."""


def test_a_model_that_hangs_holds_no_search_up_and_its_work_is_kept(storage: Storage) -> None:
    stored = keep(storage, a_memory(storage))
    memory, words = stored.memory, index_words(stored.memory.content)
    put = storage.stores.memory_search.put
    assert storage.write(lambda tx: put(tx, stored, words, pending=True))
    text = PendingMemoryText(stored.doc, memory.version, memory.content)
    writer = MemoryVectorWriter(storage.context, storage.metrics)

    async def work() -> None:
        embedder = _HeldEmbedder()
        fresh = FreshVectors(writer, embedder)
        begun = time.monotonic()
        assert await fresh.embed([text]) == []
        assert await fresh.embed([text]) == []
        assert time.monotonic() - begun < 4 * ON_THE_SPOT_SECONDS
        embedder.let_go.set()
        await fresh.close()
        # Two searches at once have asked for it, and it was embedded once.
        assert embedder.texts == [memory.content]
        assert [one.doc for one in await fresh.embed([text], seconds=0)] == [text.doc]

    storage.run(work())
    assert not storage.ask(storage.stores.memory_search.is_pending, memory.id)
