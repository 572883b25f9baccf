"""Import of memories, each with its versions, relations and approvals, in the caller's transaction.

Ids and times of the line are kept. Fields that only a server can know (who wrote it, how far it is
trusted, that a suspicious text was released, approvals) count in an admin's import. In anybody
else's they are computed anew, as if the importer had written the memory.
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
# Memories of these statuses have no edges in the graph.
_UNFOUND = frozenset({Status.QUARANTINED, Status.ARCHIVED})


class MemoryImports:
    """Finds the space of a memory, checks rights and content, and stores it."""

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
        """Import a memory with its parts. Raises before the memory is written if it is refused;
        refused versions are in the tally and don't stop the memory.

        The order of the checks is part of the contract:

        1. The space: does it exist for the importer, may they write it (NotFound, then Forbidden).
        2. The content, by the rules of that space. Behind 1, so that nobody probes spaces with it.
           Versions come first: tags of personal data that is only in an old version count for the
           memory, since they cap its expiry and decide whether an open space may hold it.
        3. The id: a row of the same id decides what the importer may do to it.
        4. Cycles of `supersedes`, also for a line that is then skipped.

        A dry run goes through all of them and then remembers the row instead of writing it. Last
        the links get their reason: the insert has stored them without one.
        """
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
            # The parts of a skipped memory are skipped with it, whatever was found in them.
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
        """CREATED, UPDATED or SKIPPED. The stored row of the same id, not the line, decides whether
        the importer may touch it.

        Somebody else's row, and one that is being erased, are refused with the same error as a
        taken id in mode `fail`: the importer learns that the id is taken and nothing more.
        """
        memory = stored.memory
        if order.foreseen.has(LineType.MEMORY, memory.id):
            raise _duplicate_id()
        # The lock holds off a concurrent change between this decision and the write. A dry run is
        # a read, which may not lock.
        known = self._stores.memories.fetch(tx, memory.id, lock=not order.dry_run)
        if known is None:
            return Outcome.CREATED
        requester = order.requester
        own = requester.admin or self._access.is_theirs(tx, requester, known)
        if order.mode is ImportMode.FAIL or not own or known.erasure_id is not None:
            raise _duplicate_id()
        if known.memory.space != memory.space:
            raise ValidationFailed.of("space", "can't be changed by an import")
        # An import must not do what an update may not: lower the privacy of a memory about somebody
        # else, or (below) overwrite what a subject said of themself. The first is asked even of a
        # line that is skipped, the second only of one that would write.
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
        """Delete the old row if there is one, insert the new one, then its parts and its index.

        Replacing is delete and insert, not update: an update would add a version to the history,
        while an import brings the whole history of the line. The delete, or an earlier removal, may
        have left a removal record, so that is taken back before the insert.
        """
        memory = stored.memory
        if replaces:
            self._stores.memories.delete(tx, memory.id, at=memory.updated_at)
        self._stores.portable.forget_removal(tx, memory.id)
        kept = self._stores.memories.insert(tx, stored)
        if kept is None:
            # Another transaction inserted the id since `_decide_outcome` found none. The memory has
            # written nothing but the removal record, so the batch can go on.
            raise _duplicate_id()
        for line in behind:
            self._stores.portable.put(tx, line.type, line.values | {"space": memory.space})
        if memory.status is not Status.QUARANTINED and stored.compacted_at is None:
            self._hooks.indexer.write(tx, kept, findings.words)
        # Relations that came with the memory are its graph. `draw` would end those that can't be
        # read off the text, such as what an extraction found in a conversation.
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
        """The row as it would be stored, with quarantine and expiry decided.

        Quarantine: a text that looks like a prompt injection is set aside, unless an admin's line
        carries a score at least as high. Then the text was judged before, and its `status` is the
        decision. A line without such a score may come from a server with weaker rules.
        """
        values, admin = group.head.values, order.requester.admin
        subjects, bare_names = self._people(tx, order, values)
        memory = self._memory(
            tx, order, group.head.values | {"subjects": subjects}, findings, place
        )
        findings = versions.strongest(order, group, findings)
        known = (values["suspicion"] or 0.0) >= findings.suspicion.score
        if self._screening.is_suspect(findings) and not (admin and known):
            memory = _set_aside(memory)
        # A compacted memory has no text left to be judged, so the score of the line is all there
        # is, also in the import of an owner.
        judged = known and (admin or values["compacted_at"] is not None)
        suspicion = told_suspicion(values) if judged else findings.suspicion
        approved = approved_until(group) if admin else None
        by = values["written_by"] if admin else None
        # `apply_expiry` comes last: caps depend on PII tags, policy and the approval set here.
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
        """The memory of a line. Texts come from the findings, not from the line: screening may have
        redacted them. `agent_id` and `org_id` are those of a space of an agent, run or org; in a
        user's space or a chat the agent is the source of the memory (see `source_fields`)."""
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
        """Who stated it, where, and how far that is trusted.

        An admin's line is taken as it is. Anybody else may only name themself as the speaker and
        chats in which they take part now. They can't claim that the server extracted the memory,
        nor more trust than their own statement would get. Fields that they may not set are reset,
        not refused: an owner's own export must stay importable.
        """
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
        """Canonical ids of the subjects that the importer may know, and everything else as bare
        names. An import never resolves a name to a person: the name was meant for another server's
        people. An id that is unknown or hidden becomes a bare name too, so both look alike."""
        sent = values["subjects"]
        ids, requester = [PersonId(one) for one in sent], order.requester
        fetch, shown = self._stores.people.fetch_many, visible_people
        known = fetch(tx, ids) if requester.admin else shown(tx, self._stores, requester, ids)
        # `known` maps the ids as sent to people, so an id that was merged leads to its new person.
        led = {str(id_): str(person.id) for id_, person in known.items()}
        led |= {one: one for one in sent if order.foreseen.has(LineType.PERSON, one)}
        people = dict.fromkeys(led[one] for one in sent if one in led)
        names = dict.fromkeys((*values["bare_names"], *(one for one in sent if one not in led)))
        return tuple(people), tuple(names)


def _set_aside(memory: Memory) -> Memory:
    """Quarantined, without successor and archive reason: what undoes a supersession or an archiving
    must not make it active. Only a reviewer's decision does."""
    return replace(memory, status=Status.QUARANTINED, superseded_by=None, archive_reason=None)


def _duplicate_id() -> Conflict:
    return Conflict("a memory with this id exists", details={"reason": "duplicate_id"})
