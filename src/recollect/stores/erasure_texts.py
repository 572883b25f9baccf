"""Unencrypted text columns that may contain an identifier: titles, names, claims, reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Table,
    delete,
    exists,
    literal_column,
    or_,
    select,
    update,
)

from recollect.domain import jsontext
from recollect.domain.people import normal_form
from recollect.domain.traces import Traces
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning
from recollect.stores.engines.expressions import AmongTexts
from recollect.stores.erasure_links import (
    AGENTS,
    EVERYWHERE,
    MEMORY_IN_PLACES,
    PLACES,
    by_user,
    link_params,
)
from recollect.stores.erasure_needles import holds_any
from recollect.stores.memory_tables import approvals, memories
from recollect.stores.people_tables import (
    agents,
    named_chats,
    people,
    person_aliases,
    person_relationships,
    runs,
)
from recollect.stores.statements import Statement, param

_s, _p, _o = agents.c, people.c, approvals.c


class TextPlace:
    """Text and JSON columns of one table. In linked rows all identifiers are redacted, in others
    the unambiguous ones."""

    def __init__(
        self,
        table: Table,
        linked: Any,
        texts: Sequence[str],
        *,
        json: Sequence[str] = (),
        forms: Mapping[str, str] | None = None,
        goes: bool = False,
    ) -> None:
        """`linked` is the clause for linked rows. `forms` maps a column to the one whose normal
        form it holds. With `goes` a row is deleted instead: a redacted alias has no use."""
        self.table = table
        self._names, self._json, self._forms = (*texts, *json), frozenset(json), forms or {}
        columns: list[Column[Any]] = [table.c[name] for name in self._names]
        held = or_(linked, *(holds_any(column, EVERYWHERE) for column in columns))
        self._select = Statement(select(table.c.id, linked, *columns).where(held))
        this = table.c.id == param("id", table.c.id)
        values = {name: param(name, table.c[name]) for name in (*self._names, *self._forms)}
        self._put = Statement(
            delete(table).where(this) if goes else update(table).where(this).values(values)
        )

    def dirty(self, tx: Tx, cleaning: Cleaning) -> list[tuple[str, dict[str, Any]]]:
        """Ids of rows that a redaction would change, with the redacted values."""
        found = []
        params = link_params(cleaning.target)
        params["ids"] = jsontext.dump(list(cleaning.target.memories))
        for id_, linked, *values in tx.fetch(self._select, params):
            before = dict(zip(self._names, values, strict=True))
            traces = self._traces(cleaning, id_) if linked else cleaning.sure
            after = {n: self._fresh(n, text, traces) for n, text in before.items()}
            if after != before:
                found.append((id_, after))
        return found

    def put(self, tx: Tx, id_: str, fresh: Mapping[str, Any]) -> None:
        """Update a row, or delete it."""
        forms = {name: normal_form(fresh[text] or "") for name, text in self._forms.items()}
        tx.run(self._put, {"id": id_, **fresh, **forms})

    def _traces(self, cleaning: Cleaning, id_: str) -> Traces:
        return cleaning.of_person(id_) if self.table is people else cleaning.of_chat(id_)

    def _fresh(self, name: str, text: str | None, traces: Traces) -> str | None:
        if text is None or name not in self._json:
            return text and traces.replaced(text)
        value = jsontext.load(text)
        cleaned = traces.cleaned(value)
        return text if cleaned == value else jsontext.dump(cleaned)


# Aliases and relationships of the target are deleted elsewhere; those of others are searched for
# unambiguous identifiers.
_NOT_LINKED: ColumnElement[bool] = literal_column("false")
_OWNED = or_(AmongTexts(_s.id, AGENTS), by_user(_s.created_by_kind, _s.created_by_id))
_OF_LINKED = or_(
    AmongTexts(_o.memory_id, param("ids")),
    exists().where(memories.c.id == _o.memory_id, MEMORY_IN_PLACES),
)
PLACES_OF_TEXT = (
    TextPlace(named_chats, AmongTexts(named_chats.c.id, PLACES), ("title",)),
    TextPlace(agents, _OWNED, ("name", "description"), json=("metadata",)),
    TextPlace(runs, AmongTexts(runs.c.agent_id, AGENTS), ("error",), json=("metadata",)),
    TextPlace(
        people,
        by_user(_p.created_by_kind, _p.created_by_id),
        ("name",),
        json=("metadata",),
        forms={"normal_name": "name"},
    ),
    TextPlace(approvals, _OF_LINKED, ("justification",)),
    TextPlace(person_aliases, _NOT_LINKED, ("value",), goes=True),
    TextPlace(person_relationships, _NOT_LINKED, ("relationship",), goes=True),
)
