"""SQL for the entries of both channels.

A page of a segment reads one range of an index (conversation, channel, client, position), or two
ranges merged. It never reads sibling forks, entries beyond a cut or other clients' memory.
"""

from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    insert,
    literal_column,
    or_,
    select,
    union_all,
    update,
)

from recollect.conversations.entries.entry import Entry, EntryOrder
from recollect.conversations.forks.rules import Segment
from recollect.conversations.ports import EntryView, ForkPoint
from recollect.conversations.store.rows import ENTRY_COLUMNS, EntryRows
from recollect.db.statements import Query, literal_word, param
from recollect.db.tables.conversations import entries
from recollect.db.transaction import Tx
from recollect.kernel.ids import ClientId, ConversationId, EntryId, TreeId
from recollect.kernel.runtime import Cipher

_e = entries.c

_IS_HISTORY = _e.channel == literal_word("history")
_IS_MEMORY = _e.channel == literal_word("memory")
_OF_CLIENT = _e.client_id == param("client_id", _e.client_id)


class SqlEntries:
    """Implements `EntryStore` on both engines."""

    def __init__(self, cipher: Cipher) -> None:
        self._rows = EntryRows(cipher)

    def insert(self, tx: Tx, entry: Entry) -> None:
        tx.run(_INSERT, self._rows.to_params(entry))

    def fetch(self, tx: Tx, entry_id: EntryId) -> Entry | None:
        return self._fetch_first(tx, _FETCH, {"id": entry_id})

    def fetch_at(self, tx: Tx, tree_id: TreeId, seq: int) -> Entry | None:
        return self._fetch_first(tx, _FETCH_AT, {"tree_id": tree_id, "seq": seq})

    def page_segment(
        self,
        tx: Tx,
        segment: Segment,
        view: EntryView,
        *,
        after_seq: int,
        limit: int,
        order: EntryOrder = EntryOrder.ASC,
    ) -> list[Entry]:
        statement = _segment_page_query(
            history=view.history,
            memory=view.memory_of is not None,
            all_clients=view.all_clients,
            one_epoch=view.epoch is not None,
            order=order,
        )
        params = _view_params(view, after_seq, limit)
        params |= {"conversation_id": segment.conversation_id, "cut": segment.cut}
        return [self._rows.from_row(row) for row in tx.fetch(statement, params)]

    def page_tree(
        self,
        tx: Tx,
        tree_id: TreeId,
        view: EntryView,
        *,
        after_seq: int,
        limit: int,
        order: EntryOrder = EntryOrder.ASC,
    ) -> list[Entry]:
        statement = _tree_page_query(
            history=view.history,
            memory=view.memory_of is not None,
            all_clients=view.all_clients,
            order=order,
        )
        params = _view_params(view, after_seq, limit) | {"tree_id": tree_id}
        return [self._rows.from_row(row) for row in tx.fetch(statement, params)]

    def fetch_last_epoch(self, tx: Tx, segment: Segment, client_id: ClientId) -> int | None:
        params = {
            "conversation_id": segment.conversation_id,
            "cut": segment.cut,
            "client_id": client_id,
        }
        row = tx.fetch_first(_LAST_EPOCH, params)
        return int(row[0]) if row else None

    def fetch_before(
        self, tx: Tx, conversation_id: ConversationId, before_seq: int
    ) -> ForkPoint | None:
        row = tx.fetch_first(_BEFORE, {"conversation_id": conversation_id, "seq": before_seq})
        return ForkPoint(EntryId(row[0]), row[1], row[2]) if row else None

    def fetch_first_text(self, tx: Tx, conversation_id: ConversationId) -> Entry | None:
        return self._fetch_first(tx, _FIRST_TEXT, {"conversation_id": conversation_id})

    def mark_removed(self, tx: Tx, marker: Entry) -> None:
        tx.run(_MARK_REMOVED, self._rows.to_params(marker))

    def move_text_seq(self, tx: Tx, removed: Entry, to: int | None) -> None:
        tx.run(_MOVE_TEXT_SEQ, {"tree_id": removed.tree_id, "seq": removed.seq, "to": to})

    def _fetch_first(self, tx: Tx, statement: Query, params: dict[str, Any]) -> Entry | None:
        row = tx.fetch_first(statement, params)
        return self._rows.from_row(row) if row else None


def _view_params(view: EntryView, after_seq: int, limit: int) -> dict[str, Any]:
    return {
        "client_id": view.memory_of,
        "epoch": view.epoch,
        "after_seq": after_seq,
        "limit": limit,
    }


@cache
def _segment_page_query(
    *, history: bool, memory: bool, all_clients: bool, one_epoch: bool, order: EntryOrder
) -> Query:
    here = and_(
        _e.conversation_id == param("conversation_id", _e.conversation_id),
        _after_clause(order),
        _e.seq <= param("cut", _e.seq),
    )
    epoch = [_e.epoch == param("epoch", _e.epoch)] if one_epoch else []
    # Each range below matches one partial index. All entries of a conversation need no ranges.
    if all_clients and history and not one_epoch:
        return Query(_order_and_limit(select(*ENTRY_COLUMNS).where(here), order))
    ranges: list[ColumnElement[bool]] = []
    if history:
        ranges.append(and_(here, _IS_HISTORY))
    if all_clients:
        ranges.append(and_(here, _IS_MEMORY, *epoch))
    elif memory:
        ranges.append(and_(here, _IS_MEMORY, _OF_CLIENT, *epoch))
    return _merge_ranges(ranges, order)


def _merge_ranges(ranges: list[ColumnElement[bool]], order: EntryOrder) -> Query:
    """A page of several ranges, in order of position.

    Each range is limited before they are merged, so a page reads at most twice its size. A plain
    OR of the ranges would let an engine read a whole range and sort it.
    """
    pages = [_order_and_limit(select(*ENTRY_COLUMNS).where(r), order) for r in ranges]
    if len(pages) == 1:
        return Query(pages[0])
    merged = union_all(*(select(page.subquery()) for page in pages)).subquery()
    by_position = _sort_by_position(merged.c.seq, order)
    return Query(select(merged).order_by(by_position).limit(param("limit", _e.seq)))


@cache
def _tree_page_query(*, history: bool, memory: bool, all_clients: bool, order: EntryOrder) -> Query:
    channels = [_IS_HISTORY] if history else []
    if all_clients:
        channels.append(_IS_MEMORY)
    elif memory:
        channels.append(and_(_IS_MEMORY, _OF_CLIENT))
    here = and_(
        _e.conversation_group_id == param("tree_id", _e.conversation_group_id),
        _after_clause(order),
    )
    return Query(_order_and_limit(select(*ENTRY_COLUMNS).where(here, or_(*channels)), order))


def _after_clause(order: EntryOrder) -> ColumnElement[bool]:
    after = param("after_seq", _e.seq)
    return _e.seq < after if order is EntryOrder.DESC else _e.seq > after


def _sort_by_position(seq: ColumnElement[int], order: EntryOrder) -> ColumnElement[int]:
    return seq.desc() if order is EntryOrder.DESC else seq.asc()


def _order_and_limit(query: Select[Any], order: EntryOrder) -> Select[Any]:
    return query.order_by(_sort_by_position(_e.seq, order)).limit(param("limit", _e.seq))


# The indexed text is never part of a listed entry, so `ENTRY_COLUMNS` leaves it out.
_COLUMNS = (*ENTRY_COLUMNS, _e.indexed_content, _e.indexed_at)
_INSERT = Query(insert(entries).values({c.name: param(c.name, c) for c in _COLUMNS}))
_FETCH = Query(select(*ENTRY_COLUMNS).where(_e.id == param("id", _e.id)))
_FETCH_AT = Query(
    select(*ENTRY_COLUMNS).where(
        _e.conversation_group_id == param("tree_id", _e.conversation_group_id),
        _e.seq == param("seq", _e.seq),
    )
)
# The epoch of the last entry, not MAX(epoch): epochs never decrease along a path, and the last
# entry up to the cut is one step in the index on (conversation, client, position).
_LAST_EPOCH = Query(
    select(_e.epoch)
    .where(
        _e.conversation_id == param("conversation_id", _e.conversation_id),
        _IS_MEMORY,
        _OF_CLIENT,
        _e.seq <= param("cut", _e.seq),
    )
    .order_by(_e.seq.desc())
    .limit(1)
)
_BEFORE = Query(
    select(_e.id, _e.seq, _e.text_seq)
    .where(
        _e.conversation_id == param("conversation_id", _e.conversation_id),
        _e.seq < param("seq", _e.seq),
    )
    .order_by(_e.seq.desc())
    .limit(1)
)
_FIRST_TEXT = Query(
    select(*ENTRY_COLUMNS)
    .where(
        _e.conversation_id == param("conversation_id", _e.conversation_id),
        _IS_HISTORY,
        _e.text_seq == _e.seq,
    )
    .order_by(_e.seq)
    .limit(literal_column("1"))
)
_MARK_REMOVED = Query(
    update(entries)
    .where(_e.id == param("id", _e.id))
    .values(
        {n: param(n, _e[n]) for n in ("content", "indexed_content", "indexed_at", "removed_at")}
    )
)
# Only later entries can have it as the last text before them.
_MOVE_TEXT_SEQ = Query(
    update(entries)
    .where(
        _e.conversation_group_id == param("tree_id", _e.conversation_group_id),
        _e.seq >= param("seq", _e.seq),
        _e.text_seq == param("seq", _e.seq),
    )
    .values(text_seq=param("to", _e.text_seq))
)
