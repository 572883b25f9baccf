"""Memory for a runner of agents: it captures the inputs and outputs of agents, and gives each agent
a handle to save and load memories."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from recollect.agents.run import Run, RunStatus
from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.arguments import check_optional_flag
from recollect.ir.capturing import Capture, CaptureQueue
from recollect.ir.entries import MemoryEntry, create_memory
from recollect.ir.refusals import python_errors
from recollect.ir.stores import SQLiteMemoryStore
from recollect.kernel.retention_rules import MemoryScope
from recollect.settings.load import load_runner

P = TypeVar("P")
R = TypeVar("R")


class RunnerMemory:
    """The memory of a runner. It is on if `enable_memory` is True; if that is None, when a store is
    given or `RECOLLECT_MEMORY__ENABLED` is set.

    Without a store it opens its own, in the file of the settings, until `close`. Reads wait for the
    captures that were made before them, so a runner always finds its own captures.
    """

    def __init__(
        self, store: AbstractMemoryStore | None = None, enable_memory: bool | None = None
    ) -> None:
        if not (store is None or isinstance(store, AbstractMemoryStore)):
            raise ValueError("store: must be a store of memory entries, or None")
        check_optional_flag(enable_memory, "enable_memory")
        # `_own` is closed by `close`; a store that was given belongs to the caller.
        self._own = _make_own_store(enable_memory) if store is None else None
        self._store = (store or self._own) if enable_memory is not False else None
        self._captures = CaptureQueue()
        self._started = False

    @property
    def enabled(self) -> bool:
        """Whether memory is on."""
        return self._store is not None

    async def start(self) -> None:
        """Open the store. Optional: the first call that needs it opens it. Raises if it can't be
        opened."""
        if self._store is not None and not self._started:
            await self._store.initialize()
            self._started = True

    async def close(self) -> None:
        """Wait for the captures, then close the store if it is the runner's own."""
        # `stop` blocks until everything is stored; meanwhile this loop must go on.
        await asyncio.to_thread(self._captures.stop)
        if self._own is not None:
            await self._own.close()
            self._started = False

    def as_principal(
        self, agent_slug: str, run_id: str | None = None, org_id: str = "default"
    ) -> "RunnerMemory":
        """The handle of one agent in its run. A master and each sub-agent get one each."""
        if self._store is None:
            return self
        return _AgentMemory(self._store.as_principal(agent_slug, run_id, org_id), self._captures)

    async def save_memory(
        self,
        scope: MemoryScope,
        agent_slug: str,
        key: str,
        value: dict[str, Any],
        run_id: str | None = None,
        **options: Any,
    ) -> MemoryEntry:
        """Store an entry; `options` are those of `create_memory`. RuntimeError while memory is off:
        unlike a capture, the caller relies on it."""
        return await self._save(create_memory(scope, agent_slug, key, value, run_id, **options))

    async def load_memories(
        self,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        run_id: str | None = None,
        key: str | None = None,
        tags: Sequence[str] | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        """Entries, newest first; none while memory is off."""
        store = await self._ready_store()
        if store is None:
            return []
        return await store.list_memories(scope, agent_slug, run_id, key, tags, limit=limit)

    async def search_memories(
        self,
        query: str,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        """Entries, best match first; none while memory is off."""
        store = await self._ready_store()
        return await store.search_memories(query, scope, agent_slug, limit) if store else []

    async def delete_memory(self, memory_id: str) -> bool:
        """Delete an entry; False if it is unknown, or while memory is off."""
        store = await self._ready_store()
        return await store.delete_memory(memory_id) if store else False

    async def start_run(
        self, agent_slug: str, run_id: str | None = None, parent_run_id: str | None = None
    ) -> Run | None:
        """Start a run of an agent, as a child of `parent_run_id`; None while memory is off."""
        store = await self._ready_store()
        return await store.start_run(agent_slug, run_id, parent_run_id) if store else None

    async def complete_run(self, run_id: str, status: RunStatus | str) -> Run | None:
        """Complete a run; None while memory is off."""
        store = await self._ready_store()
        return await store.complete_run(run_id, status) if store else None

    def capture(
        self,
        stage: str,
        direction: str,
        payload: object,
        run_id: str,
        agent_slug: str,
        task_id: str | None = None,
    ) -> Capture | None:
        """Store an agent's `input`, `output` or `error` as a session entry. It never raises and
        does not wait for the store. Await the returned Capture for the stored entry, or None if it
        could not be stored. While memory is off the return value itself is None.

        `stage` is `mag` for a master and `sag` for a sub-agent.
        """
        if self._store is None:
            return None
        return self._captures.enqueue(
            self._save,
            stage,
            direction,
            payload=payload,
            run_id=run_id,
            agent_slug=agent_slug,
            task_id=task_id,
        )

    async def run_agent(
        self,
        stage: str,
        agent: Callable[[P], Awaitable[R]],
        payload: P,
        *,
        run_id: str,
        agent_slug: str,
        task_id: str | None = None,
    ) -> R:
        """Call an agent and capture its input, and its output or the error that it raises."""

        def keep(direction: str, what: object) -> None:
            self.capture(stage, direction, what, run_id, agent_slug, task_id)

        keep("input", payload)
        try:
            result = await agent(payload)
        except BaseException as error:
            # BaseException: a cancelled agent is captured as well.
            keep("error", error)
            raise
        keep("output", result)
        return result

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _ready_store(self) -> AbstractMemoryStore | None:
        """The open store, after all earlier captures are in it; None while memory is off."""
        await self.start()
        await self._captures.wait_pending()
        return self._store

    async def _save(self, entry: MemoryEntry) -> MemoryEntry:
        await self.start()
        if self._store is None:
            raise RuntimeError("memory is off: pass a store, or set RECOLLECT_MEMORY__ENABLED")
        return await self._store.create_memory(entry)


class _AgentMemory(RunnerMemory):
    """The handle of one agent. It shares the runner's queue, so that captures of all agents keep
    their order."""

    def __init__(self, view: AbstractMemoryStore, captures: CaptureQueue) -> None:
        super().__init__(view)
        self._captures = captures

    async def close(self) -> None:
        """Wait for the captures. The queue and the store stay open for the runner."""
        await self._captures.wait_pending()


def _make_own_store(enable_memory: bool | None) -> SQLiteMemoryStore | None:
    if enable_memory is False:
        return None
    with python_errors():
        settings = load_runner()
    on = settings.enabled if enable_memory is None else enable_memory
    return SQLiteMemoryStore(settings.db_path) if on else None
