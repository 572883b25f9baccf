"""SQL for conversation trees and their branches."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    case,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from recollect.conversations.entries.entry import Channel, Entry
from recollect.conversations.forks.rules import UNLIMITED, Ancestor
from recollect.conversations.model import (
    Branch,
    Conversation,
    ConversationWithLevel,
    Headline,
)
from recollect.conversations.ports import ConversationFilter
from recollect.conversations.store.listing import (
    filter_ids_query,
    forks_params,
    forks_query,
    page_params,
    page_query,
)
from recollect.conversations.store.rows import (
    CONVERSATION_COLUMNS,
    ConversationRows,
    branch_from_row,
)
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import (
    conversations,
    embeddings,
    entries,
    index,
    memberships,
    participations,
    transfers,
    trees,
)
from recollect.db.tables.memories import memories
from recollect.db.tables.people import named_chats
from recollect.db.transaction import Tx
from recollect.identity.scope import TreeScope
from recollect.identity.scope_sql import scope_params
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, TreeId, UserId
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import SpaceKind
from recollect.kernel.strict_json import dump

_c, _t, _m, _p = conversations.c, trees.c, memberships.c, participations.c


class SqlConversations:
    """Implements `ConversationStore` on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = ConversationRows(cipher)

    def lock(self, tx: Tx, conversation_id: ConversationId) -> None:
        tx.lock(_LOCK, {"id": conversation_id})

    def locate(self, tx: Tx, conversation_id: ConversationId, user_id: UserId) -> Branch | None:
        row = tx.fetch_first(_LOCATE, {"id": conversation_id, "user_id": user_id})
        return branch_from_row(row) if row else None

    def insert_tree(self, tx: Tx, tree_id: TreeId, at: datetime) -> bool:
        return (
            tx.fetch_first(_INSERT_TREE, {"id": tree_id, "chat_id": tree_id, "at": at}) is not None
        )

    def is_other_chat(self, tx: Tx, conversation_id: ConversationId) -> bool:
        return tx.fetch_first(_FIND_OTHER_CHAT, {"chat_id": conversation_id}) is not None

    def insert(self, tx: Tx, conversation: Conversation) -> bool:
        return tx.fetch_first(_INSERT, self._rows.to_params(conversation)) is not None

    def fetch(self, tx: Tx, conversation_id: ConversationId) -> Conversation | None:
        row = tx.fetch_first(_FETCH, {"id": conversation_id})
        return self._rows.from_row(row) if row else None

    def filter_ids(
        self, tx: Tx, scope: TreeScope, conversation_ids: Sequence[ConversationId]
    ) -> set[ConversationId]:
        params = {**scope_params(scope), "ids": dump(list(conversation_ids))}
        return {ConversationId(row[0]) for row in tx.fetch(filter_ids_query(scope), params)}

    def fetch_chain(self, tx: Tx, conversation_id: ConversationId) -> list[Ancestor]:
        rows = tx.fetch(_CHAIN, {"id": conversation_id, "unlimited": UNLIMITED})
        return [Ancestor(ConversationId(row[0]), row[1]) for row in rows]

    def page(
        self,
        tx: Tx,
        scope: TreeScope,
        filters: ConversationFilter,
        *,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[ConversationWithLevel]:
        statement = page_query(scope, filters, cursor=after is not None, limited=limit is not None)
        rows = tx.fetch(statement, page_params(scope, filters, after, limit))
        return [
            ConversationWithLevel(self._rows.from_row(row), Level.from_word(row[-1]))
            for row in rows
        ]

    def page_forks(
        self, tx: Tx, tree_id: TreeId, *, after: Conversation | None, limit: int | None
    ) -> list[Conversation]:
        statement = forks_query(cursor=after is not None, limited=limit is not None)
        params = forks_params(tree_id, after, limit)
        return [self._rows.from_row(row) for row in tx.fetch(statement, params)]

    def record_append(
        self, tx: Tx, branch: Branch, entry: Entry, headline: Headline | None
    ) -> None:
        # One update of the tree's row and at most one of the branch's. Memory is private to its
        # client, so it changes neither the time nor the preview of the conversation.
        place = {"tree_id": branch.tree_id, "seq": entry.seq, "at": entry.created_at}
        tx.run(_ADVANCE if entry.indexed_content is None else _ADVANCE_INDEX, place)
        if entry.channel is not Channel.HISTORY:
            return
        params: dict[str, Any] = {"id": branch.id, "at": max(entry.created_at, branch.updated_at)}
        if headline is None:
            tx.run(_TOUCH, params)
            return
        params["preview"] = self._rows.preview.seal(headline.preview, branch.id)
        params["seq"] = entry.seq
        if branch.title_pending:
            params["title"] = self._rows.title.seal(headline.title, branch.id)
        tx.run(_TOUCH_TITLE if branch.title_pending else _TOUCH_TEXT, params)

    def update_title(self, tx: Tx, conversation_id: ConversationId, title: str | None) -> None:
        sealed = self._rows.title.seal(title, conversation_id)
        tx.run(_RENAME, {"id": conversation_id, "title": sealed})

    def update_derived_title(
        self, tx: Tx, conversation_id: ConversationId, title: str | None
    ) -> None:
        sealed = self._rows.title.seal(title, conversation_id)
        tx.run(_DERIVE, {"id": conversation_id, "title": sealed, "pending": title is None})

    def update_preview(
        self, tx: Tx, conversation_id: ConversationId, preview: str | None, text_seq: int | None
    ) -> None:
        sealed = self._rows.preview.seal(preview, conversation_id)
        tx.run(_SET_PREVIEW, {"id": conversation_id, "preview": sealed, "seq": text_seq})

    def update_metadata(
        self, tx: Tx, conversation_id: ConversationId, metadata: dict[str, Any]
    ) -> None:
        tx.run(_SET_METADATA, {"id": conversation_id, "metadata": dump(metadata)})

    def update_owner(self, tx: Tx, tree_id: TreeId, owner: UserId) -> None:
        tx.run(_SET_OWNER, {"tree_id": tree_id, "owner": owner})

    def update_deleted(self, tx: Tx, tree_id: TreeId, at: datetime | None) -> None:
        tx.run(_DELETE_TREE, {"tree_id": tree_id, "at": at})
        tx.run(_DELETE_BRANCHES, {"tree_id": tree_id, "at": at})

    def count_deleted_before(self, tx: Tx, cutoff: datetime) -> int:
        row = tx.fetch_first(_COUNT_DUE, {"cutoff": cutoff})
        return int(row[0]) if row else 0

    def claim_deleted_before(
        self, tx: Tx, cutoff: datetime, *, after: TreeId | None, limit: int
    ) -> list[TreeId]:
        params = {"cutoff": cutoff, "limit": limit, "after": after}
        rows = tx.fetch(_claim_due_query(cursor=after is not None), params)
        return [TreeId(row[0]) for row in rows]

    def delete_trees(self, tx: Tx, tree_ids: Sequence[TreeId]) -> None:
        for tree_id in tree_ids:
            for statement in _EVICT:
                tx.run(statement, {"tree_id": tree_id})


@cache
def _claim_due_query(*, cursor: bool) -> Query:
    query = select(_t.id).where(_t.deleted_at < param("cutoff", _t.deleted_at))
    if cursor:
        query = query.where(_t.id > param("after", _t.id))
    # SKIP LOCKED passes over trees that others hold. `deleted_at` is part of the locking statement,
    # so a tree that was restored since the last look is not claimed.
    query = query.order_by(_t.id).limit(param("limit", _c.forked_at_seq))
    return Query(query.with_for_update(skip_locked=True))


def _build_chain_query() -> Query:
    """The chain from a conversation up to the root.

    The recursion carries the cut, the lowest fork point so far. At 0 nothing further up is
    visible, so it stops there: a long history above a blank fork is never read.
    """
    start = select(
        _c.id,
        _c.forked_at_seq,
        _c.forked_at_conversation_id,
        literal_column("0").label("depth"),
        param("unlimited", _c.forked_at_seq).label("cut"),
    ).where(_c.id == param("id", _c.id))
    chain = start.cte("chain", recursive=True)
    cut = case(
        (chain.c.forked_at_seq < chain.c.cut, chain.c.forked_at_seq),
        else_=chain.c.cut,
    )
    parent = select(
        _c.id, _c.forked_at_seq, _c.forked_at_conversation_id, chain.c.depth + 1, cut
    ).select_from(
        chain.join(conversations, and_(_c.id == chain.c.forked_at_conversation_id, cut > 0))
    )
    chain = chain.union_all(parent)
    return Query(select(chain.c.id, chain.c.forked_at_seq).order_by(chain.c.depth))


_ID = param("id", _c.id)
_TREE = param("tree_id", _c.id)
_AT = param("at", _c.updated_at)

_CHAIN = _build_chain_query()
# The row of the tree is the lock for everything in it, forks included. The conversation's id is
# looked up inside the statement, so an unknown id locks nothing and is no error.
_LOCK = Query(
    select(_t.id)
    .where(
        _t.id == select(_c.conversation_group_id).where(_c.id == _ID).scalar_subquery(),
    )
    .with_for_update()
)
_LOCATE = Query(
    select(
        _c.id,
        _c.conversation_group_id,
        _c.owner_user_id,
        _t.deleted_at,
        _m.access_level,
        _t.last_seq,
        _t.last_at,
        _c.updated_at,
        _c.last_text_seq,
        _c.title_pending,
        _p.confirmed_at,
    )
    .select_from(
        conversations.join(trees, _t.id == _c.conversation_group_id)
        .outerjoin(
            memberships,
            and_(
                _m.conversation_group_id == _c.conversation_group_id,
                _m.user_id == param("user_id", _m.user_id),
            ),
        )
        .outerjoin(
            participations,
            and_(
                _p.conversation_group_id == _m.conversation_group_id,
                _p.user_id == _m.user_id,
                _p.left_at.is_(None),
            ),
        )
    )
    .where(_c.id == _ID)
)
# A tree is also a chat with the tree's id. If an outside system has named a chat with that id, or
# an import brought memories of such a chat, the id must not become somebody's tree: they would read
# them. So the insert does nothing in that case, as if the id were taken.
_CHAT_ID = param("chat_id", named_chats.c.id)
_IS_OTHER_CHAT = or_(
    exists().where(named_chats.c.id == _CHAT_ID),
    exists().where(
        memories.c.space_kind == literal_word(SpaceKind.CHAT), memories.c.space_id == _CHAT_ID
    ),
)
_FIND_OTHER_CHAT = Query(select(literal_column("1")).where(_IS_OTHER_CHAT))
_INSERT_TREE = Query(
    insert_if_absent(trees, "id")
    .from_select(
        ["id", "created_at", "last_seq", "last_at"],
        select(_ID, _AT, literal_column("0"), _AT).where(~_IS_OTHER_CHAT),
    )
    .returning(_t.id)
)
_INSERT = Query(
    insert_if_absent(conversations, "id")
    .values({column.name: param(column.name, column) for column in CONVERSATION_COLUMNS})
    .returning(_c.id)
)
_FETCH = Query(select(*CONVERSATION_COLUMNS).where(_c.id == _ID))
_POSITION = {"last_seq": param("seq", _t.last_seq), "last_at": _AT}
_ADVANCE = Query(update(trees).where(_t.id == _TREE).values(_POSITION))
_ONE: ColumnElement[int] = literal_column("1")
_ADVANCE_INDEX = Query(
    update(trees)
    .where(_t.id == _TREE)
    .values(
        _POSITION
        | {"index_revision": _t.index_revision + _ONE, "index_entries": _t.index_entries + _ONE}
    )
)
_TOUCH = Query(update(conversations).where(_c.id == _ID).values(updated_at=_AT))
_TEXT_VALUES = {
    "updated_at": _AT,
    "last_message_preview": param("preview", _c.last_message_preview),
    "last_text_seq": param("seq", _c.last_text_seq),
}
_TOUCH_TEXT = Query(update(conversations).where(_c.id == _ID).values(_TEXT_VALUES))
_TITLE_VALUES = {"title": param("title", _c.title), "title_pending": literal_column("false")}
_TOUCH_TITLE = Query(update(conversations).where(_c.id == _ID).values(_TEXT_VALUES | _TITLE_VALUES))
_RENAME = Query(update(conversations).where(_c.id == _ID).values(_TITLE_VALUES))
_DERIVE = Query(
    update(conversations)
    .where(_c.id == _ID)
    .values(title=param("title", _c.title), title_pending=param("pending", _c.title_pending))
)
_SET_PREVIEW = Query(
    update(conversations)
    .where(_c.id == _ID)
    .values(
        last_message_preview=param("preview", _c.last_message_preview),
        last_text_seq=param("seq", _c.last_text_seq),
    )
)
_SET_METADATA = Query(
    update(conversations).where(_c.id == _ID).values(metadata=param("metadata", _c.metadata))
)
_SET_OWNER = Query(
    update(conversations)
    .where(_c.conversation_group_id == _TREE)
    .values(owner_user_id=param("owner", _c.owner_user_id))
)
_DELETE_TREE = Query(update(trees).where(_t.id == _TREE).values(deleted_at=_AT))
_DELETE_BRANCHES = Query(
    update(conversations).where(_c.conversation_group_id == _TREE).values(deleted_at=_AT)
)
_COUNT_DUE = Query(
    select(func.count()).select_from(trees).where(_t.deleted_at < param("cutoff", _t.deleted_at))
)
# Children before parents: the rows that refer to a tree go before the tree itself.
_EVICT = [
    Query(delete(table).where(table.c.conversation_group_id == _TREE))
    for table in (embeddings, index, entries, transfers, memberships, conversations)
] + [Query(delete(trees).where(_t.id == _TREE))]
