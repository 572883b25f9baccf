"""Conversations: create, read, list, change, delete and fork."""

from datetime import datetime

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.conversations.access import authorize_branch, check_access, load_conversation
from recollect.conversations.commands import (
    CreateConversation,
    ForkConversation,
    UpdateConversation,
)
from recollect.conversations.deletion import OnTreeDeleted, delete_tree
from recollect.conversations.forks.service import build_fork, find_fork_point
from recollect.conversations.model import (
    Conversation,
    ConversationWithLevel,
    Keep,
    ListMode,
    matches_query,
)
from recollect.conversations.ports import ConversationFilter, ConversationStores
from recollect.conversations.sharing.membership import Membership
from recollect.db.context import ServiceContext
from recollect.db.transaction import RetryTransaction, Tx
from recollect.identity.actions import Action
from recollect.identity.decide import scope_for
from recollect.identity.model import Principal
from recollect.identity.scope import TreeScope
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Forbidden
from recollect.kernel.ids import (
    ConversationId,
    TreeId,
    parse_uuid,
)
from recollect.kernel.pages import Page, unknown_cursor_error
from recollect.screening.secret_check import refuse_secrets


class ConversationService:
    """Every operation on a conversation checks the caller's level in its tree first."""

    def __init__(
        self, context: ServiceContext[ConversationStores], *, forget: OnTreeDeleted
    ) -> None:
        """`forget` is called with the id of each deleted tree, after the commit."""
        self._forget = forget
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def create(
        self,
        principal: Principal,
        command: CreateConversation,
        *,
        reserved_id: str | None = None,
    ) -> ConversationWithLevel:
        """Create a tree with one conversation, owned by the caller. If an earlier attempt of the
        request created it under `reserved_id`, return that one."""

        refuse_secrets(title=command.title)

        def work(tx: Tx) -> ConversationWithLevel:
            made = self._fetch_reserved(tx, principal, reserved_id)
            return made or self._create(tx, principal, command, reserved_id)

        return await self._database.write(work)

    async def get(
        self, principal: Principal, conversation_id: ConversationId
    ) -> ConversationWithLevel:
        """NotFound if there is none or it is deleted, Forbidden to non-members."""

        def work(tx: Tx) -> ConversationWithLevel:
            branch = authorize_branch(tx, self._stores, principal, Action.READ, conversation_id)
            return load_conversation(tx, self._stores, branch)

        return await self._database.read(work)

    async def list(
        self,
        principal: Principal,
        *,
        mode: ListMode,
        query: str | None,
        after: str | None,
        limit: int,
    ) -> Page[ConversationWithLevel]:
        """A page of what the caller may read, newest first by `updated_at` and id.

        With `query` all of the caller's conversations are read and compared in Python; that runs
        as a scan, so other requests do not wait behind it.
        """

        def work(tx: Tx) -> Page[ConversationWithLevel]:
            scope = scope_for(principal, Action.READ)
            key = self._resolve_cursor(tx, principal, after)
            if query:
                found = _list_matching(tx, self._stores, scope, mode, query, key, limit + 1)
            else:
                filters = ConversationFilter(mode=mode)
                found = self._stores.conversations.page(
                    tx, scope, filters, after=key, limit=limit + 1
                )
            return to_conversation_page(found, limit)

        run = self._database.scan if query else self._database.read
        return await run(work)

    async def update(
        self, principal: Principal, command: UpdateConversation
    ) -> ConversationWithLevel:
        """Set the title, clear it, or leave it; replace the metadata, or leave them."""
        id_, title = command.conversation_id, command.title

        def work(tx: Tx) -> ConversationWithLevel:
            branch = authorize_branch(tx, self._stores, principal, Action.RENAME, id_, lock=True)
            if not isinstance(title, Keep):
                refuse_secrets(title=title)
                self._stores.conversations.update_title(tx, id_, title)
            if not isinstance(command.metadata, Keep):
                self._stores.conversations.update_metadata(tx, id_, command.metadata)
            return load_conversation(tx, self._stores, branch)

        return await self._database.write(work)

    async def delete(self, principal: Principal, conversation_id: ConversationId) -> None:
        """Soft-delete the whole tree, through any of its conversations."""

        def work(tx: Tx) -> TreeId:
            branch = authorize_branch(
                tx, self._stores, principal, Action.DELETE, conversation_id, lock=True
            )
            at = self._runtime.clock.now()
            delete_tree(tx, self._stores, self._auditor, principal, branch, at=at)
            name = AuditName(EventKind.CONVERSATION, "delete")
            self._auditor.record(tx, principal, name, conversation_id=branch.tree_id)
            return branch.tree_id

        self._forget(await self._database.write(work))

    async def fork(
        self, principal: Principal, command: ForkConversation, *, reserved_id: str | None = None
    ) -> ConversationWithLevel:
        """Create a fork that shows what comes before the entry, and not the entry itself."""

        def work(tx: Tx) -> ConversationWithLevel:
            made = self._fetch_reserved(tx, principal, reserved_id)
            return made or self._fork(tx, principal, command, reserved_id)

        return await self._database.write(work)

    async def list_forks(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        *,
        after: str | None,
        limit: int | None,
    ) -> Page[Conversation]:
        """The whole tree: the root, then by fork point."""

        def work(tx: Tx) -> Page[Conversation]:
            branch = authorize_branch(tx, self._stores, principal, Action.READ, conversation_id)
            return page_forks(tx, self._stores, branch.tree_id, after=after, limit=limit)

        return await self._database.read(work)

    def _fetch_reserved(
        self, tx: Tx, principal: Principal, reserved_id: str | None
    ) -> ConversationWithLevel | None:
        """What an earlier attempt of the request created, if the caller may still read it."""
        if reserved_id is None:
            return None
        id_ = ConversationId(reserved_id)
        branch = self._stores.conversations.locate(tx, id_, principal.user_id)
        if branch is None:
            return None
        check_access(branch, principal, Action.READ, id_)
        return load_conversation(tx, self._stores, branch)

    def _create(
        self,
        tx: Tx,
        principal: Principal,
        command: CreateConversation,
        reserved_id: str | None,
    ) -> ConversationWithLevel:
        id_, at = reserved_id or self._runtime.ids.new(), self._runtime.clock.now()
        conversation = Conversation(
            id=ConversationId(id_),
            tree_id=TreeId(id_),
            owner_user_id=principal.user_id,
            title=command.title,
            metadata=command.metadata,
            created_at=at,
            updated_at=at,
        )
        insert_root(tx, self._stores, conversation)
        return ConversationWithLevel(conversation, Level.OWNER)

    def _fork(
        self,
        tx: Tx,
        principal: Principal,
        command: ForkConversation,
        reserved_id: str | None,
    ) -> ConversationWithLevel:
        branch = authorize_branch(
            tx, self._stores, principal, Action.FORK, command.conversation_id, lock=True
        )
        point = find_fork_point(tx, self._stores, principal, branch, command.entry_id)
        refuse_secrets(title=command.title)
        parent = load_conversation(tx, self._stores, branch)
        fork = build_fork(
            tx,
            self._stores,
            parent.conversation,
            point,
            fork_id=ConversationId(reserved_id or self._runtime.ids.new()),
            title=command.title,
            at=self._runtime.clock.now(),
        )
        if not self._stores.conversations.insert(tx, fork):
            raise RetryTransaction
        if not branch.confirmed:
            self._stores.memberships.confirm(
                tx, branch.tree_id, principal.user_id, at=fork.created_at
            )
        return ConversationWithLevel(fork, parent.level)

    def _resolve_cursor(
        self, tx: Tx, principal: Principal, after: str | None
    ) -> tuple[datetime, str] | None:
        """The sort key of the cursor's conversation.

        The caller must be able to read it. For a deleted one the caller must be its owner: the
        owner may delete the last conversation of a page and go on listing.
        """
        if not after:
            return None
        id_ = ConversationId(parse_uuid(after) or "")
        branch = self._stores.conversations.locate(tx, id_, principal.user_id) if id_ else None
        if branch is None:
            raise unknown_cursor_error()
        known = branch.owner_user_id == principal.user_id if branch.deleted else branch.level
        if not known:
            raise unknown_cursor_error()
        return branch.updated_at, branch.id


def _list_matching(
    tx: Tx,
    stores: ConversationStores,
    scope: TreeScope,
    mode: ListMode,
    query: str,
    key: tuple[datetime, str] | None,
    limit: int,
) -> list[ConversationWithLevel]:
    """Filter by title and metadata in Python, not in SQL: titles may be encrypted, and engines
    differ in how they ignore letter case (see docs/adr/0009).

    The filter comes before the choice of one conversation per tree. Otherwise a tree would be
    missing if its latest fork does not match but another one does. So SQL can apply neither the
    mode LATEST_FORK nor the cursor nor the limit.
    """
    every = ListMode.ROOTS if mode is ListMode.ROOTS else ListMode.ALL
    rows = stores.conversations.page(
        tx, scope, ConversationFilter(mode=every), after=None, limit=None
    )
    matching = [item for item in rows if matches_query(item.conversation, query)]
    if mode is ListMode.LATEST_FORK:
        matching = first_per_tree(matching)
    behind = [item for item in matching if key is None or _sort_key(item) < key]
    return behind[:limit]


def insert_root(tx: Tx, stores: ConversationStores, conversation: Conversation) -> None:
    """Insert a tree, its root conversation and the owner's membership.

    Raises RetryTransaction if another transaction took the id, Forbidden if the id is that of a
    chat which an outside system named, or whose memories were imported.
    """
    at = conversation.created_at
    # The tree's row decides a race for one id: exactly one insert succeeds. The insert also fails
    # for the id of a named chat, which will never become a tree, so a retry would not end there.
    # No chat, or one that is a tree, means that another transaction was faster: a retry sees it.
    if not stores.conversations.insert_tree(tx, conversation.tree_id, at):
        if stores.conversations.is_other_chat(tx, conversation.id):
            raise named_chat_error()
        raise RetryTransaction
    if not stores.conversations.insert(tx, conversation):
        raise RetryTransaction
    owner = Membership(conversation.tree_id, conversation.owner_user_id, Level.OWNER, at)
    stores.memberships.insert(tx, owner, confirmed=True)


def named_chat_error() -> Forbidden:
    """The error for an id that an outside system gave to a chat."""
    return Forbidden("not allowed here: not a member")


def first_per_tree(items: list[ConversationWithLevel]) -> list[ConversationWithLevel]:
    """The first item of each tree, in the given order."""
    by_tree: dict[TreeId, ConversationWithLevel] = {}
    for item in items:
        by_tree.setdefault(item.conversation.tree_id, item)
    return list(by_tree.values())


def to_conversation_page(
    found: list[ConversationWithLevel], limit: int
) -> Page[ConversationWithLevel]:
    """Cut a result of up to `limit + 1` items. The cursor, set if more exist, is the last id."""
    page = found[:limit]
    return Page(page, page[-1].conversation.id if len(found) > limit else None)


def page_forks(
    tx: Tx, stores: ConversationStores, tree_id: TreeId, *, after: str | None, limit: int | None
) -> Page[Conversation]:
    """A page of the conversations of one tree; without a limit all of them."""
    last = None
    if after:
        id_ = parse_uuid(after)
        last = stores.conversations.fetch(tx, ConversationId(id_)) if id_ else None
        if last is None or last.tree_id != tree_id:
            raise unknown_cursor_error()
    rows_max = None if limit is None else limit + 1
    found = stores.conversations.page_forks(tx, tree_id, after=last, limit=rows_max)
    page = found[:limit]
    return Page(page, page[-1].id if len(found) > len(page) else None)


def _sort_key(item: ConversationWithLevel) -> tuple[datetime, str]:
    return item.conversation.updated_at, item.conversation.id
