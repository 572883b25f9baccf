"""Rows that a merge can't move by updating one column, because both people may have one: subjects
of the same memory, open participations in the same chat, orgs."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, exists, insert, not_, select, update

from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.memories import memory_subjects
from recollect.db.tables.people import (
    chat_participations,
    person_orgs,
    person_users,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.kernel import strict_json
from recollect.kernel.clock import from_text, to_text

MergeRecord = Mapping[str, Any]

_s, _t, _o = memory_subjects.c, chat_participations.c, person_orgs.c


def move_subjects(tx: Tx, from_id: str, to_id: str) -> dict[str, Any]:
    """A memory about both keeps one row. The record holds the dropped row with its `place` in the
    order of subjects, so that it can be restored."""
    people = {"from_id": from_id, "to_id": to_id}
    # The primary key is (memory, person), so rows that would collide must go before the update.
    joint = tx.fetch(_JOINT_SUBJECTS, people)
    tx.run(_DROP_JOINT_SUBJECTS, people)
    moved = tx.fetch(_MOVE_SUBJECTS, people)
    return {
        "subjects": sorted(row[0] for row in moved),
        "joint_subjects": sorted([memory_id, place] for memory_id, place in joint),
    }


def move_back_subjects(tx: Tx, moved: MergeRecord, *, from_id: str, to_id: str) -> None:
    """Restore the dropped row of a memory about both only while the memory is still about the
    primary: if that subject was removed since, so was the other."""
    ids = strict_json.dump(moved["subjects"])
    tx.run(_RETURN_SUBJECTS, {"ids": ids, "from_id": from_id, "to_id": to_id})
    for memory_id, place in moved["joint_subjects"]:
        params = {"memory_id": memory_id, "from_id": from_id}
        if tx.fetch_first(_IS_SUBJECT, params) is not None:
            tx.run(_ADD_SUBJECT, {"memory_id": memory_id, "to_id": to_id, "place": place})


def move_participations(tx: Tx, from_id: str, to_id: str) -> dict[str, Any]:
    """Two open participations in one chat become one, which began with the earlier of the two and
    is confirmed if one of them was.

    They must be joined before rows move: a unique index allows one open participation for each
    participant of a chat. Ended intervals may overlap and simply move.
    """
    people = {"from_id": from_id, "to_id": to_id}
    # Of each chat: when the secondary joined and confirmed, and when the primary did. All instants
    # are recorded, so that an undo can restore the two intervals.
    doubled = tx.fetch(_BOTH_OPEN, people)
    for chat_id, joined_at, began_at, *confirmed in doubled:
        params = {"chat_id": chat_id, "from_id": from_id, "to_id": to_id}
        first = min((at for at in confirmed if at is not None), default=None)
        tx.run(_DROP_OPEN, params)
        joint = {"joined_at": min(joined_at, began_at), "confirmed_at": first}
        tx.run(_SET_JOINT, params | joint)
    moved = tx.fetch(_MOVE_PARTICIPATIONS, people)
    return {
        "stays": [[row[0], to_text(row[1]), _time_text(row[2])] for row in moved],
        "joint_stays": sorted(
            ([row[0], *map(_time_text, row[1:])] for row in doubled), key=lambda row: row[0]
        ),
    }


def move_back_participations(tx: Tx, moved: MergeRecord, *, from_id: str, to_id: str) -> None:
    """Split joined participations again. One that ended since then ended for both people."""
    for chat_id, joined_text, left_text in moved["stays"]:
        interval = {"chat_id": chat_id, "joined_at": from_text(joined_text)}
        for ended in _pop_participation(tx, interval | {"from_id": from_id}, left_text):
            tx.run(_ADD_PARTICIPATION, interval | ended | {"to_id": to_id})
    # A joined participation starts at the earlier instant. It is removed, and each person gets one
    # back with their own start; if it ended since, both get that end. A confirmation that came
    # while they were one stays with the primary.
    for chat_id, joined_text, began_text, *confirmed_texts in moved["joint_stays"]:
        joined_at, began_at = from_text(joined_text), from_text(began_text)
        secondary, primary = [text and from_text(text) for text in confirmed_texts] or (None, None)
        place = {"chat_id": chat_id, "joined_at": min(joined_at, began_at), "from_id": from_id}
        for ended in _pop_participation(tx, place, None):
            since = ended["confirmed_at"] if secondary is None and primary is None else primary
            both = ((from_id, began_at, since), (to_id, joined_at, secondary))
            for person_id, at, confirmed_at in both:
                interval = {"chat_id": chat_id, "joined_at": at, "confirmed_at": confirmed_at}
                tx.run(_ADD_PARTICIPATION, ended | interval | {"to_id": person_id})


def _pop_participation(
    tx: Tx, place: Mapping[str, Any], left_text: str | None
) -> Iterator[dict[str, datetime | None]]:
    """Remove one recorded participation and yield its `left_at` and `confirmed_at`; yields nothing
    if it is gone.

    Rows of participations have no id, and several may have the same chat, person and `joined_at`.
    The right one is the one that ended as recorded. If it was open when it was recorded, it may
    have ended since; then it is the one with the latest end. All rows of that key are deleted and
    all but the chosen one are inserted again, since SQL can't address a single one of them.
    """
    rows = [{"left_at": left_at, "confirmed_at": at} for left_at, at in tx.fetch(_ENDS, place)]
    found = [row for row in rows if _time_text(row["left_at"]) == left_text]
    if not found and left_text is None:
        ended = [row for row in rows if row["left_at"] is not None]
        found = sorted(ended, key=lambda row: row["left_at"])[-1:]
    if not found:
        return
    rows.remove(found[0])
    tx.run(_DROP_PARTICIPATIONS, place)
    for row in rows:
        tx.run(_ADD_PARTICIPATION, {**place, **row, "to_id": place["from_id"]})
    yield found[0]


def _time_text(at: datetime | None) -> str | None:
    return None if at is None else to_text(at)


def move_orgs(tx: Tx, from_id: str, to_id: str) -> dict[str, Any]:
    """Add the secondary's orgs to the primary; the secondary keeps its rows. Returns the added
    orgs."""
    added = [row[0] for row in tx.fetch(_MISSING_ORGS, {"from_id": from_id, "to_id": to_id})]
    for org_id in added:
        tx.run(_ADD_ORG, {"to_id": to_id, "org_id": org_id})
    return {"orgs": sorted(added)}


def move_back_orgs(tx: Tx, moved: MergeRecord, *, person_id: str) -> None:
    """Remove the added orgs from the primary, except those to which one of its users belongs."""
    tx.run(_DROP_ORGS, {"id": person_id, "ids": strict_json.dump(moved["orgs"])})


def add_orgs_of_users(tx: Tx, person_id: str) -> None:
    """Add the orgs of the person's users: they may have joined orgs during the merge."""
    for (org_id,) in tx.fetch(_ORGS_OF_USERS, {"id": person_id}):
        tx.run(_ADD_ORG, {"to_id": person_id, "org_id": org_id})


_FROM, _TO, _IDS = param("from_id", _s.person_id), param("to_id", _s.person_id), param("ids")
_target_subjects = memory_subjects.alias("same")
_ABOUT_BOTH = exists().where(
    _target_subjects.c.memory_id == _s.memory_id, _target_subjects.c.person_id == _TO
)
_JOINT_SUBJECTS = Query(select(_s.memory_id, _s.place).where(_s.person_id == _FROM, _ABOUT_BOTH))
_DROP_JOINT_SUBJECTS = Query(delete(memory_subjects).where(_s.person_id == _FROM, _ABOUT_BOTH))
_MOVE_SUBJECTS = Query(
    update(memory_subjects)
    .where(_s.person_id == _FROM)
    .values(person_id=_TO)
    .returning(_s.memory_id)
)
_RETURN_SUBJECTS = Query(
    update(memory_subjects)
    .where(InTextList(_s.memory_id, _IDS), _s.person_id == _FROM)
    .values(person_id=_TO)
)
_MEMORY = param("memory_id", _s.memory_id)
_IS_SUBJECT = Query(select(_s.memory_id).where(_s.memory_id == _MEMORY, _s.person_id == _FROM))
_ADD_SUBJECT = Query(
    insert_if_absent(memory_subjects).values(
        memory_id=_MEMORY, person_id=_TO, place=param("place", _s.place)
    )
)

_PERSON = _t.kind == literal_word("person")
_CHAT = param("chat_id", _t.chat_id)
_JOINED = param("joined_at", _t.joined_at)
_target_participations = chat_participations.alias("here")
_BOTH_OPEN = Query(
    select(
        _t.chat_id,
        _t.joined_at,
        _target_participations.c.joined_at.label("began_at"),
        _t.confirmed_at,
        _target_participations.c.confirmed_at.label("first_confirmed_at"),
    )
    .select_from(
        chat_participations.join(
            _target_participations,
            and_(
                _target_participations.c.chat_id == _t.chat_id,
                _target_participations.c.kind == _t.kind,
            ),
        )
    )
    .where(
        _PERSON,
        _t.member_id == _FROM,
        _t.left_at.is_(None),
        _target_participations.c.member_id == _TO,
        _target_participations.c.left_at.is_(None),
    )
)
_OPEN = (_PERSON, _t.chat_id == _CHAT, _t.left_at.is_(None))
_DROP_OPEN = Query(delete(chat_participations).where(*_OPEN, _t.member_id == _FROM))
_CONFIRMED = param("confirmed_at", _t.confirmed_at)
_SET_JOINT = Query(
    update(chat_participations)
    .where(*_OPEN, _t.member_id == _TO)
    .values(joined_at=_JOINED, confirmed_at=_CONFIRMED)
)
_MOVE_PARTICIPATIONS = Query(
    update(chat_participations)
    .where(_PERSON, _t.member_id == _FROM)
    .values(member_id=_TO)
    .returning(_t.chat_id, _t.joined_at, _t.left_at)
)
_PARTICIPATION = (_PERSON, _t.chat_id == _CHAT, _t.member_id == _FROM, _t.joined_at == _JOINED)
_ENDS = Query(select(_t.left_at, _t.confirmed_at).where(*_PARTICIPATION))
_DROP_PARTICIPATIONS = Query(delete(chat_participations).where(*_PARTICIPATION))
_ADD_PARTICIPATION = Query(
    insert(chat_participations).values(
        chat_id=_CHAT,
        kind=literal_word("person"),
        member_id=_TO,
        joined_at=_JOINED,
        left_at=param("left_at", _t.left_at),
        confirmed_at=_CONFIRMED,
    )
)

_target_orgs = person_orgs.alias("theirs")
_MISSING_ORGS = Query(
    select(_o.org_id).where(
        _o.person_id == _FROM,
        not_(exists().where(_target_orgs.c.person_id == _TO, _target_orgs.c.org_id == _o.org_id)),
    )
)
_ADD_ORG = Query(
    insert_if_absent(person_orgs).values(person_id=_TO, org_id=param("org_id", _o.org_id))
)
_USERS_ORGS = (
    select(user_orgs.c.org_id)
    .select_from(person_users.join(user_orgs, user_orgs.c.user_id == person_users.c.user_id))
    .where(person_users.c.person_id == param("id", _o.person_id))
)
_ORGS_OF_USERS = Query(_USERS_ORGS.distinct())
_DROP_ORGS = Query(
    delete(person_orgs).where(
        _o.person_id == param("id", _o.person_id),
        InTextList(_o.org_id, _IDS),
        _o.org_id.not_in(_USERS_ORGS),
    )
)
