"""Parts of SQL statements about current participation: in which chats somebody takes part, and
which people share a chat with them by their own doing.

The view `presences` unites participations in named chats with memberships of conversation trees.
A tree stores an agent as a user whose id is `agent:` and the agent's id.
"""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, case, func, literal_column, select, union

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import literal_word, param
from recollect.db.tables.people import chats, person_users, presences
from recollect.kernel import strict_json
from recollect.kernel.owner import Owner
from recollect.people.chat import ParticipantKeys

_c, _p, _l = chats.c, presences.c, person_users.c
_USER, _PERSON, _AGENT = literal_word("user"), literal_word("person"), literal_word("agent")


def key_matches(
    kind: ColumnElement[str], member_id: ColumnElement[str]
) -> tuple[ColumnElement[bool], ...]:
    """One condition for each kind of participant; see `current_chat_ids` for why they stay
    apart."""
    return (
        and_(kind == _USER, InTextList(member_id, param("seat_users"))),
        and_(kind == _PERSON, InTextList(member_id, param("seat_people"))),
        and_(kind == _AGENT, member_id == param("seat_agent", _p.member_id)),
    )


KEY_MATCHES = key_matches(_p.kind, _p.member_id)
# Prefix match as a range of bytes (`;` follows `:`), so that an index can serve it on each engine.
_HAS_AGENT_PREFIX = and_(
    _p.member_id >= literal_column("'agent:'", Text),
    _p.member_id < literal_column("'agent;'", Text),
)
IS_HUMAN = and_(_p.kind != _AGENT, ~_HAS_AGENT_PREFIX)
PRESENCES_WITH_PERSON = presences.outerjoin(
    person_users, and_(_p.kind == _USER, _l.user_id == _p.member_id)
)
# NULL for a user who has no person yet. Counting humans needs the next one, which is never NULL and
# counts a user and the person of that user once.
PRESENT_PERSON_ID = case((_p.kind == _PERSON, _p.member_id), else_=_l.person_id)
PRESENT_HUMAN_KEY = func.coalesce(PRESENT_PERSON_ID, literal_column("'user:'", Text) + _p.member_id)


def participant_params(keys: ParticipantKeys) -> dict[str, Any]:
    """The parameters of KEY_MATCHES and `current_chat_ids`."""
    users: list[str] = sorted(keys.users)
    if keys.agent is not None:
        users.append(Owner.agent(keys.agent).spelling)
    return {
        "seat_users": strict_json.dump(users),
        "seat_people": strict_json.dump(sorted(keys.people)),
        "seat_agent": keys.agent,
    }


def current_chat_ids() -> Select[Any]:
    """Ids of the chats where the participant takes part now. A union of one look-up for each kind
    of participant: no index could serve a single look-up with OR."""
    arms = [
        select(_p.chat_id).where(_p.left_at.is_(None), matches_key) for matches_key in KEY_MATCHES
    ]
    return select(union(*arms).subquery("current").c.chat_id)


def live_chat_ids() -> Select[Any]:
    """The same without deleted conversations, whose participations stay."""
    return select(_c.id).where(_c.id.in_(current_chat_ids()))


def people_sharing_chats() -> Select[Any]:
    """Ids of the people who share a current chat with the participant and are confirmed there.
    Somebody else may have put the others in: that opens nothing about them."""
    return (
        select(PRESENT_PERSON_ID)
        .select_from(PRESENCES_WITH_PERSON)
        .where(
            _p.chat_id.in_(live_chat_ids()),
            _p.left_at.is_(None),
            _p.confirmed_at.is_not(None),
            IS_HUMAN,
            PRESENT_PERSON_ID.is_not(None),
        )
    )
