"""SQL for lists of conversations.

There is one cached query for each combination of scope, filters and cursor. User ids and other
values are parameters, so the cache stays small.
"""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, select, true, tuple_

from recollect.domain.conversations import Conversation, ListMode
from recollect.domain.ids import TreeId
from recollect.policy.scope import Scope
from recollect.ports.stores import ConversationFilter
from recollect.stores.engines.expressions import AmongIds
from recollect.stores.rows import CONVERSATION
from recollect.stores.scopes import needs_membership, predicate, scope_params, scoped
from recollect.stores.statements import Params, Statement, param
from recollect.stores.tables import conversations, memberships

_c = conversations.c

_AT = param("at", _c.updated_at)
_ID = param("id", _c.id)
_LIMIT = param("limit", _c.forked_at_seq)


def page_statement(
    scope: Scope, chosen: ConversationFilter, *, cursor: bool, limited: bool
) -> Statement:
    """The query of a list under a scope. Its last column is the caller's level."""
    # The cache key is the scope without its user: that is a parameter.
    return _page(
        Scope(scope.reach, least=scope.least),
        chosen.mode,
        owned=chosen.owner_user_id is not None,
        deleted=chosen.deleted,
        since=chosen.deleted_from is not None,
        until=chosen.deleted_until is not None,
        cursor=cursor,
        limited=limited,
    )


def page_params(
    scope: Scope,
    chosen: ConversationFilter,
    after: tuple[datetime, str] | None,
    limit: int | None,
) -> Params:
    """The parameters of `page_query`."""
    at, id_ = after or (None, None)
    return {
        **scope_params(scope),
        "owner": chosen.owner_user_id,
        "since": chosen.deleted_from,
        "until": chosen.deleted_until,
        "at": at,
        "id": id_,
        "limit": limit,
    }


def among_statement(scope: Scope) -> Statement:
    """The query that filters a list of ids by a scope."""
    return _among(Scope(scope.reach, least=scope.least))


@cache
def forks_statement(*, cursor: bool, limited: bool) -> Statement:
    """The query for the conversations of one tree: the root, then by fork point, and newest first
    among forks of the same point. The root counts as point -1, a blank fork as 0."""
    point = func.coalesce(_c.forked_at_seq, literal_column("-1"))
    query: Select[Any] = select(*CONVERSATION).where(
        _c.conversation_group_id == param("tree_id", _c.id)
    )
    if cursor:
        here = param("point", _c.forked_at_seq)
        older = tuple_(_c.created_at, _c.id) < tuple_(_AT, _ID)
        query = query.where((point > here) | and_(point == here, older))
    query = query.order_by(point, _c.created_at.desc(), _c.id.desc())
    return Statement(query.limit(_LIMIT) if limited else query)


def forks_params(tree_id: TreeId, after: Conversation | None, limit: int | None) -> Params:
    """The parameters of `forks_query`."""
    params: dict[str, Any] = {"tree_id": tree_id, "limit": limit}
    if after is not None:
        point = -1 if after.forked_at_seq is None else after.forked_at_seq
        params |= {"point": point, "at": after.created_at, "id": after.id}
    return params


@cache
def _among(scope: Scope) -> Statement:
    return Statement(
        select(_c.id)
        .select_from(scoped(conversations, scope, _c.conversation_group_id))
        .where(AmongIds(_c.id, param("ids")), predicate(scope, _c.deleted_at))
    )


@cache
def _page(
    scope: Scope,
    mode: ListMode,
    *,
    owned: bool,
    deleted: bool | None,
    since: bool,
    until: bool,
    cursor: bool,
    limited: bool,
) -> Statement:
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
        select(*CONVERSATION, level.label("level"))
        .select_from(scoped(conversations, scope, _c.conversation_group_id))
        .where(predicate(scope, _c.deleted_at), _mode(mode))
        .where(*(clause for clause, used in wanted if used))
        .order_by(_c.updated_at.desc(), _c.id.desc())
    )
    return Statement(query.limit(_LIMIT) if limited else query)


def _mode(mode: ListMode) -> ColumnElement[bool]:
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
