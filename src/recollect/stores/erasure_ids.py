"""Ids that callers chose and that name somebody. Of what goes no reference stays; what stays keeps
its id, as others know it by that, and the report tells how many there are."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, delete, or_, select, update

from recollect.domain import jsontext
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_links import AGENTS, MEMORY_IN_PLACES, link_params
from recollect.stores.memory_tables import (
    memories,
    memory_links,
    memory_removals,
    memory_sources,
)
from recollect.stores.people_tables import person_aliases, person_relationships, runs
from recollect.stores.statements import Statement, param
from recollect.stores.tables import events


def named_among(ids: Iterable[str], cleaning: Cleaning) -> list[str]:
    """Which of these ids name them."""
    return [id_ for id_ in ids if cleaning.full.are_in(id_)]


def forget_memories(tx: Tx, memory_ids: Sequence[str], cleaning: Cleaning) -> None:
    """No reference to these, which are gone, by an id that names them."""
    _run(tx, _OF_MEMORIES, named_among(memory_ids, cleaning), cleaning)


def forget_chats(tx: Tx, cleaning: Cleaning) -> None:
    """No reference to chats that go, by an id that names them."""
    _run(tx, _OF_CHATS, named_among(cleaning.target.gone_chats, cleaning), cleaning)


def chosen_ids(tx: Tx, cleaning: Cleaning) -> Mapping[str, int]:
    """How many ids of linked rows that stay name them, by kind."""
    target = cleaning.target
    params = link_params(target) | {"ids": jsontext.dump(list(target.memories))}
    found = {
        "agents": target.agents,
        "chats": target.chats,
        "memories": [row[0] for row in tx.fetch(_LINKED_MEMORIES, params)],
        "runs": [row[0] for row in tx.fetch(_LINKED_RUNS, params)],
    }
    counts = {kind: len(named_among(ids, cleaning)) for kind, ids in found.items()}
    return {kind: count for kind, count in counts.items() if count}


def _run(tx: Tx, statements: Sequence[Statement], ids: Sequence[str], cleaning: Cleaning) -> None:
    params = {"ids": jsontext.dump(list(ids)), "stand_in": cleaning.target.stand_in}
    for statement in statements if ids else ():
        tx.run(statement, params)


def _exchange(column: Column[Any]) -> Statement:
    fresh = {column.name: param("stand_in", column)}
    return Statement(update(column.table).where(AmongTexts(column, _IDS)).values(fresh))


_IDS = param("ids")
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
# A chat that nobody is in: what was learned there stays hidden from those who were not.
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
_LINKED_MEMORIES = Statement(
    select(memories.c.id).where(or_(AmongTexts(memories.c.id, _IDS), MEMORY_IN_PLACES))
)
_LINKED_RUNS = Statement(select(runs.c.id).where(AmongTexts(runs.c.agent_id, AGENTS)))
