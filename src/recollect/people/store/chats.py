"""The store of chats. Named chats and conversation trees are read alike, through two views."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import distinct, exists, func, insert, literal_column, or_, select, tuple_, update

from recollect.conversations.store.rows import ConversationRows
from recollect.db.engines.expressions import (
    InTextList,
    InUuidList,
    insert_if_absent,
)
from recollect.db.statements import Query, Row, literal_word, param
from recollect.db.tables.conversations import conversations
from recollect.db.tables.memories import memories
from recollect.db.tables.people import (
    agents,
    chat_participations,
    chats,
    named_chats,
    person_users,
    presences,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.ids import (
    AgentId,
    ChatId,
    OrgId,
    PersonId,
    UserId,
    parse_uuid,
)
from recollect.kernel.owner import AGENT_PREFIX, Owner, OwnerKind
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import SpaceKind
from recollect.people.chat import (
    Audience,
    Chat,
    ChatKind,
    Participant,
    ParticipantKeys,
    ParticipantKind,
    tree_chat_kind,
)
from recollect.people.store.participation_sql import (
    IS_HUMAN,
    KEY_MATCHES,
    PRESENCES_WITH_PERSON,
    PRESENT_HUMAN_KEY,
    PRESENT_PERSON_ID,
    current_chat_ids,
    key_matches,
    live_chat_ids,
    participant_params,
)

_c, _n, _p, _s = chats.c, named_chats.c, presences.c, chat_participations.c
_m = memories.c


class ChatStore:
    """Chats and participations. Conversation trees and named chats are read alike, through the
    views `chats` and `presences`; only named chats are written here."""

    def __init__(self, cipher: Cipher) -> None:
        self._title = ConversationRows(cipher).title

    def fetch(self, tx: Tx, chat_id: ChatId) -> Chat | None:
        """The chat that this id means: its own, or that of a conversation in its tree. The kind of
        a tree follows from its current human members."""
        found = self._fetch(tx, chat_id)
        if found is not None:
            return found
        tree_id = self.find_tree(tx, chat_id)
        return None if tree_id is None else self._fetch(tx, tree_id)

    def find_tree(self, tx: Tx, chat_id: ChatId) -> ChatId | None:
        """The id of the tree's chat if the id is that of any conversation. Deleted trees count."""
        # Only the canonical spelling can be a conversation's id, and only a UUID may be compared
        # with one.
        known = parse_uuid(chat_id) == chat_id and tx.fetch_first(_TREE, {"id": chat_id})
        return ChatId(known[0]) if known else None

    def has_memories(self, tx: Tx, chat_id: ChatId) -> bool:
        """Does a memory lie in this chat, or was one learned there, whether or not the chat is
        known?"""
        return tx.fetch_first(_HAS_MEMORIES, {"id": chat_id}) is not None

    def canonical_id(self, tx: Tx, chat_id: ChatId) -> ChatId:
        """The id under which the chat keeps its participants and memories: that of the tree for any
        of its conversations, else the id itself, whether or not there is such a chat."""
        return self.find_tree(tx, chat_id) or chat_id

    def lock(self, tx: Tx, chat_id: ChatId) -> None:
        """Lock a named chat until the transaction ends."""
        tx.lock(_LOCK, {"id": chat_id})

    def insert(self, tx: Tx, chat: Chat) -> bool:
        """Insert a named chat; False if the id is taken."""
        return tx.fetch_first(_INSERT, _to_params(chat)) is not None

    def update(self, tx: Tx, chat: Chat) -> None:
        """Store kind, title and provider of a named chat."""
        tx.run(_UPDATE, {k: v for k, v in _to_params(chat).items() if k in _CHANGED})

    def page(
        self,
        tx: Tx,
        keys: ParticipantKeys,
        *,
        after: tuple[datetime, str] | None,
        limit: int,
    ) -> list[Chat]:
        """Chats where the participant takes part now, the newest first."""
        params = participant_params(keys) | {"limit": limit}
        if after is not None:
            params |= {"at": after[0], "id": after[1]}
        return self._to_chats(tx, tx.fetch(_page(cursor=after is not None), params))

    def participants(
        self, tx: Tx, chat_id: ChatId, *, include_left: bool = False
    ) -> list[Participant]:
        """Participations ordered by `joined_at`, kind and id; current ones unless
        `include_left`."""
        rows = tx.fetch(
            _ALL_PARTICIPATIONS if include_left else _CURRENT_PARTICIPATIONS, {"chat_id": chat_id}
        )
        return [_participant_from_row(row) for row in rows]

    def is_participant(self, tx: Tx, chat_id: ChatId, keys: ParticipantKeys) -> bool:
        """Does the participant take part now? False if there is no such chat."""
        return (
            tx.fetch_first(_IS_PARTICIPANT, participant_params(keys) | {"chat_id": chat_id})
            is not None
        )

    def join(self, tx: Tx, chat_id: ChatId, participant: Participant) -> None:
        """Open a participation in a named chat. The newcomer must not have an open one."""
        params = {"chat_id": chat_id, "kind": participant.kind, "member_id": participant.id}
        times = {name: getattr(participant, name) for name in ("joined_at", "confirmed_at")}
        tx.run(_JOIN, params | times)

    def confirm(self, tx: Tx, chat_id: ChatId, keys: ParticipantKeys, *, at: datetime) -> None:
        """Confirm the current participation in a named chat, if it is not confirmed yet."""
        tx.run(_CONFIRM, participant_params(keys) | {"chat_id": chat_id, "at": at})

    def leave(
        self, tx: Tx, chat_id: ChatId, kind: ParticipantKind, *, member_id: str, at: datetime
    ) -> bool:
        """End the open participation; False if there is none."""
        params = {"chat_id": chat_id, "kind": kind, "member_id": member_id, "left_at": at}
        return tx.run_and_count(_LEAVE, params) > 0

    def current_people(self, tx: Tx, chat_id: ChatId) -> frozenset[PersonId]:
        """Canonical ids of the people who take part now. Users without a person are left out."""
        rows = tx.fetch(_PEOPLE, {"chat_id": chat_id})
        return frozenset(PersonId(row[0]) for row in rows if row[0] is not None)

    def audience(self, tx: Tx, chat_id: ChatId) -> Audience:
        """Who listens in the chat now. Users without a person can't be related to any memory, so
        they are only counted."""
        rows = tx.fetch(_AUDIENCE, {"chat_id": chat_id})
        people = frozenset(PersonId(person) for _, person, at in rows if person and at is not None)
        linked = tx.fetch(_USERS_OF, {"ids": strict_json.dump(sorted(people))}) if people else ()
        users = frozenset(UserId(row[0]) for row in linked)
        return Audience(people, users, humans=len({row[0] for row in rows}))

    def current_chats(
        self, tx: Tx, *, users: frozenset[UserId], people: frozenset[PersonId], agent: str | None
    ) -> frozenset[ChatId]:
        """Chats where any of these takes part now."""
        keys = ParticipantKeys(users, people, AgentId(agent) if agent is not None else None)
        return frozenset(
            ChatId(row[0]) for row in tx.fetch(_CURRENT_CHATS, participant_params(keys))
        )

    def creator_orgs(self, tx: Tx, chat_ids: Sequence[ChatId]) -> Mapping[ChatId, frozenset[OrgId]]:
        """The orgs of each chat's creator."""
        rows = tx.fetch(_CREATORS, {"ids": strict_json.dump(list(chat_ids))})
        creators = {ChatId(row[0]): _to_owner(row[1], row[2]) for row in rows}
        orgs = _orgs_by_owner(tx, frozenset(creators.values()))
        return {chat_id: frozenset(orgs.get(creators.get(chat_id), ())) for chat_id in chat_ids}

    def _fetch(self, tx: Tx, chat_id: ChatId) -> Chat | None:
        return next(iter(self._to_chats(tx, tx.fetch(_FETCH, {"id": chat_id}))), None)

    def _to_chats(self, tx: Tx, rows: Sequence[Row]) -> list[Chat]:
        trees = [row[0] for row in rows if row[4]]
        ids = {"ids": strict_json.dump(trees)}
        titles = dict(tx.fetch(_TITLES, ids)) if trees else {}
        humans = dict(tx.fetch(_HUMANS, ids)) if trees else {}
        return [
            self._from_tree_row(row, titles.get(row[0]), humans.get(row[0], 0))
            if row[4]
            else _from_row(row)
            for row in rows
        ]

    def _from_tree_row(self, row: Row, sealed: str | None, humans: int) -> Chat:
        """The view `chats` has neither kind nor title of a tree: both come from other tables, and
        the title is encrypted."""
        title = self._title.open_to_show(sealed, row[0])
        chat = _from_row((row[0], tree_chat_kind(humans), title.text, *row[3:]))
        return replace(chat, unreadable=title.unreadable)


def _to_params(chat: Chat) -> dict[str, Any]:
    return {
        "id": chat.id,
        "kind": chat.kind,
        "title": chat.title,
        "provider": chat.provider,
        "created_by_kind": chat.created_by.kind,
        "created_by_id": chat.created_by.id,
        "created_at": chat.created_at,
    }


def _from_row(row: Row) -> Chat:
    return Chat(
        id=ChatId(row[0]),
        kind=ChatKind(row[1]),
        title=row[2],
        provider=row[3],
        tree=row[4],
        created_by=_to_owner(row[5], row[6]),
        created_at=row[7],
    )


def _to_owner(kind: str, id_: str) -> Owner:
    # A conversation tree stores an agent as a user whose id begins with `agent:`.
    if kind == OwnerKind.USER and id_.startswith(AGENT_PREFIX):
        return Owner.agent(id_.removeprefix(AGENT_PREFIX))
    return Owner(OwnerKind(kind), id_)


def _orgs_by_owner(tx: Tx, creators: frozenset[Owner]) -> dict[Owner | None, set[OrgId]]:
    orgs: dict[Owner | None, set[OrgId]] = {}
    for kind, statement in _ORGS.items():
        ids = strict_json.dump(sorted(one.id for one in creators if one.kind is kind))
        for id_, org_id in tx.fetch(statement, {"ids": ids}):
            orgs.setdefault(Owner(kind, id_), set()).add(OrgId(org_id))
    return orgs


def _participant_from_row(row: Row) -> Participant:
    kind, member_id, joined_at, left_at, confirmed_at = row
    if kind == ParticipantKind.USER and member_id.startswith(AGENT_PREFIX):
        kind, member_id = ParticipantKind.AGENT, member_id.removeprefix(AGENT_PREFIX)
    return Participant(ParticipantKind(kind), member_id, joined_at, left_at, confirmed_at)


_CHAT = (
    _c.id,
    _c.kind,
    _c.title,
    _c.provider,
    _c.tree,
    _c.created_by_kind,
    _c.created_by_id,
    _c.created_at,
)
_ID = param("id", _c.id)
_IN_CHAT = _p.chat_id == param("chat_id", _p.chat_id)
_PARTICIPATION_COLUMNS = (_p.kind, _p.member_id, _p.joined_at, _p.left_at, _p.confirmed_at)


@cache
def _page(*, cursor: bool) -> Query:
    query = select(*_CHAT).where(_c.id.in_(current_chat_ids()))
    if cursor:
        query = query.where(tuple_(_c.created_at, _c.id) < tuple_(param("at", _c.created_at), _ID))
    query = query.order_by(_c.created_at.desc(), _c.id.desc())
    return Query(query.limit(param("limit")))


_FETCH = Query(select(*_CHAT).where(_c.id == _ID))
# A statement of its own: as a subquery of the page it would aggregate the participations of all
# chats.
_HUMANS = Query(
    select(_p.chat_id, func.count(distinct(PRESENT_HUMAN_KEY)))
    .select_from(PRESENCES_WITH_PERSON)
    .where(InTextList(_p.chat_id, param("ids")), _p.left_at.is_(None), IS_HUMAN)
    .group_by(_p.chat_id)
)
_TITLES = Query(
    select(conversations.c.id, conversations.c.title).where(
        InUuidList(conversations.c.id, param("ids"))
    )
)
_TREE = Query(
    select(conversations.c.conversation_group_id).where(
        conversations.c.id == param("id", conversations.c.id)
    )
)
_HAS_MEMORIES = Query(
    select(literal_column("1")).where(
        or_(
            exists().where(_m.space_kind == literal_word(SpaceKind.CHAT), _m.space_id == _ID),
            exists().where(_m.learned_in == _ID),
        )
    )
)
_LOCK = Query(select(_n.id).where(_n.id == _ID).with_for_update())
_INSERT = Query(
    insert_if_absent(named_chats, "id")
    .values({column.name: param(column.name, column) for column in named_chats.columns})
    .returning(_n.id)
)
_CHANGED = ("id", "kind", "title", "provider")
_UPDATE = Query(
    update(named_chats)
    .where(_n.id == _ID)
    .values({name: param(name, _n[name]) for name in _CHANGED if name != "id"})
)
_ALL_PARTICIPATIONS = Query(
    select(*_PARTICIPATION_COLUMNS)
    .where(_IN_CHAT)
    .order_by(_p.joined_at, _p.kind, _p.member_id, _p.left_at)
)
_CURRENT_PARTICIPATIONS = Query(
    select(*_PARTICIPATION_COLUMNS)
    .where(_IN_CHAT, _p.left_at.is_(None))
    .order_by(_p.joined_at, _p.kind, _p.member_id)
)
_IS_PARTICIPANT = Query(
    select(_p.chat_id).where(
        _IN_CHAT,
        _p.left_at.is_(None),
        or_(*KEY_MATCHES),
        exists().where(_c.id == _p.chat_id),
    )
)
_JOIN_PARAMS = {
    name: param(name, _s[name])
    for name in ("chat_id", "kind", "member_id", "joined_at", "confirmed_at")
}
_JOIN = Query(insert(chat_participations).values(_JOIN_PARAMS))
_PARTICIPATION_KEY = ("chat_id", "kind", "member_id")
_LEAVE = Query(
    update(chat_participations)
    .where(_s.left_at.is_(None), *(_s[name] == _JOIN_PARAMS[name] for name in _PARTICIPATION_KEY))
    .values(left_at=param("left_at", _s.left_at))
)
_PEOPLE = Query(
    select(PRESENT_PERSON_ID)
    .distinct()
    .select_from(PRESENCES_WITH_PERSON)
    .where(_IN_CHAT, _p.left_at.is_(None), IS_HUMAN)
)
_AUDIENCE = Query(
    select(PRESENT_HUMAN_KEY, PRESENT_PERSON_ID, _p.confirmed_at)
    .select_from(PRESENCES_WITH_PERSON)
    .where(_IN_CHAT, _p.left_at.is_(None), IS_HUMAN)
)
_USERS_OF = Query(
    select(person_users.c.user_id).where(InTextList(person_users.c.person_id, param("ids")))
)
_CONFIRM = Query(
    update(chat_participations)
    .where(
        _s.chat_id == _JOIN_PARAMS["chat_id"],
        _s.left_at.is_(None),
        _s.confirmed_at.is_(None),
        or_(*key_matches(_s.kind, _s.member_id)),
    )
    .values(confirmed_at=param("at", _s.confirmed_at))
)
_CURRENT_CHATS = Query(live_chat_ids())
_CREATORS = Query(
    select(_c.id, _c.created_by_kind, _c.created_by_id).where(InTextList(_c.id, param("ids")))
)
_ORGS = {
    OwnerKind.USER: Query(
        select(user_orgs.c.user_id, user_orgs.c.org_id).where(
            InTextList(user_orgs.c.user_id, param("ids"))
        )
    ),
    OwnerKind.AGENT: Query(
        select(agents.c.id, agents.c.org_id).where(InTextList(agents.c.id, param("ids")))
    ),
}
