"""The public methods of a store: they check arguments, convert between entries and memories, and
run the work on the loop of the database."""

from abc import abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from recollect.agents.run import END_STATUSES, Run, RunStatus
from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.arguments import (
    check_flag,
    check_int,
    check_optional_text,
    check_text,
    check_texts,
    parse_choice,
    parse_optional_scope,
)
from recollect.ir.entries import MemoryEntry, to_entry
from recollect.ir.records import RecordFilter, Records
from recollect.ir.refusals import python_errors
from recollect.kernel.ids import RunId
from recollect.kernel.owner import parse_agent_id
from recollect.kernel.pages import LIMIT_MAX
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.validation import check_name

T = TypeVar("T")

_DAYS_MAX = 10_000_000
_OFFSET_MAX = 2**31


class RecordStore(AbstractMemoryStore):
    """The methods that stores and views share. Subclasses decide in `_call_records` with which
    identity the work runs. Arguments are checked before that, on the caller's own loop."""

    @abstractmethod
    async def _call_records(self, work: Callable[[Records], Coroutine[Any, Any, T]]) -> T:
        """Run `work` on the loop of the database, with the records of this store or view."""

    async def create_memory(self, entry: MemoryEntry) -> MemoryEntry:
        checked = _checked_copy(entry)
        return to_entry(await self._call_records(lambda records: records.create(checked)))

    async def get_memory(self, memory_id: str) -> MemoryEntry | None:
        wanted = check_text(memory_id, "memory_id")
        stored = await self._call_records(lambda records: records.get(wanted))
        return None if stored is None else to_entry(stored)

    async def update_memory(self, entry: MemoryEntry) -> MemoryEntry:
        checked = _checked_copy(entry)
        return to_entry(await self._call_records(lambda records: records.update(checked)))

    async def delete_memory(self, memory_id: str) -> bool:
        wanted = check_text(memory_id, "memory_id")
        return await self._call_records(lambda records: records.delete(wanted))

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
        check_int(limit, "limit", least=1, most=LIMIT_MAX)
        check_int(offset, "offset", least=0, most=_OFFSET_MAX)
        wanted = RecordFilter(
            scope=parse_optional_scope(scope),
            agent_slug=check_optional_text(agent_slug, "agent_slug"),
            run_id=check_optional_text(run_id, "run_id"),
            key=check_optional_text(key, "key"),
            tags=check_texts(tags, "tags"),
            include_expired=check_flag(include_expired, "include_expired"),
        )
        found = await self._call_records(
            lambda records: records.list(wanted, limit=limit, offset=offset)
        )
        return [to_entry(stored) for stored in found]

    async def search_memories(
        self,
        query: str,
        scope: MemoryScope | None = None,
        agent_slug: str | None = None,
        limit: int = 100,
    ) -> list[MemoryEntry]:
        check_int(limit, "limit", least=1, most=LIMIT_MAX)
        words = check_text(query, "query")
        slug = check_optional_text(agent_slug, "agent_slug")
        wanted = RecordFilter(scope=parse_optional_scope(scope), agent_slug=slug)
        found = await self._call_records(lambda records: records.search(words, wanted, limit=limit))
        return [to_entry(stored) for stored in found]

    async def expire_old_memories(self) -> int:
        return await self._call_records(lambda records: records.expire())

    async def vacuum(
        self, scope: MemoryScope | None = None, older_than_days: int = 90, dry_run: bool = False
    ) -> dict[str, Any]:
        check_int(older_than_days, "older_than_days", least=0, most=_DAYS_MAX)
        check_flag(dry_run, "dry_run")
        wanted_scope = parse_optional_scope(scope)
        return await self._call_records(
            lambda records: records.vacuum(
                scope=wanted_scope, older_than_days=older_than_days, dry_run=dry_run
            )
        )

    async def start_run(
        self, agent_slug: str, run_id: str | None = None, parent_run_id: str | None = None
    ) -> Run:
        with python_errors():
            agent_id = parse_agent_id(check_text(agent_slug, "agent_slug"), "agent_slug")
            own = None if run_id is None else _parse_run_id(run_id, "run_id")
            parent = (
                None if parent_run_id is None else _parse_run_id(parent_run_id, "parent_run_id")
            )
        return await self._call_records(lambda records: records.start_run(agent_id, own, parent))

    async def complete_run(self, run_id: str, status: RunStatus | str) -> Run:
        with python_errors():
            own = _parse_run_id(run_id, "run_id")
        end = parse_choice(status, END_STATUSES, "status")
        return await self._call_records(lambda records: records.complete_run(own, end))


def _checked_copy(entry: MemoryEntry) -> MemoryEntry:
    """A deep copy, validated again: the dicts and lists inside of an entry may have changed since
    without any validation."""
    if not isinstance(entry, MemoryEntry):
        raise ValueError("entry: must be a MemoryEntry")
    return MemoryEntry.model_validate(entry.model_dump(warnings=False))


def _parse_run_id(run_id: str, name: str) -> RunId:
    check_name(check_text(run_id, name), name)
    return RunId(run_id)
