"""Memories of an import, each with what stands behind it, in the caller's transaction.

Ids and times are kept. What only the server can know of a memory is believed from an admin, also
that a suspicious text was released; from others it is made anew: they speak for themselves.
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
from recollect.domain.trust import lowest as least_trust
from recollect.domain.trust import trust_of
from recollect.errors import Conflict, ValidationFailed
from recollect.ports.database import Tx
from recollect.ports.memories import Stored
from recollect.ports.people import Seat
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services import import_versions as versions
from recollect.services.import_links import ImportLinks, check_no_circle, told_gaps
from recollect.services.import_orders import (
    Group,
    ImportMode,
    ImportOrder,
    Line,
    Outcome,
    Tally,
)
from recollect.services.import_places import ImportPlaces
from recollect.services.import_terms import (
    approved_until,
    check_times,
    lowest,
    stored_status,
    termed,
    told,
    told_suspicion,
)
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks
from recollect.services.naming import visible_people
from recollect.services.screening import Findings, Screening
from recollect.services.superseding import check_own_word

_KEPT = (
    "observed_at",
    "retention_policy",
    "requested_expires_at",
    "explicit_expires_at",
    "valid_from",
    "valid_until",
    "retracted_at",
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
        links: ImportLinks,
        access: MemoryAccess,
        screening: Screening,
        terms: Terms,
        hooks: Hooks,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._places = places
        self._links = links
        self._access = access
        self._screening = screening
        self._terms = terms
        self._hooks = hooks

    def put(self, tx: Tx, order: ImportOrder, group: Group, findings: Findings) -> Tally:
        """What became of the memory and of the lines behind it, which go where it goes."""
        space, agent_id = self._places.find(tx, order, group.head.values)
        admitted, refused = versions.admitted(self._screening, group.behind, space)
        group = versions.tagged(group, admitted)
        stored = self._stored(tx, order, group, findings, (space, agent_id))
        memory = stored.memory
        self._screening.admit(
            findings, space.kind, sensitivity=memory.sensitivity, pii_tags=memory.pii_tags
        )
        outcome = self._outcome(tx, order, stored)
        gaps = told_gaps(order, group.head.values)
        check_no_circle(tx, self._stores, order, memory, gaps=gaps)
        if outcome is Outcome.SKIPPED:
            return Tally(outcomes=Counter({outcome: 1 + len(group.behind)}))
        behind = versions.brought(order, admitted, stored)
        if order.dry_run:
            order.foreseen.add(LineType.MEMORY, {}, memory.id)
            order.foreseen.add_links(memory, gaps)
        else:
            self._write(tx, stored, behind, findings=findings, replaces=outcome is Outcome.UPDATED)
            self._links.vouch(tx, order, memory)
            self._links.bridge(tx, gaps)
        kept = Counter({outcome: 1 + len(behind)})
        dropped = Counter({Outcome.SKIPPED: len(admitted) - len(behind)})
        return Tally(outcomes=kept + dropped, refused=refused)

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
        if order.mode is not ImportMode.REPLACE and memory.updated_at <= known.memory.updated_at:
            return Outcome.SKIPPED
        if not requester.admin:
            check_own_word(known.memory, requester)
        return Outcome.UPDATED

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
        findings = versions.strongest(order, group, findings)
        known = (values["suspicion"] or 0.0) >= findings.suspicion.score
        if self._screening.is_suspect(findings) and not (admin and known):
            memory = _set_aside(memory)
        judged = known and (admin or values["compacted_at"] is not None)
        suspicion = told_suspicion(values) if judged else findings.suspicion
        approved = approved_until(group) if admin else None
        by = values["written_by"] if admin else None
        return Stored(
            memory=termed(self._terms, replace(memory, approved_expires_at=approved), values),
            written_by=by or order.requester.who,
            bare_names=bare_names,
            status_at=values["status_at"] or memory.updated_at,
            import_id=order.id,
            privacy_said=bool(admin and values["privacy_said"]),
            suspicion=suspicion.score,
            suspicion_reasons=suspicion.reasons,
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
            "repeats": values["repeats"] or 0,
            "version": values["version"] or 1,
            **self._places.ties(tx, order, values, place),
            **self._links.told(tx, order, values, space),
            "status": stored_status(values["status"]),
            "verified": values["verified"] is not False,
        }
        return Memory(**members, **self._origin(tx, order, values, members))

    def _origin(
        self, tx: Tx, order: ImportOrder, values: Values, members: Values
    ) -> dict[str, Any]:
        """Who said it where. Others than admins name themselves, and chats where they take part;
        nothing of theirs was found by the server, or is known better than what they say."""
        said, chat = values["stated_by"], values["learned_in"]
        origin = values["origin"] or Origin.UNKNOWN
        source = values["source"] or Source.IMPORT
        if order.requester.admin:
            trust = values["trust"] or trust_of(said, members["subjects"])
            return told(said, chat, origin, trust) | {"source": source}
        check_times(members, order.at)
        said = said if said == order.requester.person_id else None
        seat = Seat.of(order.requester)
        if chat is not None and not self._stores.chats.takes_part(tx, ChatId(chat), seat):
            chat = None
        if origin is Origin.CHAT and chat is None:
            origin = Origin.UNKNOWN
        if source is Source.EXTRACTION:
            source = Source.IMPORT
        own = trust_of(said, members["subjects"])
        trust = least_trust((own, values["trust"] or own))
        return told(said, chat, origin, trust) | {"source": source}

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


def _set_aside(memory: Memory) -> Memory:
    """Nothing that goes away can bring it back: it waits for a decision of its own."""
    return replace(memory, status=Status.QUARANTINED, superseded_by=None, archive_reason=None)


def _duplicate_id() -> Conflict:
    return Conflict("a memory with this id exists", details={"reason": "duplicate_id"})
