"""SQL behind export and import: reads and writes rows of every table by the type of their line."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from recollect.domain import jsontext
from recollect.domain.graph import EntityId, Thing
from recollect.domain.memories import MemoryId
from recollect.domain.portable import LineType
from recollect.domain.portable_members import plain
from recollect.domain.runs import Run
from recollect.domain.sayings import EntityKind
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.portable import Exported, Place
from recollect.ports.runtime import Cipher
from recollect.stores import memory_parts
from recollect.stores import portable_rows as rows
from recollect.stores import portable_statements as sql
from recollect.stores.engines.expressions import AmongTexts, insert_if_absent
from recollect.stores.graph import SqlGraph
from recollect.stores.memory_filters import FilterShape, filter_params
from recollect.stores.memory_rows import MEMORY, NOTHING, MemoryRows, version_id
from recollect.stores.memory_tables import (
    approvals,
    memories,
    memory_removals,
    memory_versions,
    relations,
)
from recollect.stores.memory_versions import MemoryVersions
from recollect.stores.people_tables import (
    chat_participations,
    person_aliases,
    person_orgs,
    person_relationships,
    person_users,
)
from recollect.stores.portable_people import add_parts, put_person
from recollect.stores.portable_rows import Values
from recollect.stores.rows import Sealed
from recollect.stores.runs import SqlRuns
from recollect.stores.sights import SightShape, sight_params
from recollect.stores.statements import Row, Statement, param

_m = memories.c


class SqlPortable:
    """PortableStore on SQLite and PostgreSQL."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)
        self._versions = MemoryVersions(self._rows)
        self._snapshot = Sealed(cipher, memory_versions.c.snapshot)
        self._graph = SqlGraph(cipher)
        self._runs = SqlRuns()

    def page(
        self, tx: Tx, type_: LineType, exported: Exported, *, after: Place | None, limit: int
    ) -> list[tuple[Place, Values]]:
        # A row is the sort key, which is the cursor of the next page, followed by the columns.
        statement = sql.page(
            type_, *_shapes(exported), everything=exported.everything, cursor=after is not None
        )
        width = len(sql.ORDERS[type_])
        found = tx.fetch(statement, _params(exported, after, limit))
        values = [sql.TABLES[type_].to_values(row[width:]) for row in found]
        if type_ is LineType.PERSON:
            add_parts(tx, values)
        return [(row[:width], one) for row, one in zip(found, values, strict=True)]

    def memories(
        self, tx: Tx, exported: Exported, *, after: Place | None, limit: int
    ) -> list[tuple[Place, Stored]]:
        statement = sql.memory_page(*_shapes(exported), cursor=after is not None)
        found = tx.fetch(statement, _params(exported, after, limit))
        hanging = memory_parts.hanging_on(tx, [row[_ID_AT] for row in found])
        stored = [self._rows.from_row(row, hanging.get(row[_ID_AT], NOTHING)) for row in found]
        as_of = exported.chosen.as_of
        shown = stored if as_of is None else self._versions.as_of(tx, stored, as_of)
        # Cursors come from the rows as they are now: the query sorts by these, not by the versions.
        places = ((one.memory.created_at, one.memory.id) for one in stored)
        return list(zip(places, shown, strict=True))

    def of_memories(
        self, tx: Tx, type_: LineType, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[Values]]:
        found: dict[MemoryId, list[Values]] = {}
        for row in tx.fetch(_OF_MEMORIES[type_], _listed(memory_ids)):
            values = self._opened(type_, row)
            found.setdefault(values["memory_id"], []).append(values)
        if type_ is LineType.RELATION:
            self._add_things(tx, [one for several in found.values() for one in several])
        return found

    def has(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        if type_ is LineType.PARTICIPANT:
            return tx.first(_SAME_STAY, dict(values)) is not None
        return tx.first(_KNOWN[type_], {"id": values["id"]}) is not None

    def put(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        match type_:
            case LineType.PERSON:
                return put_person(tx, values)
            case LineType.RUN:
                return self._runs.insert(tx, Run(**values))
            case LineType.PARTICIPANT:
                return not self.has(tx, type_, values) and _put_stay(tx, values)
            case LineType.VERSION:
                return self._put_version(tx, values)
            case LineType.RELATION:
                return self._put_relation(tx, values)
            case _:
                table = sql.TABLES[type_]
                return tx.first(_INSERTS[type_], table.to_params(values)) is not None

    def drop(self, tx: Tx, type_: LineType, id_: str) -> None:
        for statement in _DROPS[type_]:
            tx.run(statement, {"id": id_})

    def note_removal(self, tx: Tx, memory_id: MemoryId, at: datetime) -> None:
        tx.run(_NOTE_REMOVAL, {"id": memory_id, "at": at})

    def forget_removal(self, tx: Tx, memory_id: MemoryId) -> None:
        tx.run(_FORGET_REMOVAL, {"id": memory_id})

    def _opened(self, type_: LineType, row: Row) -> Values:
        table = sql.TABLES[type_]
        if type_ is not LineType.VERSION:
            return table.to_values(row)
        named = dict(zip((column.name for column in table.columns), row, strict=True))
        opened = self._snapshot.open(named["snapshot"], named["id"])
        row = tuple(opened if name == "snapshot" else value for name, value in named.items())
        return table.to_values(row)

    def _add_things(self, tx: Tx, edges: Sequence[Values]) -> None:
        ends = {EntityId(edge[end]) for edge in edges for end in ("from_id", "to_id")}
        things = self._graph.things(tx, ends)
        for edge in edges:
            found = (things.get(edge[end]) for end in ("from_id", "to_id"))
            edge["things"] = [
                {"id": one.id, "kind": one.kind, "name": one.name} for one in found if one
            ]

    def _put_version(self, tx: Tx, values: Mapping[str, Any]) -> bool:
        # The snapshot is encrypted here, bound to the id of its version. `to_params` gets the
        # ciphertext or an empty text, since it would dump anything else as JSON; a version without
        # a snapshot is then stored as NULL.
        id_ = version_id(values["memory_id"], values["version"])
        snapshot = values["snapshot"]
        sealed = (
            None if snapshot is None else self._snapshot.seal(jsontext.dump(plain(snapshot)), id_)
        )
        params = rows.VERSIONS.to_params({**values, "id": id_, "snapshot": sealed or ""})
        tx.run(_DROP_VERSION, {"id": id_})
        tx.run(_INSERT_VERSION, params | {"snapshot": sealed})
        return True

    def _put_relation(self, tx: Tx, values: Mapping[str, Any]) -> bool:
        ends = {thing["id"]: self._put_thing(tx, values, thing) for thing in values["things"] or ()}
        led = {end: ends.get(values[end], values[end]) for end in ("from_id", "to_id")}
        params = rows.RELATIONS.to_params({**values, **led})
        return tx.first(_INSERTS[LineType.RELATION], params) is not None

    def _put_thing(self, tx: Tx, values: Mapping[str, Any], thing: Values) -> EntityId:
        """Store the entity and return its id: its own, unless an entity of another space has that.
        An entity belongs to one space, and sharing it would connect the graphs of two."""
        id_, space = EntityId(thing["id"]), values["space"]
        known = self._graph.things(tx, [id_]).get(id_)
        new_id = id_ if known is None or known.space == space else EntityId(f"{id_}:{values['id']}")
        named = Thing(EntityKind(thing["kind"]), thing["name"])
        return self._graph.put_thing(tx, space, named, new_id=new_id)


def _shapes(exported: Exported) -> tuple[SightShape, FilterShape]:
    return SightShape.of(exported.sight), FilterShape.of(exported.chosen)


def _params(exported: Exported, after: Place | None, limit: int) -> dict[str, Any]:
    sight = exported.sight
    here = {f"after_{at}": value for at, value in enumerate(after or ())}
    seeing = {**sight_params(sight), **filter_params(exported.chosen, sight.now)}
    return {**seeing, **here, "limit": limit}


def _listed(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": jsontext.dump(sorted(ids))}


def _put_stay(tx: Tx, values: Mapping[str, Any]) -> bool:
    tx.run(_INSERT_STAY, dict(values))
    return True


_IDS = param("ids")
_ID_AT = MEMORY.index(_m.id)
_INSERTS = {
    type_: table.insert
    for type_, table in sql.TABLES.items()
    if type_ not in (LineType.PARTICIPANT, LineType.VERSION, LineType.RUN)
}
_KNOWN = {
    type_: Statement(
        select(table.table.c.id).where(table.table.c.id == param("id", table.table.c.id))
    )
    for type_, table in sql.TABLES.items()
    if type_ is not LineType.PARTICIPANT
}
_v, _r, _a = memory_versions.c, relations.c, approvals.c
_OF_MEMORIES = {
    LineType.VERSION: Statement(
        select(*rows.VERSIONS.columns)
        .where(AmongTexts(_v.memory_id, _IDS))
        .order_by(_v.memory_id, _v.version)
    ),
    LineType.RELATION: Statement(
        select(*rows.RELATIONS.columns)
        .where(AmongTexts(_r.memory_id, _IDS))
        .order_by(_r.memory_id, _r.id)
    ),
    LineType.APPROVAL: Statement(
        select(*rows.APPROVALS.columns)
        .where(AmongTexts(_a.memory_id, _IDS))
        .order_by(_a.memory_id, _a.created_at, _a.id)
    ),
}
_s = chat_participations.c
_STAY = {column.name: param(column.name, column) for column in chat_participations.columns}
# The same participation: it began at the same instant, or both have not ended. Nobody can be in a
# chat twice at a time.
_SAME_STAY = Statement(
    select(_s.chat_id).where(
        *(_s[name] == _STAY[name] for name in ("chat_id", "kind", "member_id")),
        (_s.joined_at == _STAY["joined_at"]) | (_s.left_at.is_(None) & _STAY["left_at"].is_(None)),
    )
)
_INSERT_STAY = Statement(insert(chat_participations).values(_STAY))
_INSERT_VERSION = Statement(
    insert(memory_versions).values({c.name: param(c.name, c) for c in memory_versions.columns})
)
_DROP_VERSION = Statement(delete(memory_versions).where(_v.id == param("id", _v.id)))
_d = memory_removals.c
_NOTE_REMOVAL = Statement(
    insert_if_absent(memory_removals, "memory_id").values(
        memory_id=param("id", _d.memory_id), removed_at=param("at", _d.removed_at)
    )
)
_FORGET_REMOVAL = Statement(delete(memory_removals).where(_d.memory_id == param("id", _v.id)))
_ID = param("id", _v.id)
_DROPS = {
    LineType.AGENT: (Statement(delete(rows.AGENTS.table).where(rows.AGENTS.table.c.id == _ID)),),
    LineType.CHAT: (Statement(delete(rows.CHATS.table).where(rows.CHATS.table.c.id == _ID)),),
    LineType.PERSON: (
        Statement(delete(rows.PEOPLE.table).where(rows.PEOPLE.table.c.id == _ID)),
        *(
            Statement(delete(table).where(table.c.person_id == _ID))
            for table in (person_orgs, person_users, person_aliases, person_relationships)
        ),
    ),
}
