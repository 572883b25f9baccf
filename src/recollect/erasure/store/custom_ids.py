"""Ids chosen by callers that contain an identifier, such as an agent called `ann-helper`.

A deleted row leaves references behind; those with such an id are removed, or get the stand-in, a
random id. Rows that are not deleted keep their ids, because other clients know them by these ids;
the report counts them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, delete, or_, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.conversations import events
from recollect.db.tables.memories import (
    memories,
    memory_links,
    memory_removals,
    memory_sources,
    rollbacks,
)
from recollect.db.tables.people import (
    agents,
    person_aliases,
    person_merges,
    person_relationships,
    runs,
)
from recollect.db.transaction import Tx
from recollect.erasure.model import replace_ids
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.store.links_sql import (
    AGENTS,
    MEMORY_IN_CONVERSATIONS,
    NEEDLES,
    link_params,
)
from recollect.erasure.store.needles_sql import contains_any, needle_list
from recollect.kernel import strict_json
from recollect.kernel.ids import AgentId
from recollect.kernel.owner import Owner


def remove_memory_references(tx: Tx, memory_ids: Sequence[str], plan: RedactionPlan) -> None:
    """Remove references to deleted memories whose id contains an identifier."""
    _run_for_ids(tx, _OF_MEMORIES, plan.filter_matching_ids(memory_ids), plan)


def remove_agent_references(tx: Tx, agent_ids: Sequence[str], plan: RedactionPlan) -> None:
    """Replace ids of deleted agents in events, also where an agent is the actor."""
    named = plan.filter_matching_ids(agent_ids)
    spelled = [Owner.agent(AgentId(id_)).spelling for id_ in named]
    _run_for_ids(tx, _OF_AGENTS, [*named, *spelled], plan)


def remove_run_references(tx: Tx, run_ids: Sequence[str], plan: RedactionPlan) -> None:
    """Replace ids of deleted runs in events."""
    _run_for_ids(tx, _OF_RUNS, plan.filter_matching_ids(run_ids), plan)


def replace_ids_in_logs(tx: Tx, ids: Iterable[str], stand_in: str) -> None:
    """Replace ids in the JSON logs of merges and rollbacks. The undo of a
    rollback skips a row whose id was replaced."""
    known = dict.fromkeys(ids, stand_in)
    for find, put in _LOGS if known else ():
        for id_, text in tx.fetch(find, {"needles": needle_list(known)}):
            fresh = replace_ids(strict_json.load(text), known)
            tx.run(put, {"id": id_, "text": strict_json.dump(fresh)})


def remove_chat_references(tx: Tx, plan: RedactionPlan) -> None:
    """Replace references to deleted chats whose id contains an identifier."""
    _run_for_ids(tx, _OF_CHATS, plan.filter_matching_ids(plan.target.gone_chats), plan)


def count_custom_ids(tx: Tx, plan: RedactionPlan) -> Mapping[str, int]:
    """How many ids of linked rows that stay contain an identifier, by kind."""
    target = plan.target
    params = link_params(target) | {"ids": strict_json.dump(list(target.memories))}
    found = {
        "agents": {*target.agents, *(row[0] for row in tx.fetch(_CREATED_AGENTS, params))},
        "chats": set(target.chats),
        "memories": set[str](),
        "runs": {row[0] for row in tx.fetch(_LINKED_RUNS, params)},
    }
    for row in tx.fetch(_LINKED_MEMORIES, params):
        for kind, id_ in zip(_ID_KINDS, row, strict=True):
            found[kind] |= {id_} - {None}
    counts = {kind: len(plan.filter_matching_ids(ids)) for kind, ids in found.items()}
    return {kind: count for kind, count in counts.items() if count}


def _run_for_ids(
    tx: Tx, statements: Sequence[Query], ids: Sequence[str], plan: RedactionPlan
) -> None:
    params = {"ids": strict_json.dump(list(ids)), "stand_in": plan.target.stand_in}
    for statement in statements if ids else ():
        tx.run(statement, params)
    replace_ids_in_logs(tx, ids, plan.target.stand_in)


def _replace_id_query(column: Column[Any]) -> Query:
    fresh = {column.name: param("stand_in", column)}
    return Query(update(column.table).where(InTextList(column, _IDS)).values(fresh))


def _log_queries(column: Column[Any]) -> tuple[Query, Query]:
    id_ = column.table.c.id
    find = select(id_, column).where(contains_any(column, NEEDLES))
    put = update(column.table).where(id_ == param("id", id_))
    return Query(find), Query(put.values({column.name: param("text", column)}))


_IDS = param("ids")
_LOGS = (
    _log_queries(person_merges.c.moved),
    _log_queries(rollbacks.c.source),
    _log_queries(rollbacks.c.changes),
)
# What may still refer to a deleted memory: events, successors, links, removal notes, sources.
_OF_MEMORIES = (
    _replace_id_query(events.c.memory_id),
    _replace_id_query(memories.c.superseded_by),
    Query(
        delete(memory_links).where(
            or_(InTextList(memory_links.c.from_id, _IDS), InTextList(memory_links.c.to_id, _IDS))
        )
    ),
    Query(delete(memory_removals).where(InTextList(memory_removals.c.memory_id, _IDS))),
    Query(delete(memory_sources).where(InTextList(memory_sources.c.source_id, _IDS))),
)
_OF_AGENTS = tuple(
    map(_replace_id_query, (events.c.agent_id, events.c.space_id, events.c.actor_user_id))
)
_OF_RUNS = tuple(map(_replace_id_query, (events.c.run_id, events.c.space_id)))
# The stand-in is a chat without participants: memories and claims that were learned in the deleted
# chat stay hidden from everybody who was not in it. NULL would make them visible.
_OF_CHATS = tuple(
    map(
        _replace_id_query,
        (
            events.c.space_id,
            memories.c.learned_in,
            person_aliases.c.chat_id,
            person_relationships.c.chat_id,
        ),
    )
)
_m, _s = memories.c, agents.c
# The id columns of a linked memory, and what each id names.
_ID_KINDS = ("memories", "agents", "agents", "chats", "runs", "runs")
_ID_COLUMNS = (_m.id, _m.agent_id, _m.source_agent, _m.learned_in, _m.run_id, _m.parent_run_id)
_LINKED_MEMORIES = Query(
    select(*_ID_COLUMNS).where(or_(InTextList(_m.id, _IDS), MEMORY_IN_CONVERSATIONS))
)
_LINKED_RUNS = Query(select(runs.c.id).where(InTextList(runs.c.agent_id, AGENTS)))
# Agents that the target created: their author is the stand-in by the time this is counted.
_CREATED_AGENTS = Query(
    select(_s.id).where(_s.created_by_id == param("stand_in", _s.created_by_id))
)
