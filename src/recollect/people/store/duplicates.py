"""Finds probable duplicates among the people whom the caller may change."""

from functools import cache
from typing import Any

from sqlalchemy import BigInteger, and_, case, func, literal_column, or_, select, tuple_, union_all

from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.people import people, person_aliases
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import PersonId
from recollect.people.merge import PossibleDuplicate
from recollect.people.store.visibility import (
    CREATED_BY_CALLER,
    LIVE,
    OWN_PERSON,
    VISIBLE_ALIAS,
    requester_params,
)

_p, _a = people.c, person_aliases.c
# In the order of strength: of several reasons the first is reported.
_REASONS = ("name", "handle", "alias")


def find_duplicates(
    tx: Tx, requester: Requester, *, after: tuple[str, str] | None, limit: int
) -> list[PossibleDuplicate]:
    """Pairs ordered by the two ids, of which the first is the smaller."""
    params: dict[str, Any] = requester_params(requester) | {"limit": limit}
    if after is not None:
        params |= {"one": after[0], "other": after[1]}
    rows = tx.fetch(_pairs_statement(cursor=after is not None), params)
    return [PossibleDuplicate(PersonId(row[0]), PersonId(row[1]), _REASONS[row[2]]) for row in rows]


def _spellings_query() -> Any:
    """All spellings of these people: names, and aliases that the caller may see."""
    made = and_(CREATED_BY_CALLER, _p.awaited_handle.is_(None))
    is_own = and_(LIVE, or_(made, _p.id == OWN_PERSON))
    names = select(_p.id, _p.normal_name.label("form"), literal_word("name").label("kind")).where(
        is_own
    )
    aliases = (
        select(_a.person_id, _a.normal_value, _a.kind)
        .select_from(person_aliases.join(people, _p.id == _a.person_id))
        .where(is_own, VISIBLE_ALIAS)
    )
    return union_all(names, aliases)


@cache
def _pairs_statement(*, cursor: bool) -> Query:
    called = _spellings_query().cte("called")
    one, other = called.alias("one"), called.alias("other")
    place = {reason: literal_column(str(i), BigInteger) for i, reason in enumerate(_REASONS)}
    reason = case(
        (
            and_(one.c.kind == literal_word("name"), other.c.kind == literal_word("name")),
            place["name"],
        ),
        (
            and_(one.c.kind == literal_word("handle"), other.c.kind == literal_word("handle")),
            place["handle"],
        ),
        else_=place["alias"],
    )
    # `one.id < other.id` keeps a person from matching themself and gives each pair once.
    query = (
        select(one.c.id, other.c.id, func.min(reason))
        .select_from(one.join(other, and_(one.c.form == other.c.form, one.c.id < other.c.id)))
        .group_by(one.c.id, other.c.id)
        .order_by(one.c.id, other.c.id)
    )
    if cursor:
        here = tuple_(param("one", _p.id), param("other", _p.id))
        query = query.where(tuple_(one.c.id, other.c.id) > here)
    return Query(query.limit(param("limit")))
