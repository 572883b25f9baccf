"""Views of a store with the rights of one agent. Every query contains the rules of visibility; rows
are not filtered afterwards."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from recollect.ir.abstract import AbstractMemoryStore
from recollect.ir.arguments import check_text
from recollect.ir.identity import AgentBinding
from recollect.ir.record_store import RecordStore
from recollect.ir.records import Records
from recollect.ir.refusals import python_errors
from recollect.kernel.ids import OrgId, RunId
from recollect.kernel.owner import parse_agent_id
from recollect.kernel.validation import check_name

T = TypeVar("T")


class ViewedStore(Protocol):
    """What a view needs of the store behind it."""

    async def initialize(self) -> None:
        """Open the store, if it is not open."""
        ...

    async def call_records(
        self, work: Callable[[Records], Coroutine[Any, Any, T]], binding: AgentBinding | None = None
    ) -> T:
        """Run `work` on the store's loop, with the records as the binding sees them."""
        ...


class BoundMemoryStore(RecordStore):
    """What one agent sees and may do. Closing the view leaves the store open."""

    def __init__(self, store: ViewedStore, binding: AgentBinding) -> None:
        self._store = store
        self._binding = binding
        self._closed = False

    async def initialize(self) -> None:
        await self._store.initialize()
        self._closed = False

    async def close(self) -> None:
        self._closed = True

    def as_principal(
        self, agent_slug: str, run_id: str | None = None, org_id: str = "default"
    ) -> AbstractMemoryStore:
        """A view of the same agent, in a run if this one has none. PermissionError for any other
        agent, org or run: a view can only be narrowed."""
        own, requested = self._binding, parse_binding(agent_slug, run_id, org_id)
        same = (requested.agent_id, requested.org_id) == (own.agent_id, own.org_id)
        if not same or own.run_id not in (None, requested.run_id):
            raise PermissionError("a view can't be bound to another agent, org or run")
        return BoundMemoryStore(self._store, requested)

    async def _call_records(self, work: Callable[[Records], Coroutine[Any, Any, T]]) -> T:
        if self._closed:
            raise RuntimeError("the view is closed")
        return await self._store.call_records(work, self._binding)


def parse_binding(agent_slug: str, run_id: str | None, org_id: str) -> AgentBinding:
    """The binding of these arguments; ValueError if one is malformed."""
    with python_errors():
        agent_id = parse_agent_id(check_text(agent_slug, "agent_slug"), "agent_slug")
        check_name(check_text(org_id, "org_id"), "org_id")
        if run_id is not None:
            check_name(check_text(run_id, "run_id"), "run_id")
    return AgentBinding(agent_id, None if run_id is None else RunId(run_id), OrgId(org_id))
