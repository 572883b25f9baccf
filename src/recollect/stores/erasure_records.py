"""Audit events, jobs and answers kept for idempotency, in an erasure.

Events stay: their ids become the stand-in, their texts are redacted. Jobs and answers are deleted.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Text, and_, delete, literal_column, or_, select, update

from recollect.domain import jsontext
from recollect.domain.agents import Owner, OwnerKind
from recollect.domain.conversations import strings_in
from recollect.domain.erasure import exchanged
from recollect.domain.spaces import SpaceKind
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.ports.runtime import Cipher
from recollect.stores.engines.expressions import AmongIds, AmongTexts
from recollect.stores.erasure_ids import (
    forget_agents,
    forget_memories,
    forget_runs,
    named_among,
)
from recollect.stores.erasure_links import GONE, NEEDLES, PLACES, USERS, link_params
from recollect.stores.erasure_needles import contains, holds_any
from recollect.stores.idempotency import answer_id
from recollect.stores.memory_tables import (
    idempotency_answers,
    idempotency_mentions,
    memories,
)
from recollect.stores.people_tables import agents, runs
from recollect.stores.rows import Sealed
from recollect.stores.statements import Row, Statement, param, word
from recollect.stores.tables import events, tasks

ERASE_JOB = "erase"
_v, _t, _i, _n = events.c, tasks.c, idempotency_answers.c, idempotency_mentions.c


class ErasedRecords:
    """The port's AuditErasureStore, with the counts that verification needs."""

    def __init__(self, cipher: Cipher) -> None:
        self._answer = Sealed(cipher, _i.answer)

    def clean_records(self, tx: Tx, cleaning: Cleaning) -> None:
        """Redact everything in one transaction.

        The order matters. First the id columns get the stand-in. From then on events of the target
        are found by it (`_LINKED`), also by a later verification, which no longer knows the ids.
        Then payloads that contain an id of the target, then texts of linked events. Dangling ids
        come last, because they are searched among linked events.
        """
        params = link_params(cleaning.target)
        for statement in _EVENTS:
            tx.run(statement, params)
        _retell(tx, tx.fetch(_TOLD, params), cleaning.elsewhere())
        _retell(tx, self._events(tx, cleaning), cleaning)
        _forget(tx, _lost(tx, cleaning), cleaning)
        for id_ in self._jobs(tx, cleaning):
            tx.run(_DROP_JOB, {"id": id_})
        for named in self._answers(tx, cleaning):
            tx.run(_DROP_ANSWER, named)
            tx.run(_DROP_MENTIONS, named)

    def dirty_records(self, tx: Tx, cleaning: Cleaning) -> dict[str, int]:
        """How many events, jobs and answers still mention the target."""
        lost = sum(map(len, _lost(tx, cleaning).values()))
        return {
            "audit_events": len(self._events(tx, cleaning)) + lost,
            "tasks": len(self._jobs(tx, cleaning)),
            "idempotency_answers": len(self._answers(tx, cleaning)),
        }

    def _events(self, tx: Tx, cleaning: Cleaning) -> list[Row]:
        """Linked events (by chat, tree, actor or target) whose texts a redaction would change."""
        rows = tx.fetch(_IN_PLACES, _event_params(cleaning))
        return [row for row in rows if _retold(row, cleaning) != (row[1], row[2])]

    def _jobs(self, tx: Tx, cleaning: Cleaning) -> list[str]:
        """Ids of jobs that mention the target, except erase jobs."""
        return [
            id_
            for id_, name, body, error in tx.fetch(_JOBS, {})
            if _tells([name, error, *strings_in(jsontext.load(body))], cleaning)
        ]

    def _answers(self, tx: Tx, cleaning: Cleaning) -> list[dict[str, Any]]:
        """Keys of answers to the target, and of answers to others that mention them."""
        users = frozenset(cleaning.target.user_ids)
        found = []
        for kind, id_, key, sealed in tx.fetch(_ANSWERS, {}):
            theirs = kind == OwnerKind.USER and id_ in users
            text = self._answer.open(sealed, answer_id(Owner(OwnerKind(kind), id_), key))
            if theirs or _tells([text, key], cleaning):
                found.append({"requester_kind": kind, "requester_id": id_, "key": key})
        return found


def _tells(texts: Sequence[str | None], cleaning: Cleaning) -> bool:
    """These rows are linked to no chat, so names that others share don't count here."""
    target = cleaning.target
    given = [text for text in texts if text]
    named = any(id_ in text for text in given for id_ in target.person_ids)
    return named or not set(given).isdisjoint(target.user_ids) or cleaning.rare.are_in(given)


def clean_events_of(tx: Tx, memory_ids: Sequence[str], cleaning: Cleaning) -> None:
    """Redact events of memories that are about to be deleted. Events contain the memory's key;
    afterwards nothing says whom the memory was about."""
    rows = tx.fetch(_NAMING["memory_id"], {"ids": jsontext.dump(list(memory_ids))})
    _retell(tx, rows, cleaning, named_among(memory_ids, cleaning))


def _event_params(cleaning: Cleaning) -> dict[str, Any]:
    target = cleaning.target
    trees = jsontext.dump([*target.trees, *target.gone_trees])
    return link_params(target) | {"trees": trees}


def _lost(tx: Tx, cleaning: Cleaning) -> dict[str, list[str]]:
    """By column: ids in linked events that contain an identifier and whose row no longer exists.

    A row that exists keeps its id, in events too, and so does one that other rows still refer to.
    """
    found: dict[str, list[str]] = {}
    for name, told in _TOLD_IDS.items():
        # `where` is (actor, space): names that a namesake shares stay in events of their chats.
        rows = tx.fetch(told, _event_params(cleaning))
        named = (id_ for id_, *where in rows if cleaning.of_user(*where).are_in(id_))
        ids = list(dict.fromkeys(named))
        listed = {"ids": jsontext.dump(ids)}
        held = {row[0] for one in _HOMES[name] if ids for row in tx.fetch(one, listed)}
        found[name] = [id_ for id_ in ids if id_ not in held]
    return found


def _forget(tx: Tx, lost: dict[str, list[str]], cleaning: Cleaning) -> None:
    for name, ids in lost.items():
        rows = tx.fetch(_NAMING[name], {"ids": jsontext.dump(ids)}) if ids else ()
        _retell(tx, rows, cleaning, ids)
    forget_memories(tx, lost["memory_id"], cleaning)
    forget_agents(tx, lost["agent_id"], cleaning)
    forget_runs(tx, lost["run_id"], cleaning)


def _retell(tx: Tx, rows: Sequence[Row], cleaning: Cleaning, gone: Sequence[str] = ()) -> None:
    for row in rows:
        told, reason = _retold(row, cleaning, gone)
        tx.run(_RETELL, {"id": row[0], "params": told, "justification": reason})


def _retold(row: Row, cleaning: Cleaning, gone: Sequence[str] = ()) -> tuple[str, str | None]:
    """The redacted payload and justification of an event.

    Ids are replaced wherever they are a whole value. Of the payload only `key` is free text of a
    caller; other fields are our own words, in which a name would match by chance.
    """
    _, told, reason, space_id = row
    target, traces = cleaning.target, cleaning.of_chat(space_id)
    lost = (*gone, *named_among(target.gone_chats, cleaning))
    ids = dict.fromkeys((*target.person_ids, *target.user_ids, *lost), target.stand_in)
    before = jsontext.load(told)
    after = exchanged(before, ids)
    if isinstance(after.get("key"), str):
        after = after | {"key": traces.replaced(after["key"])}
    fresh = told if after == before else jsontext.dump(after)
    return fresh, reason and traces.replaced(reason)


def _exchange(column: Any, *more: Any) -> Statement:
    theirs = and_(AmongTexts(column, USERS), *more)
    return Statement(update(events).where(theirs).values({column.name: param("stand_in", column)}))


def _among(column: Column[Any]) -> Statement:
    return Statement(select(column).where(AmongTexts(column, param("ids"))).distinct())


_EVENTS = (
    _exchange(_v.actor_user_id),
    _exchange(_v.target_user_id),
    _exchange(_v.space_id, _v.space_kind == word(SpaceKind.USER)),
)
_SELF = param("stand_in", _v.actor_user_id)
_EVENT = (_v.id, _v.params, _v.justification, _v.space_id)
_m = memories.c
# Queries for ids that still exist: as a row, or as a reference in memories that outlived the row.
_HOMES = {
    "memory_id": [_among(_m.id)],
    "agent_id": [_among(one) for one in (agents.c.id, _m.agent_id, _m.source_agent)],
    "run_id": [_among(one) for one in (runs.c.id, _m.run_id, _m.parent_run_id)],
}
_NAMING = {
    name: Statement(select(*_EVENT).where(AmongTexts(_v[name], param("ids")))) for name in _HOMES
}
_LINKED = or_(
    and_(
        _v.space_kind == word(SpaceKind.CHAT),
        or_(AmongTexts(_v.space_id, PLACES), AmongTexts(_v.space_id, GONE)),
    ),
    AmongIds(_v.conversation_id, param("trees")),
    _v.actor_user_id == _SELF,
    _v.target_user_id == _SELF,
    _v.space_id == _SELF,
)
_TOLD_IDS = {
    name: Statement(
        select(_v[name], _v.actor_user_id, _v.space_id)
        .where(_LINKED, _v[name].is_not(None))
        .distinct()
    )
    for name in _HOMES
}
# Only `key` in the payload and the justification are free text of callers.
_KEY = literal_column("""'"key"'""", Text)
_IN_PLACES = Statement(
    select(*_EVENT).where(or_(_v.justification.is_not(None), contains(_v.params, _KEY)), _LINKED)
)
_TOLD = Statement(select(*_EVENT).where(holds_any(_v.params, NEEDLES)))
_RETELL = Statement(
    update(events)
    .where(_v.id == param("id", _v.id))
    .values(
        params=param("params", _v.params), justification=param("justification", _v.justification)
    )
)
# Every job and kept answer is read: bodies are free JSON, and answers may be encrypted.
_JOBS = Statement(
    select(_t.id, _t.task_name, _t.task_body, _t.last_error).where(_t.task_type != word(ERASE_JOB))
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
