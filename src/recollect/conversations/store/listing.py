"""SQL for lists of conversations.

There is one cached query for each combination of scope, filters and cursor. User ids and other
values are parameters, so the cache stays small.
"""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, select, true, tuple_

from recollect.conversations.model import Conversation, ListMode
from recollect.conversations.ports import ConversationFilter
from recollect.conversations.store.rows import CONVERSATION_COLUMNS
from recollect.db.engines.expressions import InUuidList
from recollect.db.statements import Params, Query, param
from recollect.db.tables.conversations import conversations, memberships
from recollect.identity.scope import TreeScope
from recollect.identity.scope_sql import (
    join_scope,
    needs_membership,
    scope_clause,
    scope_params,
)
from recollect.kernel.ids import TreeId

_c = conversations.c

_AT = param("at", _c.updated_at)
_ID = param("id", _c.id)
_LIMIT = param("limit", _c.forked_at_seq)


def page_query(
    scope: TreeScope, filters: ConversationFilter, *, cursor: bool, limited: bool
) -> Query:
    """The query of a list under a scope. Its last column is the caller's level."""
    # The cache key is the scope without its user: that is a parameter.
    return _build_page_query(
        TreeScope(scope.reach, least=scope.least),
        filters.mode,
        owned=filters.owner_user_id is not None,
        deleted=filters.deleted,
        since=filters.deleted_from is not None,
        until=filters.deleted_until is not None,
        cursor=cursor,
        limited=limited,
    )


def page_params(
    scope: TreeScope,
    filters: ConversationFilter,
    after: tuple[datetime, str] | None,
    limit: int | None,
) -> Params:
    """The parameters of `page_query`."""
    at, id_ = after or (None, None)
    return {
        **scope_params(scope),
        "owner": filters.owner_user_id,
        "since": filters.deleted_from,
        "until": filters.deleted_until,
        "at": at,
        "id": id_,
        "limit": limit,
    }


def filter_ids_query(scope: TreeScope) -> Query:
    """The query that filters a list of ids by a scope."""
    return _build_filter_query(TreeScope(scope.reach, least=scope.least))


@cache
def forks_query(*, cursor: bool, limited: bool) -> Query:
    """The query for the conversations of one tree: the root, then by fork point, and newest first
    among forks of the same point. The root counts as point -1, a blank fork as 0."""
    point = func.coalesce(_c.forked_at_seq, literal_column("-1"))
    query: Select[Any] = select(*CONVERSATION_COLUMNS).where(
        _c.conversation_group_id == param("tree_id", _c.id)
    )
    if cursor:
        here = param("point", _c.forked_at_seq)
        older = tuple_(_c.created_at, _c.id) < tuple_(_AT, _ID)
        query = query.where((point > here) | and_(point == here, older))
    query = query.order_by(point, _c.created_at.desc(), _c.id.desc())
    return Query(query.limit(_LIMIT) if limited else query)


def forks_params(tree_id: TreeId, after: Conversation | None, limit: int | None) -> Params:
    """The parameters of `forks_query`."""
    params: dict[str, Any] = {"tree_id": tree_id, "limit": limit}
    if after is not None:
        point = -1 if after.forked_at_seq is None else after.forked_at_seq
        params |= {"point": point, "at": after.created_at, "id": after.id}
    return params


@cache
def _build_filter_query(scope: TreeScope) -> Query:
    return Query(
        select(_c.id)
        .select_from(join_scope(conversations, scope, _c.conversation_group_id))
        .where(InUuidList(_c.id, param("ids")), scope_clause(scope, _c.deleted_at))
    )


@cache
def _build_page_query(
    scope: TreeScope,
    mode: ListMode,
    *,
    owned: bool,
    deleted: bool | None,
    since: bool,
    until: bool,
    cursor: bool,
    limited: bool,
) -> Query:
    # Without a membership join the caller is an admin, who sees everything as its owner does.
    level = memberships.c.access_level if needs_membership(scope) else literal_column("'owner'")
    # Unused filters are left out of the text instead of `:x IS NULL OR …`, so that the planner
    # sees a plain range and can use an index.
    wanted = [
        (_c.owner_user_id == param("owner", _c.owner_user_id), owned),
        (_c.deleted_at.is_not(None), deleted is True),
        (_c.deleted_at.is_(None), deleted is False),
        (_c.deleted_at >= param("since", _c.deleted_at), since),
        (_c.deleted_at < param("until", _c.deleted_at), until),
        (tuple_(_c.updated_at, _c.id) < tuple_(_AT, _ID), cursor),
    ]
    query = (
        select(*CONVERSATION_COLUMNS, level.label("level"))
        .select_from(join_scope(conversations, scope, _c.conversation_group_id))
        .where(scope_clause(scope, _c.deleted_at), _mode_clause(mode))
        .where(*(clause for clause, used in wanted if used))
        .order_by(_c.updated_at.desc(), _c.id.desc())
    )
    return Query(query.limit(_LIMIT) if limited else query)


def _mode_clause(mode: ListMode) -> ColumnElement[bool]:
    if mode is ListMode.ALL:
        return true()
    if mode is ListMode.ROOTS:
        return _c.forked_at_conversation_id.is_(None)
    # The newest conversation of each tree, by a correlated look-up. The tree's id leads the order
    # although it is constant here: so the order is that of the index (tree, updated_at, id), and
    # the look-up reads one index entry.
    other = conversations.alias("other")
    newest = (
        select(other.c.id)
        .where(other.c.conversation_group_id == _c.conversation_group_id)
        .order_by(
            other.c.conversation_group_id.desc(), other.c.updated_at.desc(), other.c.id.desc()
        )
        .limit(literal_column("1"))
        .correlate(conversations)
    )
    return _c.id == newest.scalar_subquery()
