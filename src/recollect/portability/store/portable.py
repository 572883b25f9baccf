"""SQL behind export and import: reads and writes rows of every table by the type of their line."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from recollect.agents.run import Run
from recollect.agents.runs_store import RunStore
from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import (
    approvals,
    memories,
    memory_removals,
    memory_versions,
    relations,
)
from recollect.db.tables.people import (
    chat_participations,
    person_aliases,
    person_orgs,
    person_relationships,
    person_users,
)
from recollect.db.transaction import Tx
from recollect.graph.fact_patterns import EntityKind
from recollect.graph.model import EntityId, EntityRef
from recollect.graph.store import GraphStore
from recollect.kernel import strict_json
from recollect.kernel.ids import MemoryId
from recollect.kernel.runtime import Cipher
from recollect.kernel.space import Space
from recollect.memories.model import StoredMemory
from recollect.memories.store import relations as memory_parts
from recollect.memories.store.filters_sql import FilterShape, filter_params
from recollect.memories.store.pages import fetch_page
from recollect.memories.store.rows import (
    MEMORY_COLUMNS,
    NO_RELATED_ROWS,
    MemoryRows,
    version_id,
)
from recollect.memories.store.versions import MemoryVersions
from recollect.portability.export_scope import ExportCursor, ExportScope
from recollect.portability.fields import to_json_value
from recollect.portability.lines import LineType
from recollect.portability.store import rows, sql
from recollect.portability.store.people import add_person_parts, put_person
from recollect.portability.store.rows import LineValues
from recollect.visibility.sql import ViewerShape, viewer_params

_m = memories.c


class PortableStore:
    """PortableStore on SQLite and PostgreSQL."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = MemoryRows(cipher)
        self._versions = MemoryVersions(self._rows)
        self._snapshot = EncryptedColumn(cipher, memory_versions.c.snapshot)
        self._graph = GraphStore(cipher)
        self._runs = RunStore()

    def page(
        self,
        tx: Tx,
        type_: LineType,
        exported: ExportScope,
        *,
        after: ExportCursor | None,
        limit: int,
    ) -> list[tuple[ExportCursor, LineValues]]:
        """Rows of a type other than memories and their parts, to which the memories refer."""
        # A row is the sort key, which is the cursor of the next page, followed by the columns.
        statement = sql.page(
            type_,
            *_query_shapes(exported),
            everything=exported.everything,
            cursor=after is not None,
        )
        width = len(sql.SORT_KEYS[type_])
        found = tx.fetch(statement, _params(exported, after, limit))
        values = [sql.TABLES[type_].to_values(row[width:]) for row in found]
        if type_ is LineType.PERSON:
            add_person_parts(tx, values)
        return [(row[:width], one) for row, one in zip(found, values, strict=True)]

    def memory_page(
        self, tx: Tx, exported: ExportScope, *, after: ExportCursor | None, limit: int
    ) -> list[tuple[ExportCursor, StoredMemory]]:
        """The memories, oldest first."""
        place = None if after is None else (after[0], after[1])
        shape = sql.memory_pages(*_query_shapes(exported))
        found = fetch_page(tx, shape, _read_params(exported), after=place, limit=limit)
        related = memory_parts.fetch_related(tx, [row[_ID_AT] for row in found])
        stored = [
            self._rows.from_row(row, related.get(row[_ID_AT], NO_RELATED_ROWS)) for row in found
        ]
        as_of = exported.filters.as_of
        restored = stored if as_of is None else self._versions.restore_as_of(tx, stored, as_of)
        # Cursors come from the rows as they are now: the query sorts by these, not by the versions.
        places = ((one.memory.created_at, one.memory.id) for one in stored)
        return list(zip(places, restored, strict=True))

    def parts_of_memories(
        self, tx: Tx, type_: LineType, memory_ids: Sequence[MemoryId]
    ) -> dict[MemoryId, list[LineValues]]:
        """Versions, relations or approvals by memory id, in a fixed order."""
        found: dict[MemoryId, list[LineValues]] = {}
        for row in tx.fetch(_PARTS_OF_MEMORIES[type_], _ids_param(memory_ids)):
            values = self._decrypt_row(type_, row)
            found.setdefault(values["memory_id"], []).append(values)
        if type_ is LineType.RELATION:
            self._add_things(tx, [one for several in found.values() for one in several])
        return found

    def has(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """Whether the agent, person, merge, chat, participation or run exists."""
        if type_ is LineType.PARTICIPANT:
            return tx.fetch_first(_SAME_PARTICIPATION, dict(values)) is not None
        return tx.fetch_first(_EXISTING[type_], {"id": values["id"]}) is not None

    def put(self, tx: Tx, type_: LineType, values: Mapping[str, Any]) -> bool:
        """Insert a row. False if it exists, and nothing is written then. A version replaces the one
        of the same number: inserting its memory has created version 1 already."""
        match type_:
            case LineType.PERSON:
                return put_person(tx, values)
            case LineType.RUN:
                return self._runs.insert(tx, Run(**values))
            case LineType.PARTICIPANT:
                return not self.has(tx, type_, values) and _insert_participation(tx, values)
            case LineType.VERSION:
                return self._put_version(tx, values)
            case LineType.RELATION:
                return self._put_relation(tx, values)
            case _:
                table = sql.TABLES[type_]
                return tx.fetch_first(_INSERTS[type_], table.to_params(values)) is not None

    def delete(self, tx: Tx, type_: LineType, id_: str) -> None:
        """Delete an agent, person or chat, so that an imported one can take its id."""
        for statement in _DELETES[type_]:
            tx.run(statement, {"id": id_})

    def record_removal(self, tx: Tx, memory_id: MemoryId, at: datetime) -> None:
        """Record when a memory that doesn't exist was removed; an earlier record stays."""
        tx.run(_RECORD_REMOVAL, {"id": memory_id, "at": at})

    def delete_removal(self, tx: Tx, memory_id: MemoryId) -> None:
        """Delete the removal record of a memory that is about to exist again."""
        tx.run(_DELETE_REMOVAL, {"id": memory_id})

    def _decrypt_row(self, type_: LineType, row: Row) -> LineValues:
        table = sql.TABLES[type_]
        if type_ is not LineType.VERSION:
            return table.to_values(row)
        named = dict(zip((column.name for column in table.columns), row, strict=True))
        opened = self._snapshot.open_to_show(named["snapshot"], named["id"])
        named["snapshot"] = opened.text
        values = table.to_values(tuple(named.values()))
        return values | {"unreadable": True} if opened.unreadable else values

    def _add_things(self, tx: Tx, edges: Sequence[LineValues]) -> None:
        ends = {EntityId(edge[end]) for edge in edges for end in ("from_id", "to_id")}
        things = self._graph.fetch_entities(tx, ends)
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
            None
            if snapshot is None
            else self._snapshot.seal(strict_json.dump(to_json_value(snapshot)), id_)
        )
        params = rows.VERSIONS.to_params({**values, "id": id_, "snapshot": sealed or ""})
        tx.run(_DELETE_VERSION, {"id": id_})
        tx.run(_INSERT_VERSION, params | {"snapshot": sealed})
        return True

    def _put_relation(self, tx: Tx, values: Mapping[str, Any]) -> bool:
        ends = {thing["id"]: self._put_thing(tx, values, thing) for thing in values["things"] or ()}
        led = {end: ends.get(values[end], values[end]) for end in ("from_id", "to_id")}
        params = rows.RELATIONS.to_params({**values, **led})
        return tx.fetch_first(_INSERTS[LineType.RELATION], params) is not None

    def leads_elsewhere(self, tx: Tx, relation: LineValues, space: Space) -> bool:
        """Is an end of the relation an entity of another space, which does not come along? Whoever
        sees the relation would be told its name."""
        brought = {thing["id"] for thing in relation["things"] or ()}
        ends = [EntityId(relation[end]) for end in ("from_id", "to_id")]
        named = self._graph.fetch_entities(tx, [one for one in ends if one not in brought])
        return any(one.space != space for one in named.values())

    def _put_thing(self, tx: Tx, values: Mapping[str, Any], thing: LineValues) -> EntityId:
        """Store the entity and return its id: its own, unless an entity of another space or a
        person has that. An entity belongs to one space, and sharing it would connect the graphs of
        two."""
        id_, space = EntityId(thing["id"]), values["space"]
        known = self._graph.fetch_entities(tx, [id_]).get(id_)
        elsewhere = known is not None and known.space != space
        taken = elsewhere or self.has(tx, LineType.PERSON, {"id": id_})
        new_id = EntityId(f"{id_}:{values['id']}") if taken else id_
        named = EntityRef(EntityKind(thing["kind"]), thing["name"])
        return self._graph.put_entity(tx, space, named, new_id=new_id)


def _query_shapes(exported: ExportScope) -> tuple[ViewerShape, FilterShape]:
    return ViewerShape.from_viewer(exported.viewer), FilterShape.from_filter(exported.filters)


def _params(exported: ExportScope, after: ExportCursor | None, limit: int) -> dict[str, Any]:
    here = {f"after_{at}": value for at, value in enumerate(after or ())}
    return {**_read_params(exported), **here, "limit": limit}


def _read_params(exported: ExportScope) -> dict[str, Any]:
    viewer = exported.viewer
    return {**viewer_params(viewer), **filter_params(exported.filters, viewer.now)}


def _ids_param(ids: Collection[str]) -> dict[str, Any]:
    return {"ids": strict_json.dump(sorted(ids))}


def _insert_participation(tx: Tx, values: Mapping[str, Any]) -> bool:
    tx.run(_INSERT_PARTICIPATION, dict(values))
    return True


_IDS = param("ids")
_ID_AT = MEMORY_COLUMNS.index(_m.id)
_INSERTS = {
    type_: table.insert_query
    for type_, table in sql.TABLES.items()
    if type_ not in (LineType.PARTICIPANT, LineType.VERSION, LineType.RUN)
}
_EXISTING = {
    type_: Query(select(table.table.c.id).where(table.table.c.id == param("id", table.table.c.id)))
    for type_, table in sql.TABLES.items()
    if type_ is not LineType.PARTICIPANT
}
_v, _r, _a = memory_versions.c, relations.c, approvals.c
_PARTS_OF_MEMORIES = {
    LineType.VERSION: Query(
        select(*rows.VERSIONS.columns)
        .where(InTextList(_v.memory_id, _IDS))
        .order_by(_v.memory_id, _v.version)
    ),
    LineType.RELATION: Query(
        select(*rows.RELATIONS.columns)
        .where(InTextList(_r.memory_id, _IDS))
        .order_by(_r.memory_id, _r.id)
    ),
    LineType.APPROVAL: Query(
        select(*rows.APPROVALS.columns)
        .where(InTextList(_a.memory_id, _IDS))
        .order_by(_a.memory_id, _a.created_at, _a.id)
    ),
}
_s = chat_participations.c
_PARTICIPATION = {column.name: param(column.name, column) for column in chat_participations.columns}
# The same participation: it began at the same instant, or both have not ended. Nobody can be in a
# chat twice at a time.
_SAME_PARTICIPATION = Query(
    select(_s.chat_id).where(
        *(_s[name] == _PARTICIPATION[name] for name in ("chat_id", "kind", "member_id")),
        (_s.joined_at == _PARTICIPATION["joined_at"])
        | (_s.left_at.is_(None) & _PARTICIPATION["left_at"].is_(None)),
    )
)
_INSERT_PARTICIPATION = Query(insert(chat_participations).values(_PARTICIPATION))
_INSERT_VERSION = Query(
    insert(memory_versions).values({c.name: param(c.name, c) for c in memory_versions.columns})
)
_DELETE_VERSION = Query(delete(memory_versions).where(_v.id == param("id", _v.id)))
_d = memory_removals.c
_RECORD_REMOVAL = Query(
    insert_if_absent(memory_removals, "memory_id").values(
        memory_id=param("id", _d.memory_id), removed_at=param("at", _d.removed_at)
    )
)
_DELETE_REMOVAL = Query(delete(memory_removals).where(_d.memory_id == param("id", _v.id)))
_ID = param("id", _v.id)
_DELETES = {
    LineType.AGENT: (Query(delete(rows.AGENTS.table).where(rows.AGENTS.table.c.id == _ID)),),
    LineType.CHAT: (Query(delete(rows.CHATS.table).where(rows.CHATS.table.c.id == _ID)),),
    LineType.PERSON: (
        Query(delete(rows.PEOPLE.table).where(rows.PEOPLE.table.c.id == _ID)),
        *(
            Query(delete(table).where(table.c.person_id == _ID))
            for table in (person_orgs, person_users, person_aliases, person_relationships)
        ),
    ),
}
