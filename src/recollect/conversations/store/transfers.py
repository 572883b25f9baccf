"""SQL for pending ownership transfers. A unique key allows a tree only one."""

from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, Select, delete, or_, select, tuple_

from recollect.conversations.sharing.transfer import Transfer, TransferRole
from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.conversations import conversations, transfers
from recollect.db.transaction import Tx
from recollect.kernel.ids import TransferId, TreeId, UserId
from recollect.kernel.runtime import Cipher

_x, _c = transfers.c, conversations.c


class SqlTransfers:
    """Implements `TransferStore` on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._title = EncryptedColumn(cipher, _c.title)

    def insert(self, tx: Tx, transfer: Transfer) -> bool:
        params = {
            "id": transfer.id,
            "tree_id": transfer.tree_id,
            "from_user_id": transfer.from_user_id,
            "to_user_id": transfer.to_user_id,
            "at": transfer.created_at,
        }
        return tx.fetch_first(_INSERT, params) is not None

    def fetch(self, tx: Tx, transfer_id: TransferId) -> Transfer | None:
        row = tx.fetch_first(_FETCH, {"id": transfer_id})
        return self._from_row(row) if row else None

    def fetch_for_tree(self, tx: Tx, tree_id: TreeId) -> Transfer | None:
        row = tx.fetch_first(_FETCH_FOR_TREE, {"tree_id": tree_id})
        return self._from_row(row) if row else None

    def page(
        self,
        tx: Tx,
        user_id: UserId,
        role: TransferRole,
        *,
        made_after: datetime,
        after: tuple[datetime, str] | None,
        limit: int | None,
    ) -> list[Transfer]:
        at, id_ = after or (None, None)
        params = {"user_id": user_id, "at": at, "id": id_, "limit": limit, "cutoff": made_after}
        statement = _page_query(role, cursor=after is not None, limited=limit is not None)
        return [self._from_row(row) for row in tx.fetch(statement, params)]

    def delete(self, tx: Tx, transfer_id: TransferId) -> None:
        tx.run(_DELETE, {"id": transfer_id})

    def delete_before(self, tx: Tx, cutoff: datetime) -> None:
        tx.run(_DELETE_BEFORE, {"cutoff": cutoff})

    def _from_row(self, row: Row) -> Transfer:
        title = self._title.open_to_show(row[2], row[1])
        return Transfer(
            id=TransferId(row[0]),
            tree_id=TreeId(row[1]),
            # The title is that of the root conversation, whose id is the tree's id.
            conversation_title=title.text,
            from_user_id=UserId(row[3]),
            to_user_id=UserId(row[4]),
            created_at=row[5],
            unreadable=title.unreadable,
        )


_ID = param("id", _x.id)
_AT = param("at", _x.created_at)
_CUTOFF = param("cutoff", _x.created_at)


def _select_transfers() -> Select[tuple[object, ...]]:
    columns = (
        _x.id,
        _x.conversation_group_id,
        _c.title,
        _x.from_user_id,
        _x.to_user_id,
        _x.created_at,
    )
    root = transfers.join(conversations, _c.id == _x.conversation_group_id)
    return select(*columns).select_from(root)


def _party_clause(role: TransferRole) -> ColumnElement[bool]:
    user = param("user_id", _x.from_user_id)
    sides = {
        TransferRole.SENDER: [_x.from_user_id == user],
        TransferRole.RECIPIENT: [_x.to_user_id == user],
    }
    return or_(*sides.get(role, [_x.from_user_id == user, _x.to_user_id == user]))


@cache
def _page_query(role: TransferRole, *, cursor: bool, limited: bool) -> Query:
    query = _select_transfers().where(_party_clause(role), _x.created_at > _CUTOFF)
    if cursor:
        query = query.where(tuple_(_x.created_at, _x.id) < tuple_(_AT, _ID))
    query = query.order_by(_x.created_at.desc(), _x.id.desc())
    return Query(query.limit(param("limit")) if limited else query)


_INSERT = Query(
    insert_if_absent(transfers, "conversation_group_id")
    .values(
        id=_ID,
        conversation_group_id=param("tree_id", _x.conversation_group_id),
        from_user_id=param("from_user_id", _x.from_user_id),
        to_user_id=param("to_user_id", _x.to_user_id),
        created_at=_AT,
    )
    .returning(_x.id)
)
_FETCH = Query(_select_transfers().where(_x.id == _ID))
_FETCH_FOR_TREE = Query(
    _select_transfers().where(
        _x.conversation_group_id == param("tree_id", _x.conversation_group_id)
    )
)
_DELETE = Query(delete(transfers).where(_x.id == _ID))
_DELETE_BEFORE = Query(delete(transfers).where(_x.created_at <= _CUTOFF))
