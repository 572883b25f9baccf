"""Search over agents: ranks all agents that the caller may list, reading them in batches."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from heapq import nlargest

from recollect.agents.model import Agent, match_rank
from recollect.agents.store_bundle import AgentStores
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.owner import Owner
from recollect.kernel.pages import (
    Page,
    decode_key,
    encode_key,
    unknown_cursor_error,
)

_LIST = "agents by match"
_ROWS_AT_ONCE = 500

# The sort key, descending: better match, newer agent, larger id. It is also the cursor.
_RankKey = tuple[int, datetime, str]


@dataclass(frozen=True, slots=True)
class AgentQuery:
    """The words to search for, the caller, and the owner to filter by."""

    words: tuple[str, ...]
    requester: Requester
    owner: Owner | None


def ranked_page(
    tx: Tx, stores: AgentStores, query: AgentQuery, *, after: str | None, limit: int
) -> Page[Agent]:
    """The best matches after the cursor. Agents without a match are left out."""
    # Every page ranks all agents again; only `limit + 1` of them are held in memory.
    start = _decode_cursor(after) if after else None
    places = (
        (place, agent)
        for place, agent in _ranked_agents(tx, stores, query)
        if start is None or place < start
    )
    best = nlargest(limit + 1, places, key=lambda found: found[0])
    page = best[:limit]
    cursor = _encode_cursor(page[-1][0]) if len(best) > limit else None
    return Page([agent for _, agent in page], cursor)


def _ranked_agents(
    tx: Tx, stores: AgentStores, query: AgentQuery
) -> Iterator[tuple[_RankKey, Agent]]:
    for agent in _visible_agents(tx, stores, query):
        rank = match_rank(agent, query.words)
        if rank:
            yield (rank, agent.created_at, agent.id), agent


def _visible_agents(tx: Tx, stores: AgentStores, query: AgentQuery) -> Iterator[Agent]:
    last: tuple[datetime, str] | None = None
    while True:
        agents = stores.agents.page(
            tx,
            orgs=query.requester.orgs,
            who=query.requester.identity,
            owner=query.owner,
            after=last,
            limit=_ROWS_AT_ONCE,
        )
        yield from agents
        if len(agents) < _ROWS_AT_ONCE:
            return
        last = (agents[-1].created_at, agents[-1].id)


def _encode_cursor(place: _RankKey) -> str:
    rank, created_at, agent_id = place
    return encode_key(_LIST, created_at, f"{rank} {agent_id}")


def _decode_cursor(cursor: str) -> _RankKey:
    created_at, key = decode_key(_LIST, cursor)
    rank, _, agent_id = key.partition(" ")
    if not rank.isdecimal():
        raise unknown_cursor_error()
    return int(rank), created_at, agent_id
