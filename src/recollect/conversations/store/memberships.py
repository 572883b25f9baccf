"""SQL for memberships (who belongs to a tree now) and participations (who did, and when)."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import delete, insert, select, tuple_, update

from recollect.conversations.sharing.membership import Membership
from recollect.db.statements import Query, Row, param
from recollect.db.tables.conversations import memberships, participations
from recollect.db.transaction import Tx
from recollect.kernel.access_level import Level
from recollect.kernel.ids import TreeId, UserId

_m, _p = memberships.c, participations.c


class SqlMemberships:
    """Implements `MembershipStore` on both engines.

    A participation begins and ends with its membership and is never deleted here, so it remains
    known who could read a tree at any time.
    """

    def fetch(self, tx: Tx, tree_id: TreeId, user_id: UserId) -> Membership | None:
        row = tx.fetch_first(_FETCH, {"tree_id": tree_id, "user_id": user_id})
        return _from_row(row) if row else None

    def page(
        self, tx: Tx, tree_id: TreeId, *, after: tuple[datetime, str] | None, limit: int | None
    ) -> list[Membership]:
        at, user_id = after or (None, None)
        params = {"tree_id": tree_id, "at": at, "user_id": user_id, "limit": limit}
        statement = _page_query(cursor=after is not None, limited=limit is not None)
        return [_from_row(row) for row in tx.fetch(statement, params)]

    def insert(self, tx: Tx, membership: Membership, *, confirmed: bool) -> None:
        params = _to_params(membership)
        tx.run(_INSERT, params)
        joined = {k: params[k] for k in ("tree_id", "user_id", "at")}
        tx.run(_JOIN, joined | {"confirmed_at": membership.created_at if confirmed else None})

    def confirm(self, tx: Tx, tree_id: TreeId, user_id: UserId, *, at: datetime) -> None:
        tx.run(_CONFIRM, {"tree_id": tree_id, "user_id": user_id, "at": at})

    def update_level(self, tx: Tx, membership: Membership) -> None:
        tx.run(_UPDATE, {k: v for k, v in _to_params(membership).items() if k != "at"})

    def delete(self, tx: Tx, tree_id: TreeId, user_id: UserId, *, at: datetime) -> None:
        tx.run(_DELETE, {"tree_id": tree_id, "user_id": user_id})
        tx.run(_LEAVE, {"tree_id": tree_id, "user_id": user_id, "at": at})


def _from_row(row: Row) -> Membership:
    return Membership(TreeId(row[0]), UserId(row[1]), Level.from_word(row[2]), row[3])


def _to_params(membership: Membership) -> dict[str, Any]:
    return {
        "tree_id": membership.tree_id,
        "user_id": membership.user_id,
        "level": membership.level.word,
        "at": membership.created_at,
    }


_TREE = param("tree_id", _m.conversation_group_id)
_USER = param("user_id", _m.user_id)
_AT = param("at", _m.created_at)
_LEVEL = param("level", _m.access_level)
_THIS = (_m.conversation_group_id == _TREE, _m.user_id == _USER)
_COLUMNS = (_m.conversation_group_id, _m.user_id, _m.access_level, _m.created_at)


@cache
def _page_query(*, cursor: bool, limited: bool) -> Query:
    query = select(*_COLUMNS).where(_m.conversation_group_id == _TREE)
    if cursor:
        query = query.where(tuple_(_m.created_at, _m.user_id) > tuple_(_AT, _USER))
    query = query.order_by(_m.created_at, _m.user_id)
    return Query(query.limit(param("limit")) if limited else query)


_FETCH = Query(select(*_COLUMNS).where(*_THIS))
_INSERT = Query(
    insert(memberships).values(
        conversation_group_id=_TREE, user_id=_USER, access_level=_LEVEL, created_at=_AT
    )
)
_JOIN = Query(
    insert(participations).values(
        conversation_group_id=_TREE,
        user_id=_USER,
        joined_at=_AT,
        confirmed_at=param("confirmed_at", _p.confirmed_at),
    )
)
_UPDATE = Query(update(memberships).where(*_THIS).values(access_level=_LEVEL))
_DELETE = Query(delete(memberships).where(*_THIS))
_PRESENT = (_p.conversation_group_id == _TREE, _p.user_id == _USER, _p.left_at.is_(None))
_LEAVE = Query(update(participations).where(*_PRESENT).values(left_at=_AT))
_CONFIRM = Query(
    update(participations).where(*_PRESENT, _p.confirmed_at.is_(None)).values(confirmed_at=_AT)
)
