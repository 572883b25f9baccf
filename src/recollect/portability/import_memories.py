"""Import of memories, each with its versions, relations and approvals, in the caller's transaction.

Ids and times of the line are kept. Fields that only a server can know (who wrote it, how far it is
trusted, that a suspicious text was released, approvals) count in an admin's import. In anybody
else's they are computed anew, as if the importer had written the memory.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.db.transaction import Tx
from recollect.kernel.errors import Conflict, ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, ConversationId, MemoryId, PersonId
from recollect.kernel.runtime import Runtime
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.fields import PLAIN_FIELDS
from recollect.memories.model import (
    Memory,
    MemoryKind,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    StoredMemory,
)
from recollect.memories.supersede.apply import check_self_statement
from recollect.memories.trust import derive_trust
from recollect.memories.trust import lowest_trust as least_trust
from recollect.memories.validation import check_loosening
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.screen import ScreeningReport, ScreeningService
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.people.chat import ParticipantKeys
from recollect.people.name_candidates import visible_people
from recollect.portability import import_versions as versions
from recollect.portability.fields import LineValues
from recollect.portability.import_expiry import (
    apply_expiry,
    approved_expiry,
    check_times,
    imported_sensitivity,
    line_suspicion,
    provenance_fields,
    stored_status,
)
from recollect.portability.import_links import (
    ImportLinks,
    check_no_cycle,
    trusted_removals,
)
from recollect.portability.import_model import (
    ImportLine,
    ImportMode,
    ImportOrder,
    ImportOutcome,
    ImportTally,
    LineGroup,
)
from recollect.portability.import_targets import ImportTargets
from recollect.portability.lines import LineType
from recollect.portability.memory_line import line_name
from recollect.portability.store.bundle import PortabilityStores

_COPIED_FIELDS = (
    "observed_at",
    "retention_policy",
    "requested_expires_at",
    "explicit_expires_at",
    "retracted_at",
    "archive_reason",
    "confidence",
)
# Memories of these statuses have no edges in the graph.
_NOT_IN_GRAPH = frozenset({MemoryStatus.QUARANTINED, MemoryStatus.ARCHIVED})


class MemoryImporter:
    """Finds the space of a memory, checks rights and content, and stores it."""

    def __init__(
        self,
        stores: PortabilityStores,
        runtime: Runtime,
        *,
        places: ImportTargets,
        links: ImportLinks,
        access: MemoryWriteAccess,
        screening: ScreeningService,
        expiry: ExpiryCalculator,
        hooks: WriteHooks,
    ) -> None:
        self._stores = stores
        self._runtime = runtime
        self._places = places
        self._links = links
        self._access = access
        self._screening = screening
        self._expiry = expiry
        self._hooks = hooks

    def import_group(
        self, tx: Tx, order: ImportOrder, group: LineGroup, findings: ScreeningReport
    ) -> ImportTally:
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
        space, agent_id = self._places.find_space(tx, order, group.head.values)
        admitted, refused = versions.admit_lines(self._screening, order, group, space)
        group = versions.add_pii_tags(group, admitted)
        stored = self._build_stored(tx, order, group, findings, (space, agent_id))
        memory = stored.memory
        self._screening.check_allowed(
            findings, space.kind, sensitivity=memory.sensitivity, pii_tags=memory.pii_tags
        )
        outcome = self._decide_outcome(tx, order, stored)
        gaps = trusted_removals(order, group.head.values)
        check_no_cycle(tx, self._stores, order, memory, gaps=gaps)
        if outcome is ImportOutcome.SKIPPED:
            # The parts of a skipped memory are skipped with it, whatever was found in them.
            return ImportTally(outcomes=Counter({outcome: 1 + len(group.behind)}))
        behind = [
            line
            for line in versions.restrict_lines(order, admitted, stored)
            if not self._leads_elsewhere(tx, line, memory.space)
        ]
        if order.dry_run:
            order.foreseen.add_row(LineType.MEMORY, {}, memory.id)
            order.foreseen.add_links(memory, gaps)
        else:
            self._write_rows(
                tx, stored, behind, findings=findings, replaces=outcome is ImportOutcome.UPDATED
            )
            self._links.link_superseded(tx, order, memory)
            self._links.record_removed(tx, gaps)
        kept = Counter({outcome: 1 + len(behind)})
        dropped = Counter({ImportOutcome.SKIPPED: len(admitted) - len(behind)})
        return ImportTally(outcomes=kept + dropped, refused=refused)

    def _leads_elsewhere(self, tx: Tx, line: ImportLine, space: Space) -> bool:
        is_relation = line.type is LineType.RELATION
        return is_relation and self._stores.portable.leads_elsewhere(tx, line.values, space)

    def _decide_outcome(self, tx: Tx, order: ImportOrder, stored: StoredMemory) -> ImportOutcome:
        """CREATED, UPDATED or SKIPPED. The stored row of the same id, not the line, decides whether
        the importer may touch it.

        Somebody else's row, and one that is being erased, are refused with the same error as a
        taken id in mode `fail`: the importer learns that the id is taken and nothing more.
        """
        memory = stored.memory
        if order.foreseen.has_row(LineType.MEMORY, memory.id):
            raise _duplicate_id_error()
        # The lock holds off a concurrent change between this decision and the write. A dry run is
        # a read, which may not lock.
        known = self._stores.memories.fetch(tx, memory.id, lock=not order.dry_run)
        if known is None:
            return ImportOutcome.CREATED
        requester = order.requester
        own = requester.is_admin or self._access.can_change(tx, requester, known)
        if order.mode is ImportMode.FAIL or not own or known.erasure_id is not None:
            raise _duplicate_id_error()
        if known.memory.space != memory.space:
            raise ValidationFailed.for_field("space", "can't be changed by an import")
        # An import must not do what an update may not: lower the privacy of a memory about somebody
        # else, or (below) overwrite what a subject said of themself. The first is asked even of a
        # line that is skipped, the second only of one that would write.
        if not requester.is_admin:
            check_loosening(
                known.memory,
                requester.person_id,
                sensitivity=memory.sensitivity,
                portable=memory.portable,
            )
        if order.mode is not ImportMode.REPLACE and memory.updated_at <= known.memory.updated_at:
            return ImportOutcome.SKIPPED
        if not requester.is_admin:
            check_self_statement(known.memory, requester)
        return ImportOutcome.UPDATED

    def _write_rows(
        self,
        tx: Tx,
        stored: StoredMemory,
        behind: Sequence[ImportLine],
        *,
        findings: ScreeningReport,
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
        self._stores.portable.delete_removal(tx, memory.id)
        kept = self._stores.memories.insert(tx, stored)
        if kept is None:
            # Another transaction inserted the id since `_decide_outcome` found none. The memory has
            # written nothing but the removal record, so the batch can go on.
            raise _duplicate_id_error()
        for line in behind:
            self._stores.portable.put(tx, line.type, line.values | {"space": memory.space})
        if memory.status is not MemoryStatus.QUARANTINED and stored.compacted_at is None:
            self._hooks.indexer.write(tx, kept, findings.words)
        # Relations that came with the memory are its graph. `write_edges` would end those that
        # can't be read off the text, such as what an extraction found in a conversation.
        drawn = any(line.type is LineType.RELATION for line in behind)
        if not drawn and memory.status not in _NOT_IN_GRAPH and stored.compacted_at is None:
            self._hooks.graph.write_edges(tx, kept)

    def _build_stored(
        self,
        tx: Tx,
        order: ImportOrder,
        group: LineGroup,
        findings: ScreeningReport,
        place: tuple[Space, AgentId | None],
    ) -> StoredMemory:
        """The row as it would be stored, with quarantine and expiry decided.

        Quarantine: a text that looks like a prompt injection is set aside, unless an admin's line
        carries a score at least as high. Then the text was judged before, and its `status` is the
        decision. A line without such a score may come from a server with weaker rules.
        """
        values, admin = group.head.values, order.requester.is_admin
        subjects, bare_names = self._resolve_people(tx, order, values)
        known_values = values | {"subjects": subjects, "bare_names": bare_names}
        tags = findings.merge_tags(values["pii_tags"])
        floors = self._screening.with_tags(findings.floors, tags)
        sensitivity = imported_sensitivity(known_values, floors, place[0], order.requester)
        memory = self._build_memory(
            tx, order, known_values | {"sensitivity": sensitivity}, findings, place
        )
        findings = versions.strongest_findings(order, group, findings)
        known = (values["suspicion"] or 0.0) >= findings.suspicion.score
        if self._screening.should_quarantine(findings) and not (admin and known):
            memory = _quarantine(memory)
        # A compacted memory has no text left to be judged, so the score of the line is all there
        # is, also in the import of an owner.
        judged = known and (admin or values["compacted_at"] is not None)
        suspicion = line_suspicion(values) if judged else findings.suspicion
        approved = approved_expiry(group) if admin else None
        by = values["written_by"] if admin else None
        # `apply_expiry` comes last: caps depend on PII tags, policy and the approval set here.
        return StoredMemory(
            memory=apply_expiry(
                self._expiry, replace(memory, approved_expires_at=approved), values
            ),
            written_by=by or order.requester.identity,
            bare_names=bare_names,
            status_at=values["status_at"] or memory.updated_at,
            import_id=order.id,
            privacy_said=bool(admin and values["privacy_said"]),
            suspicion=suspicion.score,
            suspicion_reasons=suspicion.reasons,
            used_at=values["used_at"],
            compacted_at=values["compacted_at"],
        )

    def _build_memory(
        self,
        tx: Tx,
        order: ImportOrder,
        values: LineValues,
        findings: ScreeningReport,
        place: tuple[Space, AgentId | None],
    ) -> Memory:
        """The memory of a line. Texts come from the findings, not from the line: screening may have
        redacted them. `agent_id` and `org_id` are those of a space of an agent, run or org; in a
        user's space or a chat the agent is the source of the memory (see `source_fields`)."""
        (space, agent_id), texts = place, findings.texts
        created = values["created_at"] or order.at
        compacted = values["compacted_at"] is not None
        members: dict[str, Any] = {name: values[name] for name in _COPIED_FIELDS}
        for field in PLAIN_FIELDS:
            value = values[line_name(field)]
            members[field.name] = field.default if value is None else value
        inside = space.kind not in (SpaceKind.USER, SpaceKind.CHAT)
        members |= {
            "id": values["id"] or MemoryId(self._runtime.ids.new()),
            "kind": MemoryKind.STATEMENT if values["key"] is None else MemoryKind.RECORD,
            "content": "" if compacted else texts.content,
            "key": texts.key,
            "value": values["value"] if compacted else texts.value,
            "messages": texts.messages,
            "space": space,
            "agent_id": agent_id if inside else None,
            "org_id": values["org_id"] if inside else None,
            "sensitivity": values["sensitivity"],
            "portable": values["portable"] is not False,
            "subjects": values["subjects"],
            "tags": texts.tags,
            "metadata": texts.metadata,
            "pii_tags": findings.merge_tags(values["pii_tags"]),
            "created_at": created,
            "updated_at": values["updated_at"] or created,
            "observed_at": values["observed_at"] or created,
            "repeats": values["repeats"] or 0,
            "version": values["version"] or 1,
            **self._places.source_fields(tx, order, values, place),
            **self._links.resolve_links(tx, order, values, space),
            "status": stored_status(values["status"]),
            "verified": values["verified"] is not False,
        }
        return Memory(**members, **self._origin_fields(tx, order, values, members))

    def _origin_fields(
        self, tx: Tx, order: ImportOrder, values: LineValues, members: LineValues
    ) -> dict[str, Any]:
        """Who stated it, where, and how far that is trusted.

        An admin's line is taken as it is. Anybody else may only name themself as the speaker and
        chats in which they take part now. They can't claim that the server extracted the memory,
        nor more trust than their own statement would get. Fields that they may not set are reset,
        not refused: an owner's own export must stay importable.
        """
        stated_by, (chat, branch) = values["stated_by"], self._learned_in(tx, order, values)
        origin = values["origin"] or MemoryOrigin.UNKNOWN
        source = values["source"] or MemorySource.IMPORT
        if order.requester.is_admin:
            trust = values["trust"] or derive_trust(stated_by, members["subjects"])
            known = provenance_fields(stated_by, chat, origin, trust)
            return known | {"learned_in_conversation": branch, "source": source}
        check_times(members, order.at)
        stated_by = stated_by if stated_by == order.requester.person_id else None
        if origin is MemoryOrigin.CHAT and chat is None:
            origin = MemoryOrigin.UNKNOWN
        if source is MemorySource.EXTRACTION:
            source = MemorySource.IMPORT
        own = derive_trust(stated_by, members["subjects"])
        trust = least_trust((own, values["trust"] or own))
        known = provenance_fields(stated_by, chat, origin, trust)
        return known | {"learned_in_conversation": branch, "source": source}

    def _learned_in(
        self, tx: Tx, order: ImportOrder, values: LineValues
    ) -> tuple[ChatId | None, ConversationId | None]:
        """The chat of the line, and the conversation of its tree. Whoever is no admin may name the
        chats in which they take part now, and conversations of these."""
        if values["learned_in"] is None:
            return None, None
        chats, sent = self._stores.chats, ChatId(values["learned_in"])
        chat, branch = chats.canonical_id(tx, sent), values["learned_in_conversation"]
        branch = branch or (ConversationId(sent) if sent != chat else None)
        if not order.requester.is_admin:
            keys = ParticipantKeys.for_requester(order.requester)
            if not chats.is_participant(tx, chat, keys):
                return None, None
            branch = branch if branch and chats.find_tree(tx, ChatId(branch)) == chat else None
        return chat, branch

    def _resolve_people(
        self, tx: Tx, order: ImportOrder, values: LineValues
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Canonical ids of the subjects that the importer may know, and everything else as bare
        names. An import never resolves a name to a person: the name was meant for another server's
        people. An id that is unknown or hidden becomes a bare name too, so both look alike."""
        sent = values["subjects"]
        ids, requester = [PersonId(one) for one in sent], order.requester
        fetch, visible = self._stores.people.fetch_many, visible_people
        known = fetch(tx, ids) if requester.is_admin else visible(tx, self._stores, requester, ids)
        # `known` maps the ids as sent to people, so an id that was merged leads to its new person.
        led = {str(id_): str(person.id) for id_, person in known.items()}
        led |= {one: one for one in sent if order.foreseen.has_row(LineType.PERSON, one)}
        people = dict.fromkeys(led[one] for one in sent if one in led)
        names = dict.fromkeys((*values["bare_names"], *(one for one in sent if one not in led)))
        return tuple(people), tuple(names)


def _quarantine(memory: Memory) -> Memory:
    """Quarantined, without successor and archive reason: what undoes a supersession or an archiving
    must not make it active. Only a reviewer's decision does."""
    return replace(memory, status=MemoryStatus.QUARANTINED, superseded_by=None, archive_reason=None)


def _duplicate_id_error() -> Conflict:
    return Conflict("a memory with this id exists", details={"reason": "duplicate_id"})
