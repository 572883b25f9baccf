"""Merging of people in the database, and undoing it.

A merge moves every row that names the secondary to the primary, and stores a record of the rows it
moved, by their keys. Undoing moves back only those recorded rows that still name the primary, so
rows that were changed or deleted meanwhile stay as they are.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Table, insert, select, update

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import memories, relations
from recollect.db.tables.people import (
    people,
    person_aliases,
    person_merges,
    person_relationships,
    person_users,
)
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.ids import PersonId
from recollect.kernel.owner import Owner, OwnerKind
from recollect.people.merge import MergeImpact, PersonMerge, PossibleDuplicate
from recollect.people.model import MergePlan
from recollect.people.store.duplicates import find_duplicates
from recollect.people.store.merge_counts import load_merge_impact
from recollect.people.store.merge_links import (
    add_orgs_of_users,
    move_back_orgs,
    move_back_participations,
    move_back_subjects,
    move_orgs,
    move_participations,
    move_subjects,
)
from recollect.people.store.rows import column_params

_g = person_merges.c
_COLUMNS = (_g.id, _g.primary_id, _g.secondary_id, _g.at, _g.by_kind, _g.by_id, _g.moved)


class _PersonColumn:
    """A column that refers to people, and the key column of its table."""

    def __init__(self, table: Table, key: str, name: str) -> None:
        id_: Column[Any] = table.c[key]
        person: Column[Any] = table.c[name]
        to = {name: param("to_id", person)}
        moving = update(table).where(person == param("from_id", person)).values(to)
        self._move = Query(moving.returning(id_))
        self._give_back = Query(moving.where(InTextList(id_, param("ids"))))

    def move(self, tx: Tx, from_id: str, to_id: str) -> list[str]:
        """Move all rows; returns their keys."""
        rows = tx.fetch(self._move, {"from_id": from_id, "to_id": to_id})
        return sorted(row[0] for row in rows)

    def move_back(self, tx: Tx, ids: list[str], *, from_id: str, to_id: str) -> None:
        """Move back those of these rows that still name `from_id`."""
        ids_text = strict_json.dump(ids)
        tx.run(self._give_back, {"ids": ids_text, "from_id": from_id, "to_id": to_id})


class MergeStore:
    """Merges of people, which can be undone."""

    def merge(
        self, tx: Tx, plan: MergePlan, *, merge_id: str, by: Owner, at: datetime
    ) -> PersonMerge:
        """Move all rows of the secondary to the primary, and store a record of them."""
        moved = _move_rows(tx, plan.secondary_id, plan.primary_id, at)
        merge = PersonMerge(merge_id, plan.primary_id, plan.secondary_id, at, by, moved)
        tx.run(_INSERT, _to_params(merge))
        return merge

    def load_impact(self, tx: Tx, requester: Requester, merge: PersonMerge) -> MergeImpact:
        """What the merge moved, as far as the requester may know."""
        return load_merge_impact(tx, requester, merge.moved)

    def fetch_active(self, tx: Tx, secondary_id: PersonId) -> PersonMerge | None:
        """The merge by which this person was merged away, unless it was undone."""
        row = tx.fetch_first(_FETCH_ACTIVE, {"secondary_id": secondary_id})
        return _from_row(row) if row else None

    def undo(self, tx: Tx, merge: PersonMerge, *, at: datetime) -> None:
        """Move back to the secondary those rows that are still where the merge put them."""
        # Merges of the same people depend on each other: where both people had a row for the same
        # thing (subjects of one memory, open participations in one chat), only one row is left.
        # Example: B and C are merged into A, in this order, and one memory was about B and C. The
        # merge of C found the row that A got from B and dropped C's own. If only B's merge were
        # undone, the row would go back to B, and nothing would say any more that the memory is
        # about A, who still is C.
        #
        # So the merges are undone like a stack: take back every later merge of this canonical
        # person, the newest first; take back this one; then make the later ones again, in their
        # order. Their records are replaced, because they may move other rows this time.
        later = [
            one for one in _active_merges_with(tx, merge) if (one.at, one.id) > (merge.at, merge.id)
        ]
        for one in reversed(later):
            _move_rows_back(tx, one, at)
        _move_rows_back(tx, merge, at)
        tx.run(_MARK_UNDONE, {"id": merge.id, "at": at})
        for one in later:
            moved = _move_rows(tx, one.secondary_id, one.primary_id, at)
            tx.run(_UPDATE_RECORD, {"id": one.id, "moved": strict_json.dump(moved)})

    def find_duplicates(
        self, tx: Tx, requester: Requester, *, after: tuple[str, str] | None, limit: int
    ) -> list[PossibleDuplicate]:
        """Pairs with an equal name, handle or alias among the people whom the caller may change, by
        names and by aliases that the caller may see; ordered by the two ids."""
        return find_duplicates(tx, requester, after=after, limit=limit)


def redirect_person(tx: Tx, away: PersonId, to: PersonId, *, at: datetime) -> None:
    """Move all rows from one person to another without a record, so that it can't be undone:
    repairs references to a person who was merged away."""
    _move_rows(tx, away, to, at)


def _move_rows(tx: Tx, away: PersonId, to: PersonId, at: datetime) -> dict[str, Any]:
    """Move every row that names `away` to `to`, and redirect `away`; returns the record.

    Columns first, then what both people may have (see `merge_links`), and the redirect last.
    """
    moved: dict[str, Any] = {
        kind: column.move(tx, away, to) for kind, column in _PERSON_COLUMNS.items()
    }
    moved |= (
        move_subjects(tx, away, to) | move_participations(tx, away, to) | move_orgs(tx, away, to)
    )
    tx.run(_SET_REDIRECT, {"id": away, "merged_into": to, "at": at})
    return moved


def _move_rows_back(tx: Tx, merge: PersonMerge, at: datetime) -> None:
    # The links to users are back before orgs are handled, since both statements about orgs depend
    # on whose users these are now: the primary loses orgs that came only with the secondary, and
    # the secondary joins orgs that its users entered while they were merged.
    away, to = merge.secondary_id, merge.primary_id
    tx.run(_SET_REDIRECT, {"id": away, "merged_into": None, "at": at})
    for kind, column in _PERSON_COLUMNS.items():
        column.move_back(tx, merge.moved[kind], from_id=to, to_id=away)
    move_back_subjects(tx, merge.moved, from_id=to, to_id=away)
    move_back_participations(tx, merge.moved, from_id=to, to_id=away)
    move_back_orgs(tx, merge.moved, person_id=to)
    add_orgs_of_users(tx, away)


def _active_merges_with(tx: Tx, merge: PersonMerge) -> list[PersonMerge]:
    """All active merges into the canonical person that this merge belongs to, the oldest first.

    The secondary's redirect leads to that person directly, also if the primary itself was merged
    into somebody else later.
    """
    rows = tx.fetch(_FETCH_ACTIVE_WITH, {"id": merge.secondary_id})
    return [_from_row(row) for row in rows]


def _to_params(merge: PersonMerge) -> dict[str, Any]:
    return {
        "id": merge.id,
        "primary_id": merge.primary_id,
        "secondary_id": merge.secondary_id,
        "at": merge.at,
        "by_kind": merge.by.kind,
        "by_id": merge.by.id,
        "moved": strict_json.dump(merge.moved),
        "undone_at": None,
    }


def _from_row(row: Row) -> PersonMerge:
    moved: Mapping[str, Any] = strict_json.load(row[6])
    by = Owner(OwnerKind(row[4]), row[5])
    return PersonMerge(row[0], PersonId(row[1]), PersonId(row[2]), row[3], by, moved)


_PERSON_COLUMNS = {
    "users": _PersonColumn(person_users, "user_id", "person_id"),
    "statements": _PersonColumn(memories, "id", "stated_by"),
    "aliases": _PersonColumn(person_aliases, "id", "person_id"),
    "alias_claims": _PersonColumn(person_aliases, "id", "stated_by"),
    "relationships": _PersonColumn(person_relationships, "id", "person_id"),
    "relationships_to": _PersonColumn(person_relationships, "id", "to_person_id"),
    "relationship_claims": _PersonColumn(person_relationships, "id", "stated_by"),
    "edges_from": _PersonColumn(relations, "id", "from_id"),
    "edges_to": _PersonColumn(relations, "id", "to_id"),
    # People merged into the secondary earlier are redirected to the primary, so that a redirect
    # always takes one step.
    "redirects": _PersonColumn(people, "id", "merged_into"),
}
_ID = param("id", people.c.id)
_self = people.alias("self")
_SET_REDIRECT = Query(
    update(people)
    .where(people.c.id == _ID)
    .values(
        merged_into=param("merged_into", people.c.merged_into),
        updated_at=param("at", people.c.updated_at),
    )
)
_INSERT = Query(insert(person_merges).values(column_params(person_merges)))
_FETCH_ACTIVE = Query(
    select(*_COLUMNS)
    .where(_g.secondary_id == param("secondary_id", _g.secondary_id), _g.undone_at.is_(None))
    .order_by(_g.at.desc(), _g.id.desc())
)
_MARK_UNDONE = Query(
    update(person_merges)
    .where(_g.id == param("id", _g.id))
    .values(undone_at=param("at", _g.undone_at))
)
_UPDATE_RECORD = Query(
    update(person_merges).where(_g.id == param("id", _g.id)).values(moved=param("moved", _g.moved))
)
_SAME_CANONICAL = select(people.c.id).where(
    people.c.merged_into == select(_self.c.merged_into).where(_self.c.id == _ID).scalar_subquery()
)
_FETCH_ACTIVE_WITH = Query(
    select(*_COLUMNS)
    .where(_g.secondary_id.in_(_SAME_CANONICAL), _g.undone_at.is_(None))
    .order_by(_g.at, _g.id)
)
