"""The space and the run of an imported memory, and whether the importer may write there."""

from dataclasses import dataclass

from recollect.agents.run import Run
from recollect.db.transaction import Tx
from recollect.identity.space_policy import SpaceView, may_write
from recollect.kernel.errors import NotFound, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, OrgId, RunId
from recollect.kernel.owner import Owner
from recollect.kernel.retention_rules import MemoryScope
from recollect.kernel.space import (
    AGENT_KINDS,
    Space,
    SpaceKind,
    SpaceMode,
    SpaceRequest,
    effective_mode,
    parse_space_request,
    resolve_space,
)
from recollect.memories.write.visibility_rules import VisibilityRules
from recollect.memories.write_access import not_owner_error
from recollect.people.chat import ParticipantKeys
from recollect.portability.fields import LineValues
from recollect.portability.import_model import ImportOrder
from recollect.portability.store.bundle import PortabilityStores
from recollect.visibility.facts import VisibilityFacts


@dataclass(frozen=True, slots=True)
class _KnownAgent:
    """What the choice of a space depends on. `org_id` and `mode` are None for a removed agent."""

    owner: Owner
    org_id: OrgId | None
    mode: SpaceMode | None


class ImportTargets:
    """Finds spaces, agents and runs, among stored rows and those of the dry run (`foreseen`)."""

    def __init__(
        self,
        stores: PortabilityStores,
        views: VisibilityFacts,
        *,
        mode: SpaceMode,
        visibility: VisibilityRules,
    ) -> None:
        self._stores = stores
        self._views = views
        self._mode = mode
        self._visibility = visibility

    def find_space(
        self, tx: Tx, order: ImportOrder, values: LineValues
    ) -> tuple[Space, AgentId | None]:
        """The space and the agent of a memory. Raises NotFound for a space that doesn't exist for
        the importer, then Forbidden for one that they may not write."""
        sent = values["agent_id"]
        agent_id = None if sent is None else AgentId(sent)
        space = self._resolve_space(tx, order, values, agent_id)
        if space.kind in AGENT_KINDS:
            agent_id = AgentId(space.id)
        self._require_space(tx, order, space, agent_id)
        if not self._may_write(tx, order, space, agent_id):
            raise not_owner_error()
        return space, agent_id

    def may_write_run(self, tx: Tx, order: ImportOrder, run_id: str, agent_id: str) -> bool:
        """Whether the importer may create a run of this agent."""
        return self._may_write(tx, order, Space(SpaceKind.RUN, run_id), AgentId(agent_id))

    def find_root_run(self, tx: Tx, order: ImportOrder, values: LineValues) -> RunId:
        """The root of an imported run. NotFound if the importer can't see its parent,
        ValidationFailed if the parent is one of its descendants.

        In an admin's import the parent may be missing, as when a filter left its line out of the
        file. Then the root of the line counts, or else the parent itself.
        """
        run_id, parent_id = RunId(values["id"]), values["parent_run_id"]
        if parent_id is None:
            return run_id
        parent = self._find_run(tx, order, parent_id)
        if parent is None and not order.requester.is_admin:
            raise NotFound("run", parent_id)
        self._check_run_ancestors(tx, order, values)
        return RunId(values["root_run_id"] or parent_id) if parent is None else parent.root_run_id

    def source_fields(
        self, tx: Tx, order: ImportOrder, values: LineValues, place: tuple[Space, AgentId | None]
    ) -> LineValues:
        """`source_agent`, `run_id` and `parent_run_id` of a memory. An admin's are taken as they
        are; anybody else's are reset to None where they could not be named in a write."""
        space, agent_id = place
        inside = space.kind not in (SpaceKind.USER, SpaceKind.CHAT)
        source = values["source_agent"] or (None if inside else agent_id)
        run_id, parent_id = values["run_id"], values["parent_run_id"]
        if not order.requester.is_admin:
            source = source if self._may_name_source(tx, order, source, inside=inside) else None
            named = space.id if space.kind is SpaceKind.RUN else run_id
            run = None if named is None else self._find_run(tx, order, named)
            run_id = None if run is None else run.id
            parent_id = parent_id if run is not None and parent_id == run.parent_run_id else None
        return {"source_agent": source, "run_id": run_id, "parent_run_id": parent_id}

    def _may_name_source(
        self, tx: Tx, order: ImportOrder, agent_id: str | None, *, inside: bool
    ) -> bool:
        """Whether the importer may name the agent as the source of a memory. In spaces of users and
        chats that is any existing agent, in other spaces the importer's own or the importer."""
        if agent_id is None:
            return False
        who, planned = order.requester.identity, order.foreseen.agents.get(agent_id)
        owner = planned["owner_id"] if planned else self._fetch_owner(tx, agent_id)
        own = who in (owner, Owner.agent(agent_id))
        return owner is not None and (own or not inside)

    def _fetch_owner(self, tx: Tx, agent_id: str) -> Owner | None:
        return self._stores.agents.fetch_owner(tx, AgentId(agent_id))

    def _check_run_ancestors(self, tx: Tx, order: ImportOrder, values: LineValues) -> None:
        # `seen` ends the walk if the runs above form a cycle already, without this run.
        above, seen = values["parent_run_id"], set[str]()
        while above is not None and above not in seen:
            if above == values["id"]:
                raise ValidationFailed.for_field(
                    "parent_run_id", "must not be the run or one below it"
                )
            seen.add(above)
            planned = order.foreseen.runs.get(above)
            run = Run(**planned) if planned else self._stores.runs.fetch(tx, above)
            above = None if run is None else run.parent_run_id

    def _resolve_space(
        self, tx: Tx, order: ImportOrder, values: LineValues, agent_id: AgentId | None
    ) -> Space:
        """The space that the line names. A line without one is placed by the rules of a write, with
        the scope `long_term` for records: lines of other software have a scope or a visibility
        instead of a space."""
        named = values["space"]
        who = order.requester.identity
        if named is not None:
            space_id = _named_space_id(order, named, agent_id)
            if named["kind"] is SpaceKind.CHAT:
                space_id = self._stores.chats.canonical_id(tx, ChatId(space_id))
            return Space(named["kind"], space_id)
        record = values["key"] is not None
        request = SpaceRequest(
            agent_id=agent_id,
            visibility=values["visibility"],
            scope=values["scope"] or (MemoryScope.LONG_TERM if record else None),
            run_id=values["run_id"],
            has_key=record,
        )
        texts = [one.content for one in values["messages"] or ()] or [values["content"] or ""]
        requested = self._visibility.choose(parse_space_request(request), texts)
        agent = self._find_agent(tx, order, agent_id) if agent_id is not None else None
        mode = effective_mode(agent.mode if agent else None, self._mode)
        return resolve_space(requested, mode, requester=who, org_id=agent.org_id if agent else None)

    def _require_space(
        self, tx: Tx, order: ImportOrder, space: Space, agent_id: AgentId | None
    ) -> None:
        """ValidationFailed or NotFound if the space, or what it belongs to, is not there for the
        importer. A run or chat that they can't see is reported as one that doesn't exist."""
        if space.kind in (SpaceKind.RUN, SpaceKind.ORG) and agent_id is None:
            raise ValidationFailed.for_field(
                "agent_id", f"is needed for a space of kind `{space.kind}`"
            )
        if space.kind not in (SpaceKind.USER, SpaceKind.CHAT) and agent_id is not None:
            agent = self._find_agent(tx, order, agent_id)
            if space.kind is SpaceKind.ORG and not _is_agent_org(agent, OrgId(space.id), order):
                raise ValidationFailed.for_field("space.id", "must be the org of the agent")
        if space.kind is SpaceKind.RUN and self._find_run(tx, order, space.id) is None:
            raise NotFound("run", space.id)
        if space.kind is SpaceKind.CHAT and not self._takes_part(tx, order, space.id):
            raise NotFound("chat", space.id)

    def _find_agent(self, tx: Tx, order: ImportOrder, agent_id: AgentId) -> _KnownAgent:
        planned = order.foreseen.agents.get(agent_id)
        if planned is not None:
            return _KnownAgent(planned["owner_id"], planned["org_id"], planned["space_mode"])
        agent = self._stores.agents.fetch(tx, agent_id)
        if agent is not None:
            return _KnownAgent(agent.owner, agent.org_id, agent.space_mode)
        # `fetch` finds registered agents, `fetch_owner` also removed ones: their owners may
        # still import what belonged to them.
        owner = self._stores.agents.fetch_owner(tx, agent_id)
        if owner is None:
            raise NotFound("agent", agent_id)
        return _KnownAgent(owner, None, None)

    def _find_run(self, tx: Tx, order: ImportOrder, run_id: str) -> Run | None:
        """The run, or None also if the importer can't see it."""
        planned = order.foreseen.runs.get(run_id)
        if planned is not None:
            return Run(**planned)
        if order.requester.is_admin:
            return self._stores.runs.fetch(tx, RunId(run_id))
        return self._stores.runs.fetch_visible(tx, order.requester.identity, RunId(run_id))

    def _takes_part(self, tx: Tx, order: ImportOrder, chat_id: str) -> bool:
        """Whether the importer takes part in the chat. For an admin always: the memories of a
        conversation are imported even where the conversation itself was not moved here."""
        who = order.requester.identity
        if order.requester.is_admin or (chat_id, who.kind, who.id) in order.foreseen.participants:
            return True
        return self._stores.chats.is_participant(
            tx, ChatId(chat_id), ParticipantKeys.for_requester(order.requester)
        )

    def _may_write(
        self, tx: Tx, order: ImportOrder, space: Space, agent_id: AgentId | None
    ) -> bool:
        """Whether the importer may write the space. For a chat that was decided before:
        `_require_space` raised NotFound for everybody who takes no part."""
        requester = order.requester
        if requester.is_admin or space.kind is SpaceKind.CHAT:
            return True
        # An agent of the dry run is in no table, so the policy is asked with a view made here; it
        # is the same rule that `VisibilityFacts.may_write` applies to stored rows.
        planned = order.foreseen.agents.get(agent_id or "")
        if planned is None:
            return self._views.may_write(tx, requester, space, agent_id=agent_id).allowed
        view = SpaceView(space, agent_id=agent_id, agent_owner=planned["owner_id"])
        return may_write(requester.space_caller, view).allowed


def _is_agent_org(agent: _KnownAgent, org_id: OrgId, order: ImportOrder) -> bool:
    """Whether the org is that of the agent. The org of a removed agent isn't known any more; then
    it must be one of the importer's, or an admin imports."""
    if agent.org_id is not None:
        return agent.org_id == org_id
    return order.requester.is_admin or org_id in order.requester.orgs


def _named_space_id(order: ImportOrder, named: LineValues, agent_id: AgentId | None) -> str:
    if named["id"] is not None:
        return str(named["id"])
    if named["kind"] is SpaceKind.USER:
        return order.requester.identity.id
    if named["kind"] in AGENT_KINDS and agent_id is not None:
        return agent_id
    raise ValidationFailed.for_field("space.id", "is required")
