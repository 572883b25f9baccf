"""What the server writes down of its own work: events, jobs, kept answers."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, delete, or_, select, update

from recollect.domain import jsontext
from recollect.domain.agents import Owner, OwnerKind
from recollect.domain.conversations import strings_in
from recollect.domain.erasure import exchanged
from recollect.domain.spaces import SpaceKind
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_links import NEEDLES, USERS, link_params
from recollect.stores.erasure_needles import holds_any, needles_of
from recollect.stores.idempotency import answer_id
from recollect.stores.memory_tables import idempotency_answers, idempotency_mentions
from recollect.stores.rows import Sealed
from recollect.stores.statements import Statement, param, word
from recollect.stores.tables import events, tasks

ERASE_JOB = "erase"
_v, _t, _i, _n = events.c, tasks.c, idempotency_answers.c, idempotency_mentions.c


class ErasedRecords:
    """The part of the store of erasures that deals with records."""

    def __init__(self, cipher: Cipher) -> None:
        self._answer = Sealed(cipher, _i.answer)

    def clean_records(self, tx: Tx, cleaning: Cleaning) -> None:
        """Events get the stand-in; jobs and answers that tell of them go."""
        params = link_params(cleaning.target)
        for statement in _EVENTS:
            tx.run(statement, params)
        for id_, told, reason in tx.fetch(_TOLD, params):
            tx.run(_RETELL, {"id": id_} | _retold(told, reason, cleaning))
        for id_ in self._jobs(tx, cleaning):
            tx.run(_DROP_JOB, {"id": id_})
        for named in self._answers(tx, cleaning):
            tx.run(_DROP_ANSWER, named)
            tx.run(_DROP_MENTIONS, named)

    def dirty_records(self, tx: Tx, cleaning: Cleaning) -> dict[str, int]:
        """How many jobs and answers tell of them."""
        return {
            "tasks": len(self._jobs(tx, cleaning)),
            "idempotency_answers": len(self._answers(tx, cleaning)),
        }

    def _jobs(self, tx: Tx, cleaning: Cleaning) -> list[str]:
        target = cleaning.target
        needles = needles_of((*target.person_ids, *target.identifiers))
        rows = tx.fetch(_JOBS, {"needles": needles})
        return [
            id_
            for id_, name, body, error in rows
            if _tells([name, error, *strings_in(jsontext.load(body))], cleaning)
        ]

    def _answers(self, tx: Tx, cleaning: Cleaning) -> list[dict[str, Any]]:
        """Theirs, and those of others that tell of them."""
        users = frozenset(cleaning.target.user_ids)
        found = []
        for kind, id_, key, sealed in tx.fetch(_ANSWERS, {}):
            theirs = kind == OwnerKind.USER and id_ in users
            text = self._answer.open(sealed, answer_id(Owner(OwnerKind(kind), id_), key))
            if theirs or _tells([text], cleaning):
                found.append({"requester_kind": kind, "requester_id": id_, "key": key})
        return found


def _tells(texts: Sequence[str | None], cleaning: Cleaning) -> bool:
    people = cleaning.target.person_ids
    given = [text for text in texts if text]
    return any(id_ in text for text in given for id_ in people) or cleaning.rare.are_in(given)


def _retold(told: str, reason: str | None, cleaning: Cleaning) -> dict[str, Any]:
    target = cleaning.target
    ids = dict.fromkeys((*target.person_ids, *target.user_ids), target.stand_in)
    fresh = jsontext.dump(exchanged(jsontext.load(told), ids))
    return {"params": fresh, "justification": reason and cleaning.full.replaced(reason)}


def _exchange(column: Any, *more: Any) -> Statement:
    theirs = and_(AmongTexts(column, USERS), *more)
    return Statement(update(events).where(theirs).values({column.name: param("stand_in", column)}))


_EVENTS = (
    _exchange(_v.actor_user_id),
    _exchange(_v.target_user_id),
    _exchange(_v.space_id, _v.space_kind == word(SpaceKind.USER)),
)
_SELF = param("stand_in", _v.actor_user_id)
_TOLD = Statement(
    select(_v.id, _v.params, _v.justification).where(
        or_(
            holds_any(_v.params, NEEDLES),
            and_(
                _v.justification.is_not(None),
                or_(_v.actor_user_id == _SELF, _v.target_user_id == _SELF),
            ),
        )
    )
)
_RETELL = Statement(
    update(events)
    .where(_v.id == param("id", _v.id))
    .values(
        params=param("params", _v.params), justification=param("justification", _v.justification)
    )
)
_JOBS = Statement(
    select(_t.id, _t.task_name, _t.task_body, _t.last_error).where(
        _t.task_type != word(ERASE_JOB),
        or_(
            holds_any(_t.task_name, NEEDLES),
            holds_any(_t.task_body, NEEDLES),
            holds_any(_t.last_error, NEEDLES),
        ),
    )
)
_DROP_JOB = Statement(delete(tasks).where(_t.id == param("id", _t.id)))
_ANSWERS = Statement(select(_i.requester_kind, _i.requester_id, _i.key, _i.answer))
_NAMED = ("requester_kind", "requester_id", "key")
_DROP_ANSWER, _DROP_MENTIONS = (
    Statement(
        delete(table).where(*(table.c[name] == param(name, table.c[name]) for name in _NAMED))
    )
    for table in (idempotency_answers, idempotency_mentions)
)
