"""Conversations: create, read, list, rename, delete and fork."""

from datetime import datetime
from typing import Any

from recollect.domain.conversations import (
    Conversation,
    Keep,
    ListMode,
    SeenConversation,
    matches_query,
)
from recollect.domain.events import EventKind
from recollect.domain.ids import ConversationId, EntryId, TreeId, parse_uuid
from recollect.domain.memberships import Level, Membership
from recollect.domain.pages import Page, unknown_cursor
from recollect.domain.spaces import ChatId
from recollect.errors import Forbidden
from recollect.policy.actions import Action
from recollect.policy.decide import visible
from recollect.policy.principals import Principal
from recollect.policy.scope import Scope
from recollect.ports.database import Database, Retry, Tx
from recollect.ports.runtime import Runtime
from recollect.ports.stores import ConversationFilter, Stores
from recollect.services.access import enter, seen
from recollect.services.audit import AuditName, Auditor
from recollect.services.forking import find_point, make_fork
from recollect.services.trees import Forget, delete_tree


class ConversationService:
    """Every operation checks the caller's level in the tree before it looks at anything else."""

    def __init__(
        self, database: Database, stores: Stores, runtime: Runtime, *, forget: Forget
    ) -> None:
        """`forget` hears of every tree that was deleted."""
        self._forget = forget
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._auditor = Auditor(stores, runtime)

    async def create(
        self, principal: Principal, *, title: str | None, metadata: dict[str, Any]
    ) -> SeenConversation:
        """A new tree of one conversation, owned by the caller."""
        return await self._database.write(lambda tx: self._create(tx, principal, title, metadata))

    async def get(self, principal: Principal, conversation_id: ConversationId) -> SeenConversation:
        """NotFound if there is none or it is deleted, Forbidden to strangers."""

        def work(tx: Tx) -> SeenConversation:
            branch = enter(tx, self._stores, principal, Action.READ, conversation_id)
            return seen(tx, self._stores, branch)

        return await self._database.read(work)

    async def list(
        self,
        principal: Principal,
        *,
        mode: ListMode,
        query: str | None,
        after: str | None,
        limit: int,
    ) -> Page[SeenConversation]:
        """Newest first by `updated_at` and id, over all that the caller may read."""

        def work(tx: Tx) -> Page[SeenConversation]:
            scope = visible(principal, Action.READ)
            key = self._cursor_key(tx, principal, after)
            if query:
                found = _matching(tx, self._stores, scope, mode, query, key, limit + 1)
            else:
                chosen = ConversationFilter(mode=mode)
                found = self._stores.conversations.page(
                    tx, scope, chosen, after=key, limit=limit + 1
                )
            return page_of(found, limit)

        run = self._database.scan if query else self._database.read
        return await run(work)

    async def rename(
        self, principal: Principal, conversation_id: ConversationId, title: str | Keep | None
    ) -> SeenConversation:
        """Set the title, clear it with None, or leave it."""

        def work(tx: Tx) -> SeenConversation:
            branch = enter(tx, self._stores, principal, Action.RENAME, conversation_id, lock=True)
            if not isinstance(title, Keep):
                self._stores.conversations.update_title(tx, conversation_id, title)
            return seen(tx, self._stores, branch)

        return await self._database.write(work)

    async def delete(self, principal: Principal, conversation_id: ConversationId) -> None:
        """Soft-delete the whole tree, through any of its conversations."""

        def work(tx: Tx) -> TreeId:
            branch = enter(tx, self._stores, principal, Action.DELETE, conversation_id, lock=True)
            at = self._runtime.clock.now()
            delete_tree(tx, self._stores, self._auditor, principal, branch, at=at)
            name = AuditName(EventKind.CONVERSATION, "delete")
            self._auditor.record(tx, principal, name, conversation_id=branch.tree_id)
            return branch.tree_id

        self._forget(await self._database.write(work))

    async def fork(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        entry_id: EntryId,
        *,
        title: str | None,
    ) -> SeenConversation:
        """A branch that shows what comes before the entry."""
        return await self._database.write(
            lambda tx: self._fork(tx, principal, conversation_id, entry_id, title)
        )

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
            branch = enter(tx, self._stores, principal, Action.READ, conversation_id)
            return page_forks(tx, self._stores, branch.tree_id, after=after, limit=limit)

        return await self._database.read(work)

    def _create(
        self, tx: Tx, principal: Principal, title: str | None, metadata: dict[str, Any]
    ) -> SeenConversation:
        id_, at = self._runtime.ids.new(), self._runtime.clock.now()
        conversation = Conversation(
            id=ConversationId(id_),
            tree_id=TreeId(id_),
            owner_user_id=principal.user_id,
            title=title,
            metadata=metadata,
            created_at=at,
            updated_at=at,
        )
        insert_root(tx, self._stores, conversation)
        return SeenConversation(conversation, Level.OWNER)

    def _fork(
        self,
        tx: Tx,
        principal: Principal,
        conversation_id: ConversationId,
        entry_id: EntryId,
        title: str | None,
    ) -> SeenConversation:
        branch = enter(tx, self._stores, principal, Action.FORK, conversation_id, lock=True)
        point = find_point(tx, self._stores, principal, branch, entry_id)
        parent = seen(tx, self._stores, branch)
        fork = make_fork(
            tx,
            self._stores,
            parent.conversation,
            point,
            fork_id=ConversationId(self._runtime.ids.new()),
            title=title,
            at=self._runtime.clock.now(),
        )
        if not self._stores.conversations.insert(tx, fork):
            raise Retry
        return SeenConversation(fork, parent.level)

    def _cursor_key(
        self, tx: Tx, principal: Principal, after: str | None
    ) -> tuple[datetime, str] | None:
        """Resolves if the caller can read the conversation, or owned it before it was deleted."""
        if not after:
            return None
        id_ = ConversationId(parse_uuid(after) or "")
        branch = self._stores.conversations.locate(tx, id_, principal.user_id) if id_ else None
        if branch is None:
            raise unknown_cursor()
        known = branch.owner_user_id == principal.user_id if branch.deleted else branch.level
        if not known:
            raise unknown_cursor()
        return branch.updated_at, branch.id


def _matching(
    tx: Tx,
    stores: Stores,
    scope: Scope,
    mode: ListMode,
    query: str,
    key: tuple[datetime, str] | None,
    limit: int,
) -> list[SeenConversation]:
    """Titles may be encrypted and case folding differs between engines: compared in Python.

    The query comes before the choice of one conversation per tree.
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


def insert_root(tx: Tx, stores: Stores, conversation: Conversation) -> None:
    """A new tree with its root and its owner. Of two that race for one id, one starts again."""
    at = conversation.created_at
    if not stores.conversations.insert_tree(tx, conversation.tree_id, at):
        chat = stores.chats.fetch(tx, ChatId(conversation.tree_id))
        raise Retry if chat is None or chat.tree else Forbidden("not allowed here: not a member")
    if not stores.conversations.insert(tx, conversation):
        raise Retry
    owner = Membership(conversation.tree_id, conversation.owner_user_id, Level.OWNER, at)
    stores.memberships.insert(tx, owner)


def first_per_tree(items: list[SeenConversation]) -> list[SeenConversation]:
    """The first of each tree, order kept."""
    by_tree: dict[TreeId, SeenConversation] = {}
    for item in items:
        by_tree.setdefault(item.conversation.tree_id, item)
    return list(by_tree.values())


def page_of(found: list[SeenConversation], limit: int) -> Page[SeenConversation]:
    """Cut to the limit; the cursor is the id of the last item, given only if more exist."""
    shown = found[:limit]
    return Page(shown, shown[-1].conversation.id if len(found) > limit else None)


def page_forks(
    tx: Tx, stores: Stores, tree_id: TreeId, *, after: str | None, limit: int | None
) -> Page[Conversation]:
    """The conversations of one tree; without a limit all of them."""
    last = None
    if after:
        id_ = parse_uuid(after)
        last = stores.conversations.fetch(tx, ConversationId(id_)) if id_ else None
        if last is None or last.tree_id != tree_id:
            raise unknown_cursor()
    asked = None if limit is None else limit + 1
    found = stores.conversations.page_forks(tx, tree_id, after=last, limit=asked)
    shown = found[:limit]
    return Page(shown, shown[-1].id if len(found) > len(shown) else None)


def _sort_key(item: SeenConversation) -> tuple[datetime, str]:
    return item.conversation.updated_at, item.conversation.id
