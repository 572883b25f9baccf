"""A store over records: entries go in and out, arguments are checked; the work is done elsewhere,
on the loop where the database lives."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from recollect.domain.agents import parse_agent_id
from recollect.domain.pages import LIMIT_MAX
from recollect.domain.retention import MemoryScope
from recollect.domain.runs import Run, RunStatus
from recollect.domain.spaces import RunId
from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.entries import MemoryEntry, entry_of
from recollect.ir.records import Records, Wanted
from recollect.ir.refusals import python_errors

T = TypeVar("T")

_DAYS_MAX = 10_000_000
_OFFSET_MAX = 2**31


class RecordStore(AbstractMemoryStore):
    """What the store itself and its views have in common: every call goes to the records that they
    may see, on the loop where the database lives."""

    @abstractmethod
    async def _ask(self, work: Callable[[Records], Coroutine[Any, Any, T]]) -> T:
        """Do it with the records of this store."""

    async def create_memory(self, entry: MemoryEntry) -> MemoryEntry:
        checked = _copied(entry)
        return entry_of(await self._ask(lambda records: records.create(checked)))

    async def get_memory(self, memory_id: str) -> MemoryEntry | None:
        memory = await self._ask(lambda records: records.get(memory_id))
        return None if memory is None else entry_of(memory)

    async def update_memory(self, entry: MemoryEntry) -> MemoryEntry:
        checked = _copied(entry)
        return entry_of(await self._ask(lambda records: records.update(checked)))

    async def delete_memory(self, memory_id: str) -> bool:
        return await self._ask(lambda records: records.delete(memory_id))

    async def list_memories(
        self,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        run_id: str | None = None,
        key: str | None = None,
        tags: Sequence[str] | None = None,
        include_expired: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[MemoryEntry]:
        _check_whole(limit, "limit", 1, LIMIT_MAX)
        _check_whole(offset, "offset", 0, _OFFSET_MAX)
        wanted = Wanted(
            scope=_scope(scope),
            agent_slug=agent_slug,
            run_id=run_id,
            key=key,
            tags=_tags(tags),
            include_expired=include_expired,
        )
        found = await self._ask(lambda records: records.list(wanted, limit=limit, offset=offset))
        return [entry_of(memory) for memory in found]

    async def search_memories(
        self,
        query: str,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        _check_whole(limit, "limit", 1, LIMIT_MAX)
        wanted = Wanted(scope=_scope(scope), agent_slug=agent_slug)
        found = await self._ask(lambda records: records.search(query, wanted, limit=limit))
        return [entry_of(memory) for memory in found]

    async def expire_old_memories(self) -> int:
        return await self._ask(lambda records: records.expire())

    async def vacuum(
        self, scope: MemoryScope | None = None, older_than_days: int = 90, dry_run: bool = False
    ) -> dict[str, Any]:
        _check_whole(older_than_days, "older_than_days", 0, _DAYS_MAX)
        chosen = _scope(scope)
        return await self._ask(
            lambda records: records.vacuum(
                scope=chosen, older_than_days=older_than_days, dry_run=dry_run
            )
        )

    async def start_run(
        self, agent_slug: str, run_id: str | None = None, parent_run_id: str | None = None
    ) -> Run:
        with python_errors():
            agent_id = parse_agent_id(agent_slug, "agent_slug")
        own = None if run_id is None else RunId(run_id)
        parent = None if parent_run_id is None else RunId(parent_run_id)
        return await self._ask(lambda records: records.start_run(agent_id, own, parent))

    async def complete_run(self, run_id: str, status: RunStatus | str) -> Run:
        end = RunStatus(status)
        if end is RunStatus.RUNNING:
            raise ValueError("status: must be succeeded, failed or cancelled")
        return await self._ask(lambda records: records.complete_run(RunId(run_id), end))


def _copied(entry: MemoryEntry) -> MemoryEntry:
    """Checked once more: what is inside of a value can change without anybody looking. The copy
    shares nothing with it."""
    return MemoryEntry.model_validate(entry.model_dump(warnings=False))


def _scope(scope: MemoryScope | str | None) -> MemoryScope | None:
    return None if scope is None else MemoryScope(scope)


def _tags(tags: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise ValueError("tags: must be a list of texts")
    return tuple(tags or ())


def _check_whole(number: int, name: str, least: int, most: int) -> None:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not (whole and least <= number <= most):
        raise ValueError(f"{name}: must be a whole number from {least} to {most}")
