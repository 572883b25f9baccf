"""Audit events, jobs and answers kept for idempotency, in an erasure.

Events are not deleted: the target's ids in them are replaced by the stand-in, a random id, and
their texts are redacted. Jobs and answers are deleted.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Text, and_, delete, literal_column, or_, select, update

from recollect.conversations.model import collect_strings
from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList, InUuidList
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.conversations import events, tasks
from recollect.db.tables.memories import (
    idempotency_answers,
    idempotency_mentions,
    memories,
)
from recollect.db.tables.people import agents, runs
from recollect.db.transaction import Tx
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.redact_event import mentions_target, redact_event
from recollect.erasure.store.custom_ids import (
    remove_agent_references,
    remove_memory_references,
    remove_run_references,
)
from recollect.erasure.store.links_sql import (
    GONE,
    NEEDLES,
    PLACES,
    USERS,
    link_params,
)
from recollect.erasure.store.needles_sql import contains, contains_any
from recollect.idempotency.store import answer_id
from recollect.kernel import strict_json
from recollect.kernel.owner import Owner, OwnerKind
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import SpaceKind

ERASE_JOB = "erase"
_v, _t, _i, _n = events.c, tasks.c, idempotency_answers.c, idempotency_mentions.c


class AuditErasureStore:
    """Audit events, jobs, answers kept for idempotency."""

    def __init__(self, cipher: Cipher) -> None:
        self._answer = EncryptedColumn(cipher, _i.answer)

    def redact_records(self, tx: Tx, plan: RedactionPlan) -> None:
        """Redact everything in one transaction.

        The order matters. First the id columns get the stand-in. From then on events of the target
        are found by it (`_LINKED`), also by a later verification, which no longer knows the ids.
        Then payloads that contain an id of the target, then texts of linked events. Dangling ids
        come last, because they are searched among linked events.
        """
        params = link_params(plan.target)
        for statement in _REPLACE_USERS:
            tx.run(statement, params)
        _update_events(tx, tx.fetch(_EVENTS_WITH_NEEDLE, params), plan.for_unlinked_rows())
        _update_events(tx, self._events_to_redact(tx, plan), plan)
        _redact_dangling_ids(tx, _find_dangling_ids(tx, plan), plan)
        for id_ in self._jobs_to_delete(tx, plan):
            tx.run(_DROP_JOB, {"id": id_})
        for named in self._answers_to_delete(tx, plan):
            tx.run(_DROP_ANSWER, named)
            tx.run(_DROP_MENTIONS, named)

    def count_unredacted(self, tx: Tx, plan: RedactionPlan) -> dict[str, int]:
        """How many events, jobs and answers still mention the target."""
        lost = sum(map(len, _find_dangling_ids(tx, plan).values()))
        return {
            "audit_events": len(self._events_to_redact(tx, plan)) + lost,
            "tasks": len(self._jobs_to_delete(tx, plan)),
            "idempotency_answers": len(self._answers_to_delete(tx, plan)),
        }

    def _events_to_redact(self, tx: Tx, plan: RedactionPlan) -> list[Row]:
        """Linked events (by chat, tree, actor or target) whose texts a redaction would change."""
        rows = tx.fetch(_LINKED_EVENTS, _event_params(plan))
        return [
            row for row in rows if redact_event(row[1], row[2], row[3], plan) != (row[1], row[2])
        ]

    def _jobs_to_delete(self, tx: Tx, plan: RedactionPlan) -> list[str]:
        """Ids of jobs that mention the target, except erase jobs."""
        return [
            id_
            for id_, name, body, error in tx.fetch(_JOBS, {})
            if mentions_target([name, error, *collect_strings(strict_json.load(body))], plan)
        ]

    def _answers_to_delete(self, tx: Tx, plan: RedactionPlan) -> list[dict[str, Any]]:
        """Keys of answers to the target, and of answers to others that mention them."""
        users = frozenset(plan.target.user_ids)
        found = []
        for kind, id_, key, sealed in tx.fetch(_ANSWERS, {}):
            of_target = kind == OwnerKind.USER and id_ in users
            text = self._answer.open(sealed, answer_id(Owner(OwnerKind(kind), id_), key))
            if of_target or mentions_target([text, key], plan):
                found.append({"requester_kind": kind, "requester_id": id_, "key": key})
        return found


def redact_memory_events(tx: Tx, memory_ids: Sequence[str], plan: RedactionPlan) -> None:
    """Redact events of memories that are about to be deleted. Events contain the memory's key;
    afterwards nothing says whom the memory was about."""
    rows = tx.fetch(_EVENTS_BY_ID["memory_id"], {"ids": strict_json.dump(list(memory_ids))})
    _update_events(tx, rows, plan, plan.filter_matching_ids(memory_ids))


def _event_params(plan: RedactionPlan) -> dict[str, Any]:
    target = plan.target
    trees = strict_json.dump([*target.trees, *target.gone_trees])
    return link_params(target) | {"trees": trees}


def _find_dangling_ids(tx: Tx, plan: RedactionPlan) -> dict[str, list[str]]:
    """By column: ids in linked events that contain an identifier and whose row no longer exists.

    A row that exists keeps its id, in events too, and so does one that other rows still refer to.
    """
    found: dict[str, list[str]] = {}
    for name, ids_of_events in _LINKED_EVENT_IDS.items():
        # `where` is (actor, space): names that a namesake shares stay in events of their chats.
        rows = tx.fetch(ids_of_events, _event_params(plan))
        named = (id_ for id_, *where in rows if plan.matcher_for_user(*where).has_match(id_))
        ids = list(dict.fromkeys(named))
        listed = {"ids": strict_json.dump(ids)}
        owned = {row[0] for one in _OWNER_QUERIES[name] if ids for row in tx.fetch(one, listed)}
        found[name] = [id_ for id_ in ids if id_ not in owned]
    return found


def _redact_dangling_ids(tx: Tx, lost: dict[str, list[str]], plan: RedactionPlan) -> None:
    for name, ids in lost.items():
        rows = tx.fetch(_EVENTS_BY_ID[name], {"ids": strict_json.dump(ids)}) if ids else ()
        _update_events(tx, rows, plan, ids)
    remove_memory_references(tx, lost["memory_id"], plan)
    remove_agent_references(tx, lost["agent_id"], plan)
    remove_run_references(tx, lost["run_id"], plan)


def _update_events(
    tx: Tx, rows: Sequence[Row], plan: RedactionPlan, gone: Sequence[str] = ()
) -> None:
    for row in rows:
        payload, reason = redact_event(row[1], row[2], row[3], plan, gone)
        tx.run(_UPDATE_EVENT, {"id": row[0], "params": payload, "justification": reason})


def _replace_user_query(column: Any, *more: Any) -> Query:
    of_target = and_(InTextList(column, USERS), *more)
    return Query(update(events).where(of_target).values({column.name: param("stand_in", column)}))


def _existing_ids_query(column: Column[Any]) -> Query:
    return Query(select(column).where(InTextList(column, param("ids"))).distinct())


_REPLACE_USERS = (
    _replace_user_query(_v.actor_user_id),
    _replace_user_query(_v.target_user_id),
    _replace_user_query(_v.space_id, _v.space_kind == literal_word(SpaceKind.USER)),
)
_STAND_IN = param("stand_in", _v.actor_user_id)
_EVENT_COLUMNS = (_v.id, _v.params, _v.justification, _v.space_id)
_m = memories.c
# Queries for ids that still exist: as a row, or as a reference in memories that outlived the row.
_OWNER_QUERIES = {
    "memory_id": [_existing_ids_query(_m.id)],
    "agent_id": [_existing_ids_query(one) for one in (agents.c.id, _m.agent_id, _m.source_agent)],
    "run_id": [_existing_ids_query(one) for one in (runs.c.id, _m.run_id, _m.parent_run_id)],
}
_EVENTS_BY_ID = {
    name: Query(select(*_EVENT_COLUMNS).where(InTextList(_v[name], param("ids"))))
    for name in _OWNER_QUERIES
}
_LINKED = or_(
    and_(
        _v.space_kind == literal_word(SpaceKind.CHAT),
        or_(InTextList(_v.space_id, PLACES), InTextList(_v.space_id, GONE)),
    ),
    InUuidList(_v.conversation_id, param("trees")),
    _v.actor_user_id == _STAND_IN,
    _v.target_user_id == _STAND_IN,
    _v.space_id == _STAND_IN,
)
_LINKED_EVENT_IDS = {
    name: Query(
        select(_v[name], _v.actor_user_id, _v.space_id)
        .where(_LINKED, _v[name].is_not(None))
        .distinct()
    )
    for name in _OWNER_QUERIES
}
# Only `key` in the payload and the justification are free text of callers.
_KEY = literal_column("""'"key"'""", Text)
_LINKED_EVENTS = Query(
    select(*_EVENT_COLUMNS).where(
        or_(_v.justification.is_not(None), contains(_v.params, _KEY)), _LINKED
    )
)
_EVENTS_WITH_NEEDLE = Query(select(*_EVENT_COLUMNS).where(contains_any(_v.params, NEEDLES)))
_UPDATE_EVENT = Query(
    update(events)
    .where(_v.id == param("id", _v.id))
    .values(
        params=param("params", _v.params), justification=param("justification", _v.justification)
    )
)
# Every job and kept answer is read: bodies are free JSON, and answers may be encrypted.
_JOBS = Query(
    select(_t.id, _t.task_name, _t.task_body, _t.last_error).where(
        _t.task_type != literal_word(ERASE_JOB)
    )
)
_DROP_JOB = Query(delete(tasks).where(_t.id == param("id", _t.id)))
_ANSWERS = Query(select(_i.requester_kind, _i.requester_id, _i.key, _i.answer))
_ANSWER_KEY = ("requester_kind", "requester_id", "key")
_DROP_ANSWER, _DROP_MENTIONS = (
    Query(
        delete(table).where(*(table.c[name] == param(name, table.c[name]) for name in _ANSWER_KEY))
    )
    for table in (idempotency_answers, idempotency_mentions)
)
