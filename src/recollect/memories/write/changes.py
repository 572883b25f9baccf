"""Updates and deletes stored memories, in the caller's transaction.

The stored row decides in which space it lies and who may change it; nothing in the request does.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.agents.run import check_not_completed
from recollect.audit.memory_recorder import MemoryAudit, record_memory_event
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import ChatId, MemoryId, RunId
from recollect.kernel.space import Space, SpaceKind
from recollect.memories.expiry import Approval
from recollect.memories.model import (
    Memory,
    MemoryStatus,
    StoredMemory,
    VersionChange,
    is_expired,
)
from recollect.memories.store.bundle import MemoryStores
from recollect.memories.trust import derive_trust
from recollect.memories.validation import check_patch, check_validity
from recollect.memories.write.expiry_calculator import ExpiryCalculator
from recollect.memories.write.patch import (
    PreviousText,
    ScreenedPatch,
    added_pii_tags,
    check_patch_loosening,
    check_patch_self_statement,
    passes_to_others,
    patched_fields,
    patched_sensitivity,
)
from recollect.memories.write.screen import MemoryTexts, ScreeningService
from recollect.memories.write.sensitivity import SensitivityFloors
from recollect.memories.write.writer import WriteHooks
from recollect.memories.write_access import MemoryWriteAccess
from recollect.people.confirmation import confirm_writer


@dataclass(frozen=True, slots=True)
class MemoryUpdateResult:
    """The row after an update. With an `approval` it is unchanged until somebody decides."""

    stored: StoredMemory
    approval: Approval | None = None


class MemoryChanges:
    """Update and delete, and the parts of a move that concern the old row."""

    def __init__(
        self,
        stores: MemoryStores,
        audit: MemoryAudit,
        *,
        access: MemoryWriteAccess,
        screening: ScreeningService,
        expiry: ExpiryCalculator,
        hooks: WriteHooks,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._access = access
        self._screening = screening
        self._expiry = expiry
        self._hooks = hooks

    def update(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        patch: ScreenedPatch,
        at: datetime,
    ) -> MemoryUpdateResult:
        """Store the next version of an active memory. A patch that changes nothing makes none.

        If the patch asks to keep critical personal data past its cap, the whole row stays as it is
        and an approval is requested.
        """
        # The order is that of a write: existence and rights (404, 403), then what screening
        # refuses, then conflicts (409), which here are a completed run and another version.
        #
        # A patch that sends `pii_tags` needs a look at the stored texts: a tag whose data is still
        # in the text or in a version can't be removed. That look happened before the transaction;
        # it is repeated here only if the row has got another version since.
        stored = self.fetch_active(tx, requester, memory_id, at=at)
        check_patch_self_statement(stored.memory, requester, patch)
        check_patch_loosening(stored, requester, patch)
        if not patch.has_checked(stored.memory):
            patch = patch.with_detected_tags(self._load_previous_text(tx, stored, patch))
        after = self._apply_patch(tx, requester, stored, patch=patch, at=at)
        self._screening.check_storable(patch.findings, after.pii_tags)
        self._screening.check_fits(
            patch.findings,
            after.space.kind,
            sensitivity=after.sensitivity,
            pii_tags=added_pii_tags(stored.memory, after, patch),
        )
        self._check_run_open(tx, stored)
        _check_version(stored, patch.command.version)
        until = self._expiry.needed_extension(after) if patch.sets_expiry else None
        if until is not None:
            approval = self._hooks.approvals.request(tx, requester, stored, until=until, at=at)
            return MemoryUpdateResult(stored, approval)
        self._confirm_writer(tx, requester, after.space, at=at)
        return MemoryUpdateResult(
            self._store_version(tx, requester, stored, after=after, patch=patch, at=at)
        )

    def _confirm_writer(self, tx: Tx, requester: Requester, space: Space, *, at: datetime) -> None:
        chat = (
            self._stores.chats.fetch(tx, ChatId(space.id)) if space.kind is SpaceKind.CHAT else None
        )
        if chat is not None:
            confirm_writer(tx, self._stores, requester, chat, at=at)

    def delete(
        self,
        tx: Tx,
        requester: Requester,
        memory_id: MemoryId,
        *,
        at: datetime,
        version: int | None = None,
        event_id: str | None = None,
    ) -> None:
        """Delete the row with its versions, index rows and edges. NotFound the second time."""
        stored = self._access.lock_for_change(tx, requester, memory_id)
        _check_version(stored, version)
        self.remove(tx, stored, at=at)
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.delete",
            memory=stored.memory,
            event_id=event_id,
            reason="request",
        )

    def fetch_active(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, *, at: datetime
    ) -> StoredMemory:
        """An active, unexpired memory that the caller may change, locked.

        Raises NotFound, Forbidden, or Conflict for another status.
        """
        stored = self._access.lock_for_change(tx, requester, memory_id)
        if is_expired(at, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        if stored.memory.status is not MemoryStatus.ACTIVE:
            message = f"the memory is {stored.memory.status}; only an active one can be changed"
            raise Conflict(message, details={"reason": "wrong_state"})
        return stored

    def load_previous_text(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, *, patch: ScreenedPatch
    ) -> PreviousText | None:
        """The texts that a patch of `pii_tags` must be checked against. None if the caller may not
        change the memory: the update itself then raises the right error."""
        stored = self._stores.memories.fetch(tx, memory_id)
        if stored is None or not self._access.can_change(tx, requester, stored):
            return None
        return self._load_previous_text(tx, stored, patch)

    def _load_previous_text(
        self, tx: Tx, stored: StoredMemory, patch: ScreenedPatch
    ) -> PreviousText:
        """Earlier versions are loaded only if a tag would be removed: histories may be long."""
        if not patch.drops_detected_tags(stored.memory):
            return PreviousText(stored.memory, ())
        versions = self._stores.memories.versions(tx, [stored.memory.id])
        kept = [version.snapshot for version in reversed(versions) if version.snapshot is not None]
        return PreviousText(stored.memory, kept)

    def _check_run_open(self, tx: Tx, stored: StoredMemory) -> None:
        """Raise Conflict if the memory lies in a completed run: such memories can only be deleted
        or moved."""
        space = stored.memory.space
        if space.kind is not SpaceKind.RUN:
            return
        run = self._stores.runs.fetch(tx, RunId(space.id))
        if run is not None:
            check_not_completed(run)

    def _apply_patch(
        self,
        tx: Tx,
        requester: Requester,
        stored: StoredMemory,
        *,
        patch: ScreenedPatch,
        at: datetime,
    ) -> Memory:
        """The row after the patch, with its expiry. Who changes the text becomes its
        `stated_by`."""
        before, command = stored.memory, patch.command
        check_patch(before.kind, command.model_fields_set)
        subjects = before.subjects
        if command.subjects is not None:
            names, chat_id = tuple(command.subjects), before.learned_in
            people = self._hooks.people
            subjects = people.resolve(tx, requester, names, chat_id).ids if names else ()
        speaker = requester.person_id if patch.changes_text(before) else before.stated_by
        # Trust is derived again only if speaker or subjects change: a repeat by a subject may have
        # raised it to a fact, which these two fields alone don't show.
        same = speaker == before.stated_by and set(subjects) == set(before.subjects)
        after = replace(before, **patched_fields(before, patch))
        if command.sends("retention_policy"):
            name = command.retention_policy
            if name is not None:
                self._expiry.rules.require_policy(name, before.space.scope)
            after = replace(after, retention_policy=name)
        after = replace(
            after,
            subjects=tuple(subjects),
            stated_by=speaker,
            trust=before.trust if same else derive_trust(speaker, subjects),
            updated_at=at,
        )
        floors = self._floors(requester, patch, before=before, after=after)
        sensitivity = patched_sensitivity(before, after, requester, patch, floors)
        after = replace(after, sensitivity=sensitivity)
        check_validity(after.valid_from, after.valid_until)
        if self._screening.should_quarantine(patch.findings):
            after = replace(after, status=MemoryStatus.QUARANTINED)
        return self._expiry.apply(after).memory

    def _floors(
        self, requester: Requester, patch: ScreenedPatch, *, before: Memory, after: Memory
    ) -> SensitivityFloors:
        """The lowest sensitivity that the patch allows: by what it brings, and by all texts if the
        memory is about others from now on."""
        if passes_to_others(before, after, requester):
            return self._screening.find_floors(MemoryTexts.from_memory(after), after.pii_tags)
        added = added_pii_tags(before, after, patch)
        return self._screening.with_tags(patch.findings.floors, added)

    def _store_version(
        self,
        tx: Tx,
        requester: Requester,
        stored: StoredMemory,
        *,
        after: Memory,
        patch: ScreenedPatch,
        at: datetime,
    ) -> StoredMemory:
        # `stored` gets the changed columns beside the memory; `seen` stays the row before the
        # patch, with which index and graph compare.
        seen, before = stored, stored.memory
        if replace(after, updated_at=before.updated_at) == before:
            return stored
        after = replace(after, version=before.version + 1)
        if {"content", "value"} & patch.field_names:
            suspicion = patch.findings.suspicion
            stored = replace(
                stored,
                suspicion=suspicion.score,
                suspicion_reasons=suspicion.reasons,
                folded=patch.findings.folded,
            )
        if "subjects" in patch.field_names:
            stored = replace(stored, bare_names=())
        if passes_to_others(before, after, requester):
            stored = replace(stored, privacy_said=False)
        if {
            "sensitivity",
            "portable",
        } & patch.field_names and requester.person_id in after.subjects:
            stored = replace(stored, privacy_said=True)
        by = requester.identity
        kept = self._stores.memories.update(
            tx, stored, after, change=VersionChange.UPDATED, by=by, at=at
        )
        self._index_and_audit(tx, requester, kept, seen=seen, patch=patch)
        return kept

    def _index_and_audit(
        self,
        tx: Tx,
        requester: Requester,
        stored: StoredMemory,
        *,
        seen: StoredMemory,
        patch: ScreenedPatch,
    ) -> None:
        memory = stored.memory
        # A patch can turn an active memory into a suspicious one. Then it leaves index and graph in
        # the same transaction, and comes back when somebody releases it.
        if memory.status is MemoryStatus.QUARANTINED:
            self._hooks.indexer.drop(tx, memory.id)
            self._hooks.graph.delete_edges(tx, memory.id)
            details: dict[str, Any] = {
                "score": stored.suspicion,
                "reasons": list(stored.suspicion_reasons),
            }
            record_memory_event(
                self._audit, tx, requester, event_type="memory.quarantine", memory=memory, **details
            )
        else:
            # The screened text of a record has no key, so its words are not those of the content.
            # None makes the indexer take them from the content.
            if memory.content != seen.memory.content:
                words = patch.findings.words if "content" in patch.field_names else None
                self._hooks.indexer.write(tx, stored, words)
            self._hooks.graph.update_edges(tx, seen, stored)
        record_memory_event(
            self._audit,
            tx,
            requester,
            event_type="memory.update",
            memory=memory,
            event_id=patch.event_id,
            fields=sorted(patch.field_names),
        )

    def remove(self, tx: Tx, stored: StoredMemory, *, at: datetime) -> None:
        """Delete the row with all that belongs to it; raises NotFound if it is gone already."""
        if not self._stores.memories.delete(tx, stored.memory.id, at=at):
            raise NotFound("memory", stored.memory.id)


def _check_version(stored: StoredMemory, seen: int | None) -> None:
    version = stored.memory.version
    if seen not in (None, version):
        details = {"reason": "version", "version": version}
        raise Conflict("the memory has another version now", details=details)
