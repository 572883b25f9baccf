"""Starts and completes runs of agents, lists them, and removes the memories that end with a run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from recollect.agents.commands import CompleteRun, StartRun
from recollect.agents.hooks import RunMemories
from recollect.agents.model import id_taken_error
from recollect.agents.run import (
    ERROR_CHARS_MAX,
    Run,
    RunLineage,
    RunStatus,
    check_not_completed,
    new_root_run,
)
from recollect.agents.service import require_agent
from recollect.agents.store_bundle import AgentStores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import RetryTransaction, Tx
from recollect.identity.requester import Requester
from recollect.identity.space_policy import SpaceView, may_write
from recollect.kernel.errors import Conflict, Forbidden, NotFound
from recollect.kernel.ids import AgentId, RunId
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.space import Space, SpaceKind
from recollect.kernel.validation import check_metadata, check_name, check_path_id
from recollect.memories.model import CleanupRow
from recollect.screening.secret_check import refuse_secret_ids, refuse_secrets

_LIST = "runs"
RunCleanup = Literal["root", "run"]


@dataclass(frozen=True, slots=True)
class RunRemovals:
    """How many memories were removed with a run. Each counts once, in the first kind that fits."""

    ephemeral: int = 0
    critical_pii: int = 0
    session: int = 0


@dataclass(frozen=True, slots=True)
class RunCompletion:
    """A run that has ended, and what was removed with it."""

    run: Run
    removed: RunRemovals


class RunService:
    """Start, complete, get and list runs; and join a write to its run."""

    def __init__(
        self,
        context: ServiceContext[AgentStores],
        audit: MemoryAudit,
        *,
        memories: RunMemories,
        cleanup: RunCleanup,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._memories = memories
        self._rules = context.rules
        self._cleanup = cleanup

    async def start(
        self, requester: Requester, command: StartRun, *, under_any: bool = False
    ) -> Run:
        """NotFound for an unknown agent or a parent that the caller may not see, Conflict if the id
        is taken. With `under_any` the parent need not be visible: for a runtime that executes the
        agents and knows which one called which."""
        if command.id is not None:
            check_path_id(command.id, "id")
        metadata = command.metadata or {}
        check_metadata(metadata)
        agent_id = AgentId(command.agent_id)
        run_id = RunId(command.id or self._runtime.ids.new())
        parent_id = RunId(command.parent_run_id) if command.parent_run_id is not None else None
        run = new_root_run(run_id, agent_id, at=self._runtime.clock.now(), metadata=metadata)
        async with self._audit.audit_refusals(requester, "startRun", agent_id=agent_id):
            return await self._database.write(
                lambda tx: self._start(tx, requester, run, parent_id, under_any=under_any)
            )

    async def complete(
        self, requester: Requester, run_id: RunId, command: CompleteRun
    ) -> RunCompletion:
        """End a run and remove the memories that end with it. Repeating the call changes nothing;
        another status for a completed run is a Conflict."""
        status, error = RunStatus(command.status), command.error
        if error is not None:
            check_name(error, "error", chars_max=ERROR_CHARS_MAX)
        at = self._runtime.clock.now()
        async with self._audit.audit_refusals(requester, "completeRun", run_id=run_id):
            return await self._database.write(
                lambda tx: self._complete(tx, requester, run_id, status=status, error=error, at=at)
            )

    async def get(self, requester: Requester, run_id: RunId) -> Run:
        """NotFound if the caller may not read the run's space."""
        return await self._database.read(lambda tx: self._require_visible(tx, requester, run_id))

    async def list(
        self,
        requester: Requester,
        *,
        agent_id: AgentId | None,
        status: RunStatus | None,
        after: str | None,
        limit: int,
    ) -> Page[Run]:
        """Runs whose space the caller may read, the latest start first."""
        after_key = decode_key(_LIST, after) if after else None
        found = await self._database.read(
            lambda tx: self._page(
                tx, requester, agent_id, status=status, after=after_key, limit=limit + 1
            )
        )
        page = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, page[-1].started_at, page[-1].id) if more else None
        return Page(page, cursor)

    async def lineage(self, requester: Requester, run_id: RunId) -> RunLineage:
        """Ancestors and descendants of the run that the caller may see."""

        def work(tx: Tx) -> RunLineage:
            self._require_visible(tx, requester, run_id)
            return self._stores.runs.fetch_lineage(tx, requester.identity, run_id)

        return await self._database.read(work)

    def enter_run(
        self, tx: Tx, requester: Requester, run_id: RunId, *, agent_id: AgentId, at: datetime
    ) -> Run:
        """The run that a session write belongs to, locked until the transaction ends. An unknown id
        starts a root run. Forbidden if it is another agent's run, Conflict if it has ended.
        """
        # The right to write for the agent is checked first: the other errors would tell a stranger
        # which runs exist. The lock keeps the run from completing while the memory is written,
        # which would leave a memory behind that the completion did not remove.
        self._require_writer(tx, requester, run_id, agent_id)
        run = self._stores.runs.fetch(tx, run_id, lock=True)
        if run is None:
            run = new_root_run(run_id, agent_id, at=at)
            # Another write started the same run meanwhile: start again and find it.
            if not self._insert(tx, requester, run):
                raise RetryTransaction
        if run.agent_id != agent_id:
            raise Forbidden("the run belongs to another agent", code="not_owner")
        check_not_completed(run)
        return run

    def _start(
        self, tx: Tx, requester: Requester, run: Run, parent_id: RunId | None, *, under_any: bool
    ) -> Run:
        require_agent(tx, self._stores, run.agent_id)
        if parent_id is not None:
            parent = self._lock_parent(tx, requester, parent_id, under_any=under_any)
            run = replace(run, parent_run_id=parent.id, root_run_id=parent.root_run_id)
        self._require_writer(tx, requester, run.id, run.agent_id)
        refuse_secrets(metadata=run.metadata)
        refuse_secret_ids(id=run.id)
        if not self._insert(tx, requester, run):
            raise id_taken_error()
        return run

    def _insert(self, tx: Tx, requester: Requester, run: Run) -> bool:
        if not self._stores.runs.insert(tx, run):
            return False
        payload = {"parent_run_id": run.parent_run_id, "status": str(run.status)}
        self._record(tx, requester, "run.start", run, payload)
        return True

    def _complete(
        self,
        tx: Tx,
        requester: Requester,
        run_id: RunId,
        *,
        status: RunStatus,
        error: str | None,
        at: datetime,
    ) -> RunCompletion:
        run = self._require_visible(tx, requester, run_id)
        self._require_writer(tx, requester, run.id, run.agent_id)
        refuse_secrets(error=error)
        run, root = self._lock_with_root(tx, run)
        if run.is_completed:
            if run.status is not status:
                message = "the run has ended with another status"
                raise Conflict(message, details={"reason": "wrong_state"})
            return RunCompletion(run, RunRemovals())
        run = replace(run, status=status, error=error, completed_at=at)
        self._stores.runs.complete(tx, run)
        removed = self._remove_memories(tx, run, root, at)
        payload = {
            "parent_run_id": run.parent_run_id,
            "status": str(status),
            "removed": asdict(removed),
        }
        self._record(tx, requester, "run.complete", run, payload)
        return RunCompletion(run, removed)

    def _lock_with_root(self, tx: Tx, run: Run) -> tuple[Run, Run]:
        """The run and its root, both locked, the root first.

        Runs of one tree therefore complete one after the other. If a run and its root complete at
        the same time, either the run comes first and the root removes its remaining memories, or
        the run finds the root completed and removes them itself.
        """
        root = self._stores.runs.fetch(tx, run.root_run_id, lock=True)
        locked = self._stores.runs.fetch(tx, run.id, lock=True)
        if root is None or locked is None:
            raise NotFound("run", run.id)
        return locked, root

    def _remove_memories(self, tx: Tx, run: Run, root: Run, at: datetime) -> RunRemovals:
        """Remove the memories that end with this run, and the session memories too if nothing can
        use them any more: the root has ended, or each run is cleaned up on its own."""
        # With `cleanup` = "root" the end of a root removes the memories of the whole tree; a run
        # that ends after its root, or any run with "run", removes its own. Before its root has
        # ended, a run leaves its session memories to be read by the rest of the tree.
        is_root = run.id == root.id
        over = is_root or root.is_completed or self._cleanup == "run"
        whole_tree = is_root and self._cleanup == "root"
        runs = self._stores.runs.fetch_tree_ids(tx, run.id) if whole_tree else [run.id]
        rows = self._memories.lock_in_runs(tx, runs)
        going = [row for row in rows if over or self._removal_kind(row) != "session"]
        self._memories.remove(tx, [row.id for row in going], at=at)
        kinds = [self._removal_kind(row) for row in going]
        return RunRemovals(**{kind: kinds.count(kind) for kind in sorted(set(kinds))})

    def _removal_kind(self, row: CleanupRow) -> str:
        """The kind under which a memory is counted. Only `session` memories outlive their own
        run."""
        policy = self._rules.policies.get(row.retention_policy or "")
        if policy is not None and policy.until_run_completes:
            return "ephemeral"
        return "critical_pii" if self._rules.is_deleted_with_run(None, row.pii_tags) else "session"

    def _require_visible(self, tx: Tx, requester: Requester, run_id: RunId) -> Run:
        run = self._stores.runs.fetch_visible(tx, requester.identity, run_id)
        if run is None:
            raise NotFound("run", run_id)
        return run

    def _lock_parent(self, tx: Tx, requester: Requester, run_id: RunId, *, under_any: bool) -> Run:
        """The parent, locked: a removal of its agent deletes its runs and must not run between this
        check and the insert of the child."""
        if not under_any:
            self._require_visible(tx, requester, run_id)
        parent = self._stores.runs.fetch(tx, run_id, lock=True)
        if parent is None:
            raise NotFound("run", run_id)
        return parent

    def _page(
        self,
        tx: Tx,
        requester: Requester,
        agent_id: AgentId | None,
        *,
        status: RunStatus | None,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> Sequence[Run]:
        if agent_id is not None:
            require_agent(tx, self._stores, agent_id)
        return self._stores.runs.page(
            tx, requester.identity, agent_id=agent_id, status=status, after=after, limit=limit
        )

    def _require_writer(
        self, tx: Tx, requester: Requester, run_id: RunId, agent_id: AgentId
    ) -> None:
        """Forbidden unless the requester is the running agent or its owner."""
        agent = require_agent(tx, self._stores, agent_id)
        view = SpaceView(Space(SpaceKind.RUN, run_id), agent_id=agent.id, agent_owner=agent.owner)
        may_write(requester.space_caller, view).require_allowed()

    def _record(
        self, tx: Tx, requester: Requester, event_type: str, run: Run, payload: dict[str, Any]
    ) -> None:
        self._audit.record(
            tx,
            requester,
            event_type,
            space=Space(SpaceKind.RUN, run.id),
            agent_id=run.agent_id,
            run_id=run.id,
            payload=payload,
        )
