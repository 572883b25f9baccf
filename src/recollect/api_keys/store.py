"""SQL of issued API keys."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, insert, or_, select, update

from recollect.api_keys.model import IssuedKey
from recollect.audit.ports import AuditStores
from recollect.db.statements import Query, Row, param
from recollect.db.tables.conversations import api_keys
from recollect.db.transaction import Tx
from recollect.kernel.ids import ClientId

_k = api_keys.c
_FIELDS = (
    _k.id,
    _k.client_id,
    _k.name,
    _k.created_at,
    _k.created_by,
    _k.expires_at,
    _k.revoked_at,
)


class IssuedKeyStore:
    def insert(self, tx: Tx, key: IssuedKey, digest: str) -> None:
        values = {column.name: getattr(key, column.name) for column in _FIELDS}
        tx.run(_INSERT, values | {"digest": digest})

    def find(self, tx: Tx, digest: str) -> IssuedKey | None:
        """The key with this hash, also an expired or revoked one."""
        row = tx.fetch_first(_FIND, {"digest": digest})
        return _from_row(row) if row else None

    def page(self, tx: Tx, *, after: tuple[datetime, str] | None, limit: int) -> list[IssuedKey]:
        """All keys, the newest first."""
        at, id_ = after or (None, None)
        params = {"after_at": at, "after_id": id_, "limit": limit}
        return [_from_row(row) for row in tx.fetch(_NEXT if after else _FIRST, params)]

    def revoke(self, tx: Tx, key_id: str, at: datetime) -> IssuedKey | None:
        """Revoke a key; None if there is none. A revoked one keeps its first instant."""
        tx.run(_REVOKE, {"id": key_id, "at": at})
        row = tx.fetch_first(_FETCH, {"id": key_id})
        return _from_row(row) if row else None


def _from_row(row: Row) -> IssuedKey:
    id_, client_id, name, created_at, created_by, expires_at, revoked_at = row
    return IssuedKey(id_, ClientId(client_id), name, created_at, created_by, expires_at, revoked_at)


_ID = param("id", _k.id)
_INSERT = Query(
    insert(api_keys).values(
        {column.name: param(column.name, column) for column in (*_FIELDS, _k.digest)}
    )
)
_FIND = Query(select(*_FIELDS).where(_k.digest == param("digest", _k.digest)))
_FETCH = Query(select(*_FIELDS).where(_k.id == _ID))
_ORDERED = select(*_FIELDS).order_by(_k.created_at.desc(), _k.id.desc()).limit(param("limit"))
_AT = param("after_at", _k.created_at)
_FIRST = Query(_ORDERED)
_NEXT = Query(
    _ORDERED.where(
        or_(
            _k.created_at < _AT,
            and_(_k.created_at == _AT, _k.id < param("after_id", _k.id)),
        )
    )
)
_REVOKE = Query(
    update(api_keys)
    .where(_k.id == _ID, _k.revoked_at.is_(None))
    .values(revoked_at=param("at", _k.revoked_at))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKeyStores(AuditStores):
    """The stores of this package and of those below."""

    issued_keys: IssuedKeyStore
