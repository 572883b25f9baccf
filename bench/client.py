"""The Python client: what it costs beside the service itself and beside bare HTTP, and adds and
searches in the process beside LangGraph's SqliteStore and mem0, all with the same vectors."""

import itertools
import json
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import httpx2
import numpy as np

from bench.harness import memory_library, speech
from bench.harness.load import p95
from bench.harness.results import Goal, Result
from bench.harness.rounds import Rounds, Run, alternate
from bench.harness.server import serving, token
from bench.harness.stage import Stage
from bench.hashed_vectors import DIMENSIONS, vector_of
from bench.peers import peer
from bench.writers import one_by_one, together
from recollect.agents.requesters import RequesterLookup
from recollect.app import context
from recollect.app.embedding import EmbeddingBackends
from recollect.app.in_process import InProcessApp
from recollect.app.loop_thread import LoopThread
from recollect.embedded import EmbeddedSystem
from recollect.embedding.port import Vectors
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.ids import UserId
from recollect.memories.commands import CreateMemory
from recollect.memories.service import MemoryService
from recollect.search.commands import SearchMemories
from recollect.search.memories.service import MemorySearchService
from recollect.settings.load import load
from recollect_client import Recollect, RetryPolicy, User
from recollect_client._sync.call import Caller

REMEMBER, SEARCH, REMOTE, PEERS = (
    "client-remember",
    "client-search",
    "client-remote",
    "client-peers",
)
WRITERS = 16
KNOWN, QUESTIONS, LATENCIES = 500, 50, 300
SPACE = {"kind": "user"}
Service = Callable[[str], Coroutine[Any, Any, Any]]


class HashedEmbedder:
    """The vectors of `hashed_vectors`."""

    model = "hashed"
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text."""
        return np.array([vector_of(text) for text in texts], np.float32)

    async def embed_query(self, text: str) -> Vectors:
        """One vector."""
        return vector_of(text)

    async def close(self) -> None:
        """Nothing is open."""


def run_remember(stage: Stage) -> Result:
    """How much of the rate of the service an embedded client reaches, with writes."""
    return _beside_the_service(REMEMBER, stage)


def run_search(stage: Stage) -> Result:
    """The same with searches."""
    return _beside_the_service(SEARCH, stage)


def run_remote(stage: Stage) -> Result:
    """How much of the rate of bare HTTP a client of a server reaches, with writes."""
    with (
        stage.database() as url,
        TemporaryDirectory(dir=stage.folder) as folder,
        serving(url, Path(folder), JOBS__EMBEDDED_WORKER="false") as server,
        Recollect.connect(f"http://127.0.0.1:{server.port}", token=token("ann")) as memory,
        httpx2.Client(base_url=f"http://127.0.0.1:{server.port}", verify=False) as bare,
    ):
        ann, texts = memory.user("ann"), memory_library.texts(seed=1)
        headers = {"authorization": f"Bearer {token('ann')}"}

        def post(path: str, body: dict[str, Any], **more: str) -> None:
            answer = bare.post(path, json=body, headers=headers | more)
            json.loads(answer.raise_for_status().content)

        def add(text: str) -> None:
            key = {"idempotency-key": str(uuid.uuid4())}
            post("/v1/memories", {"content": text, "space": SPACE}, **key)

        def find(text: str) -> None:
            post("/v1/memories/search", {"query": text, "spaces": [SPACE]})

        writes = alternate(
            {"client": _run(ann.remember, texts), "bare": _run(add, texts)}, stage.effort
        )
        asked = itertools.cycle(_questions())
        searches = alternate(
            {"client": _run(ann.search, asked), "bare": _run(find, asked)}, stage.effort
        )
    ratio, spread = writes.ratio("client", "bare")
    figures = f"{_pair(writes, 'client', 'bare')}; search {_pair(searches, 'client', 'bare')}"
    return Result(REMOTE, stage.engine, ratio, spread, None, figures)


def run_peers(stage: Stage) -> Result:
    """How many times the adds of LangGraph's SqliteStore by 16 writers; mem0 is shown beside."""
    files = TemporaryDirectory(dir=stage.folder)
    with files as folder, _embedded(f"sqlite:///{folder}/recollect.db", worker=True) as (ann, _):
        place = Path(folder)
        texts = memory_library.texts(seed=1)
        with (
            peer("langgraph", place, memory_library.texts(seed=1)) as langgraph,
            peer("mem0", place, memory_library.texts(seed=1)) as mem0,
        ):
            rounds = alternate(
                {
                    "recollect": partial(together, ann.remember, texts, writers=WRITERS),
                    "langgraph": partial(langgraph.adds, writers=WRITERS),
                },
                stage.effort,
            )
            count = stage.size(LATENCIES, 20)
            added = {
                "recollect": one_by_one(ann.remember, texts, count),
                "langgraph": langgraph.add_latencies(count),
                "mem0": mem0.add_latencies(count),
            }
            asked = list(itertools.islice(itertools.cycle(_questions()), count))
            found = {
                "recollect": one_by_one(ann.search, iter(asked), count),
                "langgraph": langgraph.search_latencies(asked),
                "mem0": mem0.search_latencies(asked),
            }
    ratio, spread = rounds.ratio("recollect", "langgraph")
    sides = ", ".join(f"{side} {rounds.rate(side):.0f}/s" for side in ("recollect", "langgraph"))
    figures = f"{WRITERS} writers {sides}; one by one p95 {_p95s(added)}; search p95 {_p95s(found)}"
    return Result(PEERS, stage.engine, ratio, spread, Goal(2, at_least=True), figures)


def _beside_the_service(name: str, stage: Stage) -> Result:
    with stage.database() as url, _embedded(url, worker=False) as (ann, system):
        texts, asked = memory_library.texts(seed=1), itertools.cycle(_questions())
        for text in itertools.islice(texts, stage.size(KNOWN, 20)):
            ann.remember(text)
        app, start = system.app, system.start
        requester = start(_requester(app)).result()
        memories, searches = app.services[MemoryService], app.services[MemorySearchService]

        def add(text: str) -> Coroutine[Any, Any, Any]:
            command = CreateMemory.model_validate({"content": text, "space": SPACE})
            return memories.create(requester, command)

        def find(text: str) -> Coroutine[Any, Any, Any]:
            command = SearchMemories.model_validate({"query": text, "spaces": [SPACE]})
            return searches.search(requester, command)

        def on_loop(call: Service, given: Iterator[str]) -> Run:
            async def all_of(texts: Sequence[str]) -> float:
                started_at = time.perf_counter()
                for text in texts:
                    await call(text)
                return time.perf_counter() - started_at

            return lambda count: start(all_of(list(itertools.islice(given, count)))).result()

        sides = {
            REMEMBER: {"client": _run(ann.remember, texts), "service": on_loop(add, texts)},
            SEARCH: {"client": _run(ann.search, asked), "service": on_loop(find, asked)},
        }
        rounds = alternate(sides[name], stage.effort)
    ratio, spread = rounds.ratio("client", "service")
    return Result(name, stage.engine, ratio, spread, None, _pair(rounds, "client", "service"))


@contextmanager
def _embedded(url: str, *, worker: bool) -> Iterator[tuple[User, EmbeddedSystem]]:
    """A user of a system in this process, as `Recollect.open` runs it, with hashed vectors."""
    embedder = HashedEmbedder()
    backends = EmbeddingBackends(embedder, None, embedder, embedder)
    flags = {"database.url": url, "log.level": "error", "jobs.embedded_worker": worker}
    settings = load({**flags, "auth.mode": "local"}).settings
    thread = LoopThread("bench")

    async def start() -> InProcessApp:
        with patch.object(context, "open_embedding", lambda _: backends):
            app = InProcessApp(settings)
        await app.open()
        return app

    system = EmbeddedSystem(thread, thread.submit(start()).result())
    memory = Recollect(Caller(system.transport(), {"host": "localhost"}, RetryPolicy()))
    try:
        yield memory.user("ann"), system
    finally:
        memory.close()


async def _requester(app: InProcessApp) -> Requester:
    return await app.services[RequesterLookup].resolve(Principal(UserId("ann")))


def _run(call: Callable[[str], object], texts: Iterator[str]) -> Run:
    """One after the other."""
    return lambda count: sum(one_by_one(call, texts, count))


def _questions() -> list[str]:
    return list(itertools.islice(speech.questions(seed=1), QUESTIONS))


def _pair(rounds: Rounds, side: str, against: str) -> str:
    return ", ".join(f"{one} {rounds.milliseconds(one):.2f} ms" for one in (side, against))


def _p95s(latencies: dict[str, list[float]]) -> str:
    return ", ".join(f"{name} {1000 * p95(one):.1f} ms" for name, one in latencies.items())
