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

from recollect.db.engines.expressions import InTextList
from recollect.db.statements import Query, param
from recollect.db.tables.memories import approvals, memories
from recollect.db.tables.people import (
    agents,
    named_chats,
    people,
    person_aliases,
    person_relationships,
    person_versions,
    runs,
)
from recollect.db.transaction import Tx
from recollect.erasure.identifier_matcher import IdentifierMatcher
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.redact_text import redact, redact_json_text
from recollect.erasure.store.links_sql import (
    AGENTS,
    EVERYWHERE,
    MEMORY_IN_CONVERSATIONS,
    PLACES,
    link_params,
    user_clause,
)
from recollect.erasure.store.needles_sql import contains_any
from recollect.kernel import strict_json
from recollect.people.model import normal_form

_s, _p, _o = agents.c, people.c, approvals.c


class RedactableTexts:
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
        condition = or_(linked, *(contains_any(column, EVERYWHERE) for column in columns))
        self._select = Query(select(table.c.id, linked, *columns).where(condition))
        this = table.c.id == param("id", table.c.id)
        values = {name: param(name, table.c[name]) for name in (*self._names, *self._forms)}
        self._put = Query(
            delete(table).where(this) if goes else update(table).where(this).values(values)
        )

    def find_unredacted(self, tx: Tx, plan: RedactionPlan) -> list[tuple[str, dict[str, Any]]]:
        """Ids of rows that a redaction would change, with the redacted values."""
        found = []
        params = link_params(plan.target)
        params["ids"] = strict_json.dump(list(plan.target.memories))
        for id_, linked, *values in tx.fetch(self._select, params):
            before = dict(zip(self._names, values, strict=True))
            matcher = self._matcher_for(plan, id_) if linked else plan.sure
            after = {
                name: redact_json_text(text, matcher)
                if name in self._json
                else redact(text, matcher)
                for name, text in before.items()
            }
            if after != before:
                found.append((id_, after))
        return found

    def redact_row(self, tx: Tx, id_: str, fresh: Mapping[str, Any]) -> None:
        """Update a row, or delete it."""
        forms = {name: normal_form(fresh[text] or "") for name, text in self._forms.items()}
        tx.run(self._put, {"id": id_, **fresh, **forms})

    def _matcher_for(self, plan: RedactionPlan, id_: str) -> IdentifierMatcher:
        if self.table in {people, person_versions}:
            # The id of a version begins with that of its person.
            return plan.matcher_for_person(id_.partition(" ")[0])
        return plan.matcher_for_chat(id_)


# Aliases and relationships of the target are deleted elsewhere; those of others are searched for
# unambiguous identifiers.
_NOT_LINKED: ColumnElement[bool] = literal_column("false")
_AGENT_LINKED = or_(InTextList(_s.id, AGENTS), user_clause(_s.created_by_kind, _s.created_by_id))
_APPROVAL_LINKED = or_(
    InTextList(_o.memory_id, param("ids")),
    exists().where(memories.c.id == _o.memory_id, MEMORY_IN_CONVERSATIONS),
)
REDACTABLE_TEXTS = (
    RedactableTexts(named_chats, InTextList(named_chats.c.id, PLACES), ("title",)),
    RedactableTexts(agents, _AGENT_LINKED, ("name", "description"), json=("metadata",)),
    RedactableTexts(runs, InTextList(runs.c.agent_id, AGENTS), ("error",), json=("metadata",)),
    RedactableTexts(
        people,
        user_clause(_p.created_by_kind, _p.created_by_id),
        ("name",),
        json=("metadata",),
        forms={"normal_name": "name"},
    ),
    RedactableTexts(
        person_versions,
        person_versions.c.person_id.in_(
            select(_p.id).where(user_clause(_p.created_by_kind, _p.created_by_id))
        ),
        ("name",),
        json=("metadata",),
        forms={"normal_name": "name"},
    ),
    RedactableTexts(approvals, _APPROVAL_LINKED, ("justification",)),
    RedactableTexts(person_aliases, _NOT_LINKED, ("value",), goes=True),
    RedactableTexts(person_relationships, _NOT_LINKED, ("relationship",), goes=True),
)
