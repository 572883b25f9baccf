"""Claims of idempotency keys and the recorded answers, which are encrypted like memories."""

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import delete, insert, null, select, tuple_, update

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList, JsonTextRows, insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import idempotency_answers, idempotency_mentions
from recollect.db.transaction import Tx
from recollect.idempotency.ports import QUOTING_KEYS, IdempotencyClaim
from recollect.kernel import strict_json
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.runtime import Cipher

_i = idempotency_answers.c
_n = idempotency_mentions.c
_COLUMNS = tuple(idempotency_answers.columns)


class SqlIdempotency:
    """Implements `IdempotencyStore` on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._answer = EncryptedColumn(cipher, _i.answer)

    def insert(self, tx: Tx, claim: IdempotencyClaim) -> bool:
        return tx.fetch_first(_INSERT, self._to_params(claim)) is not None

    def fetch(self, tx: Tx, who: Owner, key: str) -> IdempotencyClaim | None:
        named = {"requester_kind": who.kind, "requester_id": who.id, "key": key}
        tx.lock(_LOCK, named)
        row = tx.fetch_first(_FETCH, named)
        return self._from_row(row) if row else None

    def update(self, tx: Tx, claim: IdempotencyClaim) -> None:
        params = self._to_params(claim)
        tx.run(_UPDATE, params)
        tx.run(_DELETE_MENTIONS, params)
        if claim.mentions:
            tx.run(_INSERT_MENTIONS, {**params, "ids": strict_json.dump(sorted(claim.mentions))})

    def renew(self, tx: Tx, claim: IdempotencyClaim, at: datetime) -> bool:
        return tx.run_and_count(_RENEW, {**self._to_params(claim), "at": at}) == 1

    def release_open(self, tx: Tx, at: datetime) -> None:
        tx.run(_RELEASE_OPEN, {"at": at})

    def delete(self, tx: Tx, claim: IdempotencyClaim) -> None:
        tx.run(_DELETE, self._to_params(claim))

    def delete_before(self, tx: Tx, cutoff: datetime, *, limit: int) -> int:
        rows = tx.fetch(_SELECT_OLD, {"cutoff": cutoff, "limit": limit})
        # The delete checks the cutoff again: a new request may have taken the key over since.
        for kind, id_, key in rows:
            params = {"requester_kind": kind, "requester_id": id_, "key": key, "cutoff": cutoff}
            tx.run(_DELETE_OLD, params)
            tx.run(_DELETE_MENTIONS, params)
        return len(rows)

    def blank_quoting_answers(self, tx: Tx, conversation_ids: Sequence[str]) -> None:
        for *who, key in tx.fetch(_MENTIONING, {"ids": strict_json.dump(list(conversation_ids))}):
            if key.startswith(QUOTING_KEYS):
                tx.run(_BLANK_ONE, dict(zip(_KEY_COLUMNS, (*who, key), strict=True)))

    def blank_answers(self, tx: Tx, mentioned_ids: Sequence[str]) -> None:
        blank_answers(tx, mentioned_ids)

    def _to_params(self, claim: IdempotencyClaim) -> dict[str, Any]:
        answer = strict_json.dump({"id": claim.reserved_id, "body": claim.body})
        return {
            "requester_kind": claim.who.kind,
            "requester_id": claim.who.id,
            "key": claim.key,
            "fingerprint": claim.fingerprint,
            "status": claim.status,
            "answer": self._answer.seal(answer, answer_id(claim.who, claim.key)),
            "claimed_at": claim.claimed_at,
        }

    def _from_row(self, row: Row) -> IdempotencyClaim:
        who = Owner(OwnerKind(row[0]), row[1])
        opened = self._answer.open_to_show(row[5], answer_id(who, row[2]))
        answer = strict_json.load(opened.text or "{}")
        return IdempotencyClaim(
            who=who,
            key=row[2],
            fingerprint=row[3],
            claimed_at=row[6],
            reserved_id=answer.get("id", ""),
            status=row[4],
            body=answer.get("body"),
            unreadable=opened.unreadable,
        )


def blank_answers(tx: Tx, mentioned_ids: Sequence[str]) -> None:
    """Remove the recorded answers that mention one of these ids: they hold copies of it."""
    params = {"ids": strict_json.dump(list(mentioned_ids))}
    # Answers are found by their mentions, so they are blanked first.
    tx.run(_BLANK, params)
    tx.run(_FORGET_MENTIONS, params)


def answer_id(who: Owner, key: str) -> str:
    """The row id that the encrypted answer is bound to: a hash of requester and key.

    They are hashed as a JSON list, so that no two different pairs give the same text.
    """
    return sha256(strict_json.dump([who.kind, who.id, key]).encode()).hexdigest()


_KEY_COLUMNS = ("requester_kind", "requester_id", "key")
_KEY_CLAUSE = tuple(_i[name] == param(name, _i[name]) for name in _KEY_COLUMNS)
_UPDATED_COLUMNS = ("fingerprint", "status", "answer", "claimed_at")
_INSERT = Query(
    insert_if_absent(idempotency_answers, "requester_kind", "requester_id", "key")
    .values({column.name: param(column.name, column) for column in _COLUMNS})
    .returning(_i.key)
)
_FETCH = Query(select(*_COLUMNS).where(*_KEY_CLAUSE))
_LOCK = Query(select(_i.key).where(*_KEY_CLAUSE).with_for_update())
_UPDATE = Query(
    update(idempotency_answers)
    .where(*_KEY_CLAUSE)
    .values({n: param(n, _i[n]) for n in _UPDATED_COLUMNS})
)
_IS_OPEN = _i.status.is_(None)
_SET_TIME = {"claimed_at": param("at", _i.claimed_at)}
_RENEW = Query(
    update(idempotency_answers)
    .where(*_KEY_CLAUSE, _IS_OPEN, _i.claimed_at == param("claimed_at", _i.claimed_at))
    .values(_SET_TIME)
)
_RELEASE_OPEN = Query(
    update(idempotency_answers)
    .where(_i.claimed_at > param("at", _i.claimed_at), _IS_OPEN)
    .values(_SET_TIME)
)
_DELETE = Query(
    delete(idempotency_answers).where(
        *_KEY_CLAUSE, _i.claimed_at == param("claimed_at", _i.claimed_at)
    )
)
_KEY_PARAMS = [param(name, _i[name]) for name in _KEY_COLUMNS]
_MENTION_CLAUSE = tuple(_n[name] == param(name, _n[name]) for name in _KEY_COLUMNS)
_DELETE_MENTIONS = Query(delete(idempotency_mentions).where(*_MENTION_CLAUSE))
_IDS = JsonTextRows(param("ids")).table_valued("value", "place")
_INSERT_MENTIONS = Query(
    insert(idempotency_mentions).from_select(
        ["mentioned_id", *_KEY_COLUMNS], select(_IDS.c.value, *_KEY_PARAMS)
    )
)
_CUTOFF_CLAUSE = _i.claimed_at < param("cutoff", _i.claimed_at)
_SELECT_OLD = Query(
    select(_i.requester_kind, _i.requester_id, _i.key)
    .where(_CUTOFF_CLAUSE)
    .order_by(_i.claimed_at)
    .limit(param("limit"))
)
_DELETE_OLD = Query(delete(idempotency_answers).where(*_KEY_CLAUSE, _CUTOFF_CLAUSE))
_IS_MENTIONED = InTextList(_n.mentioned_id, param("ids"))
_MENTIONING = Query(select(*(_n[name] for name in _KEY_COLUMNS)).where(_IS_MENTIONED))
_BLANK = Query(
    update(idempotency_answers)
    .where(
        tuple_(*(_i[name] for name in _KEY_COLUMNS)).in_(
            select(*(_n[name] for name in _KEY_COLUMNS)).where(_IS_MENTIONED)
        )
    )
    .values(answer=null())
)
_FORGET_MENTIONS = Query(delete(idempotency_mentions).where(_IS_MENTIONED))
_BLANK_ONE = Query(update(idempotency_answers).where(*_KEY_CLAUSE).values(answer=null()))
