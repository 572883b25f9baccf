"""Ids chosen by callers that contain an identifier, such as an agent called `ann-helper`.

A deleted row leaves references behind; those with such an id are removed or get the stand-in. A row
that stays keeps its id, because other clients know it by that id; the report counts them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, delete, or_, select, update

from recollect.domain import jsontext
from recollect.domain.agents import AgentId, Owner
from recollect.domain.erasure import exchanged
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_links import AGENTS, MEMORY_IN_PLACES, NEEDLES, link_params
from recollect.stores.erasure_needles import holds_any, needles_of
from recollect.stores.memory_tables import (
    memories,
    memory_links,
    memory_removals,
    memory_sources,
    rollbacks,
)
from recollect.stores.people_tables import (
    agents,
    person_aliases,
    person_merges,
    person_relationships,
    runs,
)
from recollect.stores.statements import Statement, param
from recollect.stores.tables import events


def named_among(ids: Iterable[str], cleaning: Cleaning) -> list[str]:
    """The ids that contain an identifier of the target."""
    return [id_ for id_ in ids if cleaning.full.are_in(id_)]


def forget_memories(tx: Tx, memory_ids: Sequence[str], cleaning: Cleaning) -> None:
    """Remove references to deleted memories whose id contains an identifier."""
    _run(tx, _OF_MEMORIES, named_among(memory_ids, cleaning), cleaning)


def forget_agents(tx: Tx, agent_ids: Sequence[str], cleaning: Cleaning) -> None:
    """Replace ids of deleted agents in events, also where an agent is the actor."""
    named = named_among(agent_ids, cleaning)
    spelled = [Owner.agent(AgentId(id_)).spelling for id_ in named]
    _run(tx, _OF_AGENTS, [*named, *spelled], cleaning)


def forget_runs(tx: Tx, run_ids: Sequence[str], cleaning: Cleaning) -> None:
    """Replace ids of deleted runs in events."""
    _run(tx, _OF_RUNS, named_among(run_ids, cleaning), cleaning)


def exchange_in_logs(tx: Tx, ids: Iterable[str], stand_in: str) -> None:
    """Replace ids in the JSON logs of merges and rollbacks. The undo of a
    rollback skips a row whose id was replaced."""
    known = dict.fromkeys(ids, stand_in)
    for find, put in _LOGS if known else ():
        for id_, text in tx.fetch(find, {"needles": needles_of(known)}):
            fresh = exchanged(jsontext.load(text), known)
            tx.run(put, {"id": id_, "text": jsontext.dump(fresh)})


def forget_chats(tx: Tx, cleaning: Cleaning) -> None:
    """Replace references to deleted chats whose id contains an identifier."""
    _run(tx, _OF_CHATS, named_among(cleaning.target.gone_chats, cleaning), cleaning)


def chosen_ids(tx: Tx, cleaning: Cleaning) -> Mapping[str, int]:
    """How many ids of linked rows that stay contain an identifier, by kind."""
    target = cleaning.target
    params = link_params(target) | {"ids": jsontext.dump(list(target.memories))}
    found = {
        "agents": {*target.agents, *(row[0] for row in tx.fetch(_MADE_AGENTS, params))},
        "chats": set(target.chats),
        "memories": set[str](),
        "runs": {row[0] for row in tx.fetch(_LINKED_RUNS, params)},
    }
    for row in tx.fetch(_LINKED_MEMORIES, params):
        for kind, id_ in zip(_KINDS, row, strict=True):
            found[kind] |= {id_} - {None}
    counts = {kind: len(named_among(ids, cleaning)) for kind, ids in found.items()}
    return {kind: count for kind, count in counts.items() if count}


def _run(tx: Tx, statements: Sequence[Statement], ids: Sequence[str], cleaning: Cleaning) -> None:
    params = {"ids": jsontext.dump(list(ids)), "stand_in": cleaning.target.stand_in}
    for statement in statements if ids else ():
        tx.run(statement, params)
    exchange_in_logs(tx, ids, cleaning.target.stand_in)


def _exchange(column: Column[Any]) -> Statement:
    fresh = {column.name: param("stand_in", column)}
    return Statement(update(column.table).where(AmongTexts(column, _IDS)).values(fresh))


def _log(column: Column[Any]) -> tuple[Statement, Statement]:
    id_ = column.table.c.id
    find = select(id_, column).where(holds_any(column, NEEDLES))
    put = update(column.table).where(id_ == param("id", id_))
    return Statement(find), Statement(put.values({column.name: param("text", column)}))


_IDS = param("ids")
_LOGS = (_log(person_merges.c.moved), _log(rollbacks.c.source), _log(rollbacks.c.changes))
# What may still refer to a deleted memory: events, successors, links, removal notes, sources.
_OF_MEMORIES = (
    _exchange(events.c.memory_id),
    _exchange(memories.c.superseded_by),
    Statement(
        delete(memory_links).where(
            or_(AmongTexts(memory_links.c.from_id, _IDS), AmongTexts(memory_links.c.to_id, _IDS))
        )
    ),
    Statement(delete(memory_removals).where(AmongTexts(memory_removals.c.memory_id, _IDS))),
    Statement(delete(memory_sources).where(AmongTexts(memory_sources.c.source_id, _IDS))),
)
_OF_AGENTS = tuple(map(_exchange, (events.c.agent_id, events.c.space_id, events.c.actor_user_id)))
_OF_RUNS = tuple(map(_exchange, (events.c.run_id, events.c.space_id)))
# The stand-in is a chat without participants: memories and claims that were learned in the deleted
# chat stay hidden from everybody who was not in it. NULL would make them visible.
_OF_CHATS = tuple(
    map(
        _exchange,
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
_KINDS = ("memories", "agents", "agents", "chats", "runs", "runs")
_CHOSEN = (_m.id, _m.agent_id, _m.source_agent, _m.learned_in, _m.run_id, _m.parent_run_id)
_LINKED_MEMORIES = Statement(select(*_CHOSEN).where(or_(AmongTexts(_m.id, _IDS), MEMORY_IN_PLACES)))
_LINKED_RUNS = Statement(select(runs.c.id).where(AmongTexts(runs.c.agent_id, AGENTS)))
# Agents that the target created: their author is the stand-in by the time this is counted.
_MADE_AGENTS = Statement(
    select(_s.id).where(_s.created_by_id == param("stand_in", _s.created_by_id))
)
