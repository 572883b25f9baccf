"""Rows that belong to memories: subjects, tags, sources and links. Read in one statement for many
memories, and written as lists."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Column, and_, delete, insert, literal_column, or_, select, union_all, update

from recollect.domain import jsontext
from recollect.domain.memories import Memory, MemoryId
from recollect.ports.database import Tx
from recollect.stores.engines.expressions import AmongTexts, ListedTexts, insert_if_absent
from recollect.stores.memory_rows import Hanging
from recollect.stores.memory_tables import (
    memory_links,
    memory_sources,
    memory_subjects,
    memory_tags,
)
from recollect.stores.statements import Statement, param, word

_l = memory_links.c


class Part(StrEnum):
    """The kind of a related row. In sources and links it is also the stored kind."""

    SUBJECT = "subject"
    ENTRY = "entry"
    MEMORY = "memory"
    SUPERSEDES = "supersedes"
    CONFLICT = "conflict"


def hanging_on(tx: Tx, memory_ids: Sequence[str]) -> dict[str, Hanging]:
    """The related rows of each of these memories, in one statement. Memories without any are
    absent."""
    found: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    if memory_ids:
        for memory_id, part, other in tx.fetch(_PARTS, {"ids": jsontext.dump(list(memory_ids))}):
            found[memory_id][part].append(other)
    return {memory_id: _hanging(parts) for memory_id, parts in found.items()}


def _hanging(parts: Mapping[str, Iterable[str]]) -> Hanging:
    def of(part: Part) -> tuple[str, ...]:
        return tuple(parts.get(part, ()))

    return Hanging(
        subjects=of(Part.SUBJECT),
        supersedes=tuple(map(MemoryId, of(Part.SUPERSEDES))),
        conflicts_with=tuple(map(MemoryId, of(Part.CONFLICT))),
        source_entries=of(Part.ENTRY),
        source_memories=tuple(map(MemoryId, of(Part.MEMORY))),
    )


def put_parts(tx: Tx, memory: Memory, *, at: datetime) -> None:
    """Insert all related rows of a new memory."""
    _put(tx, _PUT_SUBJECTS, memory.id, memory.subjects)
    _put(tx, _PUT_TAGS, memory.id, memory.tags)
    _put(tx, _PUT_ENTRIES, memory.id, memory.source_entries)
    _put(tx, _PUT_MEMORIES, memory.id, memory.source_memories)
    for other in memory.supersedes:
        link_superseded(tx, memory.id, other, at=at, reason="")
    for other in memory.conflicts_with:
        link_conflict(tx, memory.id, other, at=at)


def replace_parts(tx: Tx, before: Memory, after: Memory, *, at: datetime) -> None:
    """Write the related rows that a change touched. Links of supersession are only added here."""
    if after.subjects != before.subjects:
        _replace(tx, _DROP_SUBJECTS, _PUT_SUBJECTS, after.id, after.subjects)
    if after.tags != before.tags:
        _replace(tx, _DROP_TAGS, _PUT_TAGS, after.id, after.tags)
    if after.source_entries != before.source_entries:
        _replace(tx, _DROP_ENTRIES, _PUT_ENTRIES, after.id, after.source_entries)
    if after.source_memories != before.source_memories:
        _replace(tx, _DROP_MEMORIES, _PUT_MEMORIES, after.id, after.source_memories)
    for other in set(after.supersedes) - set(before.supersedes):
        link_superseded(tx, after.id, other, at=at, reason="")
    for other in set(before.conflicts_with) - set(after.conflicts_with):
        tx.run(_DROP_CONFLICT, {"id": after.id, "other": other})
    for other in set(after.conflicts_with) - set(before.conflicts_with):
        link_conflict(tx, after.id, other, at=at)


def link_superseded(tx: Tx, successor: str, predecessor: str, *, at: datetime, reason: str) -> None:
    """Insert the link, or set the reason of one that exists, which keeps its time."""
    params = {"id": successor, "other": predecessor, "at": at, "reason": reason}
    tx.run(_LINK_SUPERSEDED, params)
    if reason:
        tx.run(_SET_REASON, params)


def link_conflict(tx: Tx, one: str, other: str, *, at: datetime) -> None:
    """Link both ways."""
    for id_, against in ((one, other), (other, one)):
        tx.run(_LINK_CONFLICT, {"id": id_, "other": against, "at": at})


def _put(tx: Tx, statement: Statement, memory_id: str, texts: Sequence[str]) -> None:
    if texts:
        tx.run(statement, {"id": memory_id, "texts": jsontext.dump(texts)})


def _replace(tx: Tx, drop: Statement, put: Statement, memory_id: str, texts: Sequence[str]) -> None:
    tx.run(drop, {"id": memory_id})
    _put(tx, put, memory_id, texts)


_ID = param("id", _l.from_id)
_OTHER = param("other", _l.to_id)
_AT = param("at", _l.at)
_CONFLICT = _l.kind == word(Part.CONFLICT)
_SUPERSEDES = _l.kind == word(Part.SUPERSEDES)
_LISTED = ListedTexts(param("texts")).table_valued("value", "place")


def _parts() -> Statement:
    # One UNION of three tables, so that a page of memories costs one more statement. Tags are
    # missing on purpose: the row itself has them as JSON, and `memory_tags` serves filters only.
    # Subjects and sources keep the order in which they were sent; links have none.
    def of(id_: Column[Any], part: Any, other: Column[Any], place: Any) -> Any:
        columns = (id_.label("memory_id"), part.label("part"), other.label("other"))
        return select(*columns, place.label("place")).where(AmongTexts(id_, param("ids")))

    s, o = memory_subjects.c, memory_sources.c
    rows = union_all(
        of(s.memory_id, word(Part.SUBJECT), s.person_id, s.place),
        of(o.memory_id, o.kind, o.source_id, o.place),
        of(_l.from_id, _l.kind, _l.to_id, literal_column("0")),
    ).subquery()
    c = rows.c
    return Statement(
        select(c.memory_id, c.part, c.other).order_by(c.memory_id, c.part, c.place, c.other)
    )


def _sources(part: Part) -> tuple[Statement, Statement]:
    """The statements that insert and delete sources of one kind."""
    o = memory_sources.c
    rows = select(_ID, word(part), _LISTED.c.value, _LISTED.c.place)
    return (
        Statement(
            insert(memory_sources).from_select(["memory_id", "kind", "source_id", "place"], rows)
        ),
        Statement(delete(memory_sources).where(o.memory_id == _ID, o.kind == word(part))),
    )


def _linking(part: Part, reason: Any) -> Statement:
    values = {"from_id": _ID, "kind": word(part), "to_id": _OTHER, "at": _AT, "reason": reason}
    return Statement(insert_if_absent(memory_links, "from_id", "kind", "to_id").values(values))


_PARTS = _parts()
_PUT_SUBJECTS = Statement(
    insert(memory_subjects).from_select(
        ["memory_id", "person_id", "place"], select(_ID, _LISTED.c.value, _LISTED.c.place)
    )
)
_DROP_SUBJECTS = Statement(delete(memory_subjects).where(memory_subjects.c.memory_id == _ID))
_PUT_TAGS = Statement(
    insert(memory_tags).from_select(["memory_id", "tag"], select(_ID, _LISTED.c.value))
)
_DROP_TAGS = Statement(delete(memory_tags).where(memory_tags.c.memory_id == _ID))
_PUT_ENTRIES, _DROP_ENTRIES = _sources(Part.ENTRY)
_PUT_MEMORIES, _DROP_MEMORIES = _sources(Part.MEMORY)
_LINK_SUPERSEDED = _linking(Part.SUPERSEDES, param("reason", _l.reason))
_SET_REASON = Statement(
    update(memory_links)
    .where(_l.from_id == _ID, _SUPERSEDES, _l.to_id == _OTHER)
    .values(reason=param("reason", _l.reason))
)
_LINK_CONFLICT = _linking(Part.CONFLICT, literal_column("''"))
_BOTH_WAYS = or_(
    and_(_l.from_id == _ID, _l.to_id == _OTHER), and_(_l.from_id == _OTHER, _l.to_id == _ID)
)
_DROP_CONFLICT = Statement(delete(memory_links).where(_CONFLICT, _BOTH_WAYS))
