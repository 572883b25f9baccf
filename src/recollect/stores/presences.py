"""Parts of SQL statements about current participation: in which chats somebody takes part, and
which people share a chat with them.

The view `presences` unites participations in named chats with memberships of conversation trees.
A tree stores an agent as a user whose id is `agent:` and the agent's id.
"""

from typing import Any

from sqlalchemy import Select, Text, and_, case, func, literal_column, select, union

from recollect.domain import jsontext
from recollect.domain.agents import Owner
from recollect.ports.people import Seat
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.people_tables import person_users, presences
from recollect.stores.statements import param, word

_p, _l = presences.c, person_users.c
_USER, _PERSON, _AGENT = word("user"), word("person"), word("agent")

# One condition for each kind of participant; see `current_chat_ids` for why they stay apart.
SEATED = (
    and_(_p.kind == _USER, AmongTexts(_p.member_id, param("seat_users"))),
    and_(_p.kind == _PERSON, AmongTexts(_p.member_id, param("seat_people"))),
    and_(_p.kind == _AGENT, _p.member_id == param("seat_agent", _p.member_id)),
)
# Prefix match as a range of bytes (`;` follows `:`), so that an index can serve it on each engine.
_MARKED = and_(
    _p.member_id >= literal_column("'agent:'", Text),
    _p.member_id < literal_column("'agent;'", Text),
)
HUMAN = and_(_p.kind != _AGENT, ~_MARKED)
LINKED = presences.outerjoin(person_users, and_(_p.kind == _USER, _l.user_id == _p.member_id))
# NULL for a user who has no person yet. Counting humans needs the next one, which is never NULL and
# counts a user and the person of that user once.
PERSON_HERE = case((_p.kind == _PERSON, _p.member_id), else_=_l.person_id)
HUMAN_HERE = func.coalesce(PERSON_HERE, literal_column("'user:'", Text) + _p.member_id)


def seat_params(seat: Seat) -> dict[str, Any]:
    """The parameters of KEY_MATCHES and `current_chat_ids`."""
    users: list[str] = sorted(seat.users)
    if seat.agent is not None:
        users.append(Owner.agent(seat.agent).spelling)
    return {
        "seat_users": jsontext.dump(users),
        "seat_people": jsontext.dump(sorted(seat.people)),
        "seat_agent": seat.agent,
    }


def seats() -> Select[Any]:
    """Ids of the chats where the participant takes part now. A union of one look-up for each kind
    of participant: no index could serve a single look-up with OR."""
    arms = [select(_p.chat_id).where(_p.left_at.is_(None), is_seated) for is_seated in SEATED]
    return select(union(*arms).subquery("seats").c.chat_id)


def people_met() -> Select[Any]:
    """Ids of the people who share a current chat with the participant."""
    return (
        select(PERSON_HERE)
        .select_from(LINKED)
        .where(_p.chat_id.in_(seats()), _p.left_at.is_(None), HUMAN, PERSON_HERE.is_not(None))
    )
