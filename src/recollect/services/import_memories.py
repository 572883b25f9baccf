"""Memories of an import, each with what stands behind it, in the caller's transaction.

Ids and times are kept. What only the server can know of a memory is believed from an admin; from
others it is made anew: they speak for themselves.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.domain.agents import AgentId
from recollect.domain.disclosure import PersonId
from recollect.domain.memories import (
    Kind,
    Memory,
    MemoryId,
    MemoryType,
    Origin,
    Source,
    Status,
)
from recollect.domain.memory_checks import check_loosening
from recollect.domain.portable import LineType
from recollect.domain.portable_members import Values
from recollect.domain.spaces import ChatId, Space, SpaceKind
from recollect.domain.trust import trust_of
from recollect.errors import Conflict, ValidationFailed
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.people import Seat
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.import_links import check_no_circle
from recollect.services.import_orders import Group, ImportMode, ImportOrder, Line, Outcome
from recollect.services.import_places import ImportPlaces
from recollect.services.import_terms import (
    approved_until,
    check_times,
    lowest,
    stored_status,
    termed,
    told,
)
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks
from recollect.services.naming import visible_people
from recollect.services.screening import Findings, Screening

_KEPT = (
    "observed_at",
    "retention_policy",
    "requested_expires_at",
    "explicit_expires_at",
    "valid_from",
    "valid_until",
    "retracted_at",
    "superseded_by",
    "source_agent",
    "run_id",
    "parent_run_id",
    "archive_reason",
    "confidence",
)
_UNFOUND = frozenset({Status.QUARANTINED, Status.ARCHIVED})


class MemoryImports:
    """Places, screens and stores."""

    def __init__(
        self,
        stores: Stores,
        runtime: Runtime,
        *,
        places: ImportPlaces,
        access: MemoryAccess,
        screening: Screening,
        terms: Terms,
        hooks: Hooks,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._places = places
        self._access = access
        self._screening = screening
        self._terms = terms
        self._hooks = hooks

    def put(self, tx: Tx, order: ImportOrder, group: Group, findings: Findings) -> Counter[Outcome]:
        """What became of the memory and of the lines behind it, which go where it goes."""
        space, agent_id = self._places.find(tx, order, group.head.values)
        stored = self._stored(tx, order, group, findings, (space, agent_id))
        memory = stored.memory
        self._screening.admit(
            findings, space.kind, sensitivity=memory.sensitivity, pii_tags=memory.pii_tags
        )
        outcome = self._outcome(tx, order, stored)
        check_no_circle(tx, self._stores, order, memory)
        behind = self._behind(order, group)
        if outcome is Outcome.SKIPPED:
            return Counter({outcome: 1 + len(group.behind)})
        if order.dry_run:
            order.foreseen.add(LineType.MEMORY, {}, memory.id)
            order.foreseen.add_links(memory)
        else:
            self._write(tx, stored, behind, findings=findings, replaces=outcome is Outcome.UPDATED)
        kept = Counter({outcome: 1 + len(behind)})
        return kept + Counter({Outcome.SKIPPED: len(group.behind) - len(behind)})

    def _outcome(self, tx: Tx, order: ImportOrder, stored: Stored) -> Outcome:
        """A row of the same id: the stored one says whether the importer may touch it."""
        memory = stored.memory
        if order.foreseen.has(LineType.MEMORY, memory.id):
            raise _duplicate_id()
        known = self._stores.memories.fetch(tx, memory.id, lock=not order.dry_run)
        if known is None:
            return Outcome.CREATED
        requester = order.requester
        own = requester.admin or self._access.is_theirs(tx, requester, known)
        if order.mode is ImportMode.FAIL or not own or known.erasure_id is not None:
            raise _duplicate_id()
        if known.memory.space != memory.space:
            raise ValidationFailed.of("space", "can't be changed by an import")
        if not requester.admin:
            check_loosening(
                known.memory,
                requester.person_id,
                sensitivity=memory.sensitivity,
                portable=memory.portable,
            )
        later = memory.updated_at > known.memory.updated_at
        return Outcome.UPDATED if later or order.mode is ImportMode.REPLACE else Outcome.SKIPPED

    def _behind(self, order: ImportOrder, group: Group) -> list[Line]:
        """Of the lines behind the memory those that count. Others than admins bring no approvals,
        and changed what they bring themselves."""
        requester = order.requester
        if requester.admin:
            return list(group.behind)
        mine = (line for line in group.behind if line.type is not LineType.APPROVAL)
        return [replace(line, values=line.values | {"by": requester.who}) for line in mine]

    def _write(
        self,
        tx: Tx,
        stored: Stored,
        behind: Sequence[Line],
        *,
        findings: Findings,
        replaces: bool,
    ) -> None:
        memory = stored.memory
        if replaces:
            self._stores.memories.delete(tx, memory.id, at=memory.updated_at)
        self._stores.portable.forget_removal(tx, memory.id)
        kept = self._stores.memories.insert(tx, stored)
        if kept is None:
            raise _duplicate_id()
        for line in behind:
            self._stores.portable.put(tx, line.type, line.values | {"space": memory.space})
        if memory.status is not Status.QUARANTINED and stored.compacted_at is None:
            self._hooks.indexer.write(tx, kept, findings.words)
        drawn = any(line.type is LineType.RELATION for line in behind)
        if not drawn and memory.status not in _UNFOUND and stored.compacted_at is None:
            self._hooks.graph.draw(tx, kept)

    def _stored(
        self,
        tx: Tx,
        order: ImportOrder,
        group: Group,
        findings: Findings,
        place: tuple[Space, AgentId | None],
    ) -> Stored:
        values, admin = group.head.values, order.requester.admin
        subjects, bare_names = self._people(tx, order, values)
        memory = self._memory(
            tx, order, group.head.values | {"subjects": subjects}, findings, place
        )
        if self._is_suspect(order, values, findings):
            memory = replace(memory, status=Status.QUARANTINED)
        approved = approved_until(group) if admin else None
        compacted = values["compacted_at"] is not None
        score, reasons = values["suspicion"] or 0.0, tuple(values["suspicion_reasons"] or ())
        if not compacted:
            score, reasons = findings.suspicion.score, findings.suspicion.reasons
        by = values["written_by"] if admin else None
        return Stored(
            memory=termed(self._terms, replace(memory, approved_expires_at=approved), values),
            written_by=by or order.requester.who,
            bare_names=bare_names,
            status_at=values["status_at"] or memory.updated_at,
            import_id=order.id,
            privacy_said=bool(admin and values["privacy_said"]),
            suspicion=score,
            suspicion_reasons=reasons,
            used_at=values["used_at"],
            compacted_at=values["compacted_at"],
        )

    def _memory(
        self,
        tx: Tx,
        order: ImportOrder,
        values: Values,
        findings: Findings,
        place: tuple[Space, AgentId | None],
    ) -> Memory:
        (space, agent_id), texts = place, findings.texts
        created = values["created_at"] or order.at
        compacted = values["compacted_at"] is not None
        members: dict[str, Any] = {name: values[name] for name in _KEPT}
        inside = space.kind not in (SpaceKind.USER, SpaceKind.CHAT)
        members |= {
            "id": values["id"] or MemoryId(self._runtime.ids.new()),
            "kind": Kind.STATEMENT if values["key"] is None else Kind.RECORD,
            "content": "" if compacted else texts.content,
            "key": texts.key,
            "value": values["value"] if compacted else texts.value,
            "messages": texts.messages,
            "space": space,
            "agent_id": agent_id if inside else None,
            "org_id": values["org_id"] if inside else None,
            "source_agent": values["source_agent"] or (None if inside else agent_id),
            "type": values["memory_type"] or MemoryType.KNOWLEDGE,
            "sensitivity": values["sensitivity"] or lowest(space, findings),
            "portable": values["portable"] is not False,
            "subjects": values["subjects"],
            "tags": texts.tags,
            "metadata": texts.metadata,
            "pii_tags": findings.tagged(values["pii_tags"]),
            "created_at": created,
            "updated_at": values["updated_at"] or created,
            "observed_at": values["observed_at"] or created,
            "supersedes": tuple(values["supersedes"] or ()),
            "repeats": values["repeats"] or 0,
            "version": values["version"] or 1,
            "source": values["source"] or Source.IMPORT,
            "source_entries": tuple(dict.fromkeys(values["source_entries"] or ())),
            "source_memories": tuple(dict.fromkeys(values["source_memories"] or ())),
            "status": stored_status(values["status"]),
            "verified": values["verified"] is not False,
        }
        return Memory(**members, **self._origin(tx, order, values, members))

    def _origin(
        self, tx: Tx, order: ImportOrder, values: Values, members: Values
    ) -> dict[str, Any]:
        """Who said it where. Others than admins name themselves, and chats where they take part."""
        said, chat = values["stated_by"], values["learned_in"]
        conflicts = tuple(values["conflicts_with"] or ())
        if order.requester.admin:
            trust = values["trust"] or trust_of(said, members["subjects"])
            origin = values["origin"] or Origin.UNKNOWN
            return told(said, chat, origin, trust) | {"conflicts_with": conflicts}
        check_times(members, order.at)
        said = said if said == order.requester.person_id else None
        seat = Seat.of(order.requester)
        if chat is not None and not self._stores.chats.takes_part(tx, ChatId(chat), seat):
            chat = None
        origin = values["origin"] or Origin.UNKNOWN
        if origin is Origin.CHAT and chat is None:
            origin = Origin.UNKNOWN
        own = self._own(tx, order, conflicts)
        trust = trust_of(said, members["subjects"])
        return told(said, chat, origin, trust) | {"conflicts_with": own}

    def _own(self, tx: Tx, order: ImportOrder, ids: Sequence[MemoryId]) -> tuple[MemoryId, ...]:
        """A conflict is written on both sides, so both must be the importer's."""
        found = self._stores.keeping.fetch_many(tx, ids) if ids else []
        own = {row.memory.id for row in found if self._access.is_theirs(tx, order.requester, row)}
        return tuple(id_ for id_ in ids if id_ in own)

    def _people(
        self, tx: Tx, order: ImportOrder, values: Values
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Subjects whom the importer may know, by their canonical ids, and the names of others:
        an import resolves nobody."""
        sent = values["subjects"]
        ids, requester = [PersonId(one) for one in sent], order.requester
        fetch, shown = self._stores.people.fetch_many, visible_people
        known = fetch(tx, ids) if requester.admin else shown(tx, self._stores, requester, ids)
        led = {str(id_): str(person.id) for id_, person in known.items()}
        led |= {one: one for one in sent if order.foreseen.has(LineType.PERSON, one)}
        people = dict.fromkeys(led[one] for one in sent if one in led)
        names = dict.fromkeys((*values["bare_names"], *(one for one in sent if one not in led)))
        return tuple(people), tuple(names)

    def _is_suspect(self, order: ImportOrder, values: Values, findings: Findings) -> bool:
        """An admin's line may tell that it was set aside before and released."""
        if values["status"] not in (None, Status.ACTIVE, Status.EXPIRED):
            return False
        suspect = self._screening.is_suspect(findings)
        known = (values["suspicion"] or 0) >= findings.suspicion.score
        return suspect and not (order.requester.admin and known)


def _duplicate_id() -> Conflict:
    return Conflict("a memory with this id exists", details={"reason": "duplicate_id"})
