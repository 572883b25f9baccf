"""Admin operations over all trees, whoever owns them. Every call writes an audit event."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import Event, EventFilter, EventKind
from recollect.conversations.deletion import (
    OnTreeDeleted,
    delete_tree,
    restore_tree,
)
from recollect.conversations.entries.entry import Channel, Entry, ForkFilter
from recollect.conversations.entries.latest import list_latest_epochs
from recollect.conversations.entries.service import EntryQuery, list_entries
from recollect.conversations.model import (
    Branch,
    Conversation,
    ConversationWithLevel,
    ListMode,
)
from recollect.conversations.ports import ConversationFilter, ConversationStores, EntryView
from recollect.conversations.service import page_forks, to_conversation_page
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.service import page_memberships
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.decide import scope_for
from recollect.identity.model import Principal
from recollect.kernel.access_level import Level
from recollect.kernel.clock import to_text
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import ConversationId, TreeId, UserId, parse_uuid
from recollect.kernel.pages import Page, unknown_cursor_error

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AdminFilter:
    """The filters of an admin's list. Either date implies `only_deleted`."""

    mode: ListMode = ListMode.LATEST_FORK
    user_id: str | None = None
    include_deleted: bool = False
    only_deleted: bool = False
    deleted_after: datetime | None = None
    deleted_before: datetime | None = None

    @property
    def deletion_filter(self) -> bool | None:
        """True for deleted ones only, False for live ones only, None for both."""
        if self.only_deleted or self.deleted_after or self.deleted_before:
            return True
        return None if self.include_deleted else False


class AdminService:
    """Reads for auditors and changes for admins.

    A read commits its event first, in a transaction of its own: without the event there is no
    answer. A change and its event share one transaction. Roles are checked before, by the gate.
    """

    def __init__(
        self, context: ServiceContext[ConversationStores], *, forget: OnTreeDeleted
    ) -> None:
        """`forget` is called with the id of each deleted tree, after the commit."""
        self._forget = forget
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def list_conversations(
        self,
        principal: Principal,
        filters: AdminFilter,
        *,
        after: str | None,
        limit: int,
        justification: str | None,
    ) -> Page[ConversationWithLevel]:
        """A page over all trees, newest first."""

        def work(tx: Tx) -> Page[ConversationWithLevel]:
            key = None
            if after:
                last = self._fetch_conversation(tx, after)
                key = (last.updated_at, str(last.id))
            wanted = ConversationFilter(
                mode=filters.mode,
                owner_user_id=filters.user_id,
                deleted=filters.deletion_filter,
                deleted_from=filters.deleted_after,
                deleted_until=filters.deleted_before,
            )
            scope = scope_for(principal, Action.ADMIN_READ)
            found = self._stores.conversations.page(tx, scope, wanted, after=key, limit=limit + 1)
            return to_conversation_page(found, limit)

        facts = {"target_user_id": filters.user_id, "params": _filter_params(filters)}
        return await self._read_audited(
            principal, "listConversations", justification, work, **facts
        )

    async def get_conversation(
        self, principal: Principal, conversation_id: ConversationId, *, justification: str | None
    ) -> ConversationWithLevel:
        """One conversation, also if it is deleted."""

        def work(tx: Tx) -> ConversationWithLevel:
            conversation = self._stores.conversations.fetch(tx, conversation_id)
            if conversation is None:
                raise NotFound("conversation", conversation_id)
            return ConversationWithLevel(conversation, Level.OWNER)

        return await self._read_audited(
            principal, "getConversation", justification, work, conversation_id=conversation_id
        )

    async def delete_conversation(
        self, principal: Principal, conversation_id: ConversationId, *, justification: str | None
    ) -> None:
        """Soft-delete the whole tree. NotFound if it is deleted already."""

        def work(tx: Tx) -> TreeId:
            branch = self._locate_branch(tx, principal, conversation_id, lock=True)
            if branch.deleted:
                raise NotFound("conversation", conversation_id)
            at = self._runtime.clock.now()
            delete_tree(tx, self._stores, self._auditor, principal, branch, at=at)
            self._record_write(tx, principal, "deleteConversation", branch, justification)
            return branch.tree_id

        self._forget(await self._database.write(work))

    async def restore_conversation(
        self, principal: Principal, conversation_id: ConversationId, *, justification: str | None
    ) -> ConversationWithLevel:
        """Restore a soft-deleted tree, by any of its conversations. Conflict if it is live."""

        def work(tx: Tx) -> ConversationWithLevel:
            branch = self._locate_branch(tx, principal, conversation_id, lock=True)
            if not branch.deleted:
                raise Conflict("the conversation is not deleted")
            at = self._runtime.clock.now()
            restore_tree(tx, self._stores, self._auditor, principal, branch, at=at)
            self._record_write(tx, principal, "restoreConversation", branch, justification)
            return ConversationWithLevel(self._fetch_conversation(tx, conversation_id), Level.OWNER)

        return await self._database.write(work)

    async def list_entries(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        query: EntryQuery,
        *,
        after: str | None,
        limit: int,
        justification: str | None,
    ) -> Page[Entry]:
        """A page of entries with every client's memory, also of deleted trees."""

        def work(tx: Tx) -> Page[Entry]:
            branch = self._locate_branch(tx, principal, conversation_id)
            view = EntryView(
                history=query.channel is not Channel.MEMORY,
                all_clients=query.channel is not Channel.HISTORY,
            )
            # "latest" over all clients is a different number for each client, which one query
            # can't express. Over all forks it is undefined, and the list shows every epoch.
            latest = query.epoch == "latest" and query.forks is ForkFilter.NONE and view.all_clients
            lister = list_latest_epochs if latest else list_entries
            return lister(tx, self._stores, branch, query, view, after=after, limit=limit)

        return await self._read_audited(
            principal, "listEntries", justification, work, conversation_id=conversation_id
        )

    async def list_memberships(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        *,
        after: str | None,
        limit: int | None,
        justification: str | None,
    ) -> Page[Membership]:
        """The members of any tree."""

        def work(tx: Tx) -> Page[Membership]:
            branch = self._locate_branch(tx, principal, conversation_id)
            return page_memberships(tx, self._stores, branch.tree_id, after=after, limit=limit)

        return await self._read_audited(
            principal, "listMemberships", justification, work, conversation_id=conversation_id
        )

    async def list_forks(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        *,
        after: str | None,
        limit: int | None,
        justification: str | None,
    ) -> Page[Conversation]:
        """The conversations of any tree."""

        def work(tx: Tx) -> Page[Conversation]:
            branch = self._locate_branch(tx, principal, conversation_id)
            return page_forks(tx, self._stores, branch.tree_id, after=after, limit=limit)

        return await self._read_audited(
            principal, "listForks", justification, work, conversation_id=conversation_id
        )

    async def list_events(
        self,
        principal: Principal,
        filters: EventFilter,
        *,
        after: str | None,
        limit: int,
        justification: str | None,
    ) -> Page[Event]:
        """A page of the audit log, newest first. It contains the event of this read."""

        def work(tx: Tx) -> Page[Event]:
            last = None
            if after:
                id_ = parse_uuid(after)
                last = self._stores.events.fetch(tx, id_) if id_ else None
                if last is None:
                    raise unknown_cursor_error()
            found = self._stores.events.page(tx, filters, after=last, limit=limit + 1)
            page = found[:limit]
            return Page(page, page[-1].id if len(found) > limit else None)

        facts = {
            "target_user_id": filters.target_user_id,
            "conversation_id": filters.conversation_id,
        }
        return await self._read_audited(principal, "listEvents", justification, work, **facts)

    async def _read_audited(
        self,
        principal: Principal,
        action: str,
        justification: str | None,
        work: Callable[[Tx], T],
        **facts: Any,
    ) -> T:
        name = AuditName(EventKind.ADMIN_READ, action)

        def record(tx: Tx) -> None:
            self._auditor.record_admin(tx, principal, name, justification=justification, **facts)

        await self._database.write(record)
        return await self._database.read(work)

    def _record_write(
        self,
        tx: Tx,
        principal: Principal,
        action: str,
        branch: Branch,
        justification: str | None,
    ) -> None:
        self._auditor.record_admin(
            tx,
            principal,
            AuditName(EventKind.ADMIN_WRITE, action),
            conversation_id=branch.id,
            target_user_id=branch.owner_user_id,
            justification=justification,
        )

    def _locate_branch(
        self,
        tx: Tx,
        principal: Principal,
        conversation_id: ConversationId,
        *,
        lock: bool = False,
    ) -> Branch:
        if lock:
            self._stores.conversations.lock(tx, conversation_id)
        branch = self._stores.conversations.locate(tx, conversation_id, UserId(principal.user_id))
        if branch is None:
            raise NotFound("conversation", conversation_id)
        return branch

    def _fetch_conversation(self, tx: Tx, cursor: str) -> Conversation:
        id_ = parse_uuid(cursor)
        found = self._stores.conversations.fetch(tx, ConversationId(id_)) if id_ else None
        if found is None:
            raise unknown_cursor_error()
        return found


def _filter_params(filters: AdminFilter) -> dict[str, Any]:
    dates = {"deletedAfter": filters.deleted_after, "deletedBefore": filters.deleted_before}
    flags = {"includeDeleted": filters.include_deleted, "onlyDeleted": filters.only_deleted}
    return (
        {"mode": filters.mode.value}
        | {name: True for name, given in flags.items() if given}
        | {name: to_text(at) for name, at in dates.items() if at is not None}
    )
