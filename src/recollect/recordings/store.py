"""SQL for the locations of recordings, for nodes that share a database."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Table, delete, select, update

from recollect.db.columns import metadata, text, timestamp
from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, param
from recollect.db.transaction import Tx
from recollect.kernel.strict_json import dump

recording_locations = Table(
    "recording_locations", metadata, text("key"), text("value"), timestamp("expires_at")
)
_l = recording_locations.c


class SqlLocations:
    """Implements `LocationStore` on both engines."""

    def claim(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        # Expired rows have to go first: they would make the insert fail. All of them, not just
        # this key's: nobody else removes the rows of dead nodes.
        tx.run(_DROP_DUE, {"now": now})
        return (
            tx.fetch_first(_INSERT, {"key": key, "value": value, "expires_at": until}) is not None
        )

    def renew(self, tx: Tx, key: str, value: str, *, now: datetime, until: datetime) -> bool:
        params = {"key": key, "value": value, "now": now, "until": until}
        return tx.fetch_first(_RENEW, params) is not None

    def find(self, tx: Tx, keys: Sequence[str], *, now: datetime) -> dict[str, str]:
        return dict(tx.fetch(_FIND, {"keys": dump(list(keys)), "now": now}))

    def remove(self, tx: Tx, key: str, value: str) -> None:
        tx.run(_REMOVE, {"key": key, "value": value})


_NOW = param("now", _l.expires_at)
_SAME = (_l.key == param("key", _l.key), _l.value == param("value", _l.value))
_DROP_DUE = Query(delete(recording_locations).where(_l.expires_at <= _NOW))
_INSERT = Query(
    insert_if_absent(recording_locations, "key")
    .values({column.name: param(column.name, column) for column in _l})
    .returning(_l.key)
)
# An expired row can't be renewed: another node may be about to claim the key.
_RENEW = Query(
    update(recording_locations)
    .where(*_SAME, _l.expires_at > _NOW)
    .values(expires_at=param("until", _l.expires_at))
    .returning(_l.key)
)
_FIND = Query(
    select(_l.key, _l.value).where(InTextList(_l.key, param("keys")), _l.expires_at > _NOW)
)
_REMOVE = Query(delete(recording_locations).where(*_SAME))
