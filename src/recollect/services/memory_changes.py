"""Updates and deletes stored memories, in the caller's transaction.

The stored row decides in which space it lies and who may change it; nothing in the request does.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from recollect.domain.expiry import Approval, is_due
from recollect.domain.memories import (
    Memory,
    MemoryId,
    Status,
)
from recollect.domain.memory_checks import (
    check_patch,
    check_validity,
)
from recollect.domain.runs import check_open
from recollect.domain.spaces import RunId, SpaceKind
from recollect.domain.trust import trust_of
from recollect.errors import Conflict, NotFound
from recollect.policy.requesters import Requester
from recollect.ports.database import Tx
from recollect.ports.memories import Change, Stored
from recollect.ports.stores import Stores
from recollect.services.drafts import Members
from recollect.services.memory_access import MemoryAccess
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import tell_of
from recollect.services.memory_patches import (
    Patch,
    Told,
    changed_sensitivity,
    check_patch_loosening,
    check_patch_of_own_word,
    plain_changes,
)
from recollect.services.memory_terms import Terms
from recollect.services.memory_writing import Hooks
from recollect.services.screening import Screening


@dataclass(frozen=True, slots=True)
class Changed:
    """The row after an update. With an `approval` it is unchanged until somebody decides."""

    stored: Stored
    approval: Approval | None = None


class MemoryChanges:
    """Update and delete, and the parts of a move that concern the old row."""

    def __init__(
        self,
        stores: Stores,
        audit: MemoryAudit,
        *,
        access: MemoryAccess,
        screening: Screening,
        terms: Terms,
        hooks: Hooks,
    ) -> None:
        self._stores = stores
        self._audit = audit
        self._access = access
        self._screening = screening
        self._terms = terms
        self._hooks = hooks

    def update(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, *, patch: Patch, at: datetime
    ) -> Changed:
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
        stored = self.active(tx, requester, memory_id, at=at)
        check_patch_of_own_word(stored.memory, requester, patch)
        check_patch_loosening(stored, requester, patch)
        if not patch.has_seen(stored.memory):
            patch = patch.looking_at(self._told(tx, stored, patch))
        after = self._patched(tx, requester, stored, patch=patch, at=at)
        self._screening.admit(
            patch.findings,
            after.space.kind,
            sensitivity=after.sensitivity,
            pii_tags=after.pii_tags,
        )
        self._check_run(tx, stored)
        _check_version(stored, patch.version)
        wish = self._terms.extension(after) if patch.wishes else None
        if wish is not None:
            return Changed(stored, self._ask(tx, requester, stored, wish=wish, at=at))
        return Changed(self._store(tx, requester, stored, after=after, patch=patch, at=at))

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
        stored = self._access.to_change(tx, requester, memory_id)
        _check_version(stored, version)
        self.remove(tx, stored, at=at)
        tell_of(
            self._audit,
            tx,
            requester,
            event_type="memory.delete",
            memory=stored.memory,
            event_id=event_id,
            reason="request",
        )

    def active(self, tx: Tx, requester: Requester, memory_id: MemoryId, *, at: datetime) -> Stored:
        """An active, unexpired memory that the caller may change, locked.

        Raises NotFound, Forbidden, or Conflict for another status.
        """
        stored = self._access.to_change(tx, requester, memory_id)
        if is_due(at, stored.memory.expires_at):
            raise NotFound("memory", memory_id)
        if stored.memory.status is not Status.ACTIVE:
            message = f"the memory is {stored.memory.status}; only an active one can be changed"
            raise Conflict(message, details={"reason": "wrong_state"})
        return stored

    def told(
        self, tx: Tx, requester: Requester, memory_id: MemoryId, *, patch: Patch
    ) -> Told | None:
        """The texts that a patch of `pii_tags` must be checked against. None if the caller may not
        change the memory: the update itself then raises the right error."""
        stored = self._stores.memories.fetch(tx, memory_id)
        if stored is None or not self._access.is_theirs(tx, requester, stored):
            return None
        return self._told(tx, stored, patch)

    def _told(self, tx: Tx, stored: Stored, patch: Patch) -> Told:
        """Earlier versions are loaded only if a tag would be removed: histories may be long."""
        if not patch.drops_tags_of(stored.memory):
            return Told(stored.memory, ())
        versions = self._stores.memories.versions(tx, [stored.memory.id])
        kept = [version.snapshot for version in reversed(versions) if version.snapshot is not None]
        return Told(stored.memory, kept)

    def _check_run(self, tx: Tx, stored: Stored) -> None:
        """Raise Conflict if the memory lies in a completed run: such memories can only be deleted
        or moved."""
        space = stored.memory.space
        if space.kind is not SpaceKind.RUN:
            return
        run = self._stores.runs.fetch(tx, RunId(space.id))
        if run is not None:
            check_open(run)

    def _patched(
        self, tx: Tx, requester: Requester, stored: Stored, *, patch: Patch, at: datetime
    ) -> Memory:
        """The row after the patch, with its expiry. Who changes the text becomes its
        `stated_by`."""
        before, sent = stored.memory, patch.sent
        check_patch(before.kind, sent.keys())
        subjects = before.subjects
        if "subjects" in sent:
            names, chat_id = sent["subjects"], before.learned_in
            people = self._hooks.people
            subjects = people.resolve(tx, requester, names, chat_id) if names else ()
        said = requester.person_id if patch.rewords(before) else before.stated_by
        # Trust is derived again only if speaker or subjects change: a repeat by a subject may have
        # raised it to a fact, which these two fields alone don't show.
        same = said == before.stated_by and set(subjects) == set(before.subjects)
        after = replace(before, **plain_changes(before, patch), **self._policy(before, sent))
        after = replace(
            after,
            subjects=tuple(subjects),
            stated_by=said,
            trust=before.trust if same else trust_of(said, subjects),
            sensitivity=changed_sensitivity(before, requester, patch),
            updated_at=at,
        )
        check_validity(after.valid_from, after.valid_until)
        if self._screening.is_suspect(patch.findings):
            after = replace(after, status=Status.QUARANTINED)
        return self._terms.settled(after).memory

    def _policy(self, before: Memory, sent: Members) -> dict[str, Any]:
        if "retention_policy" not in sent:
            return {}
        name = sent["retention_policy"]
        if name is not None:
            self._terms.rules.policy(name, before.space.scope)
        return {"retention_policy": name}

    def _ask(
        self, tx: Tx, requester: Requester, stored: Stored, *, wish: datetime, at: datetime
    ) -> Approval:
        return self._hooks.approvals.request(tx, requester, stored, wish=wish, at=at)

    def _store(
        self,
        tx: Tx,
        requester: Requester,
        stored: Stored,
        *,
        after: Memory,
        patch: Patch,
        at: datetime,
    ) -> Stored:
        # `stored` gets the changed columns beside the memory; `seen` stays the row before the
        # patch, with which index and graph compare.
        seen, before = stored, stored.memory
        if replace(after, updated_at=before.updated_at) == before:
            return stored
        after = replace(after, version=before.version + 1)
        if {"content", "value"} & patch.names:
            suspicion = patch.findings.suspicion
            stored = replace(
                stored,
                suspicion=suspicion.score,
                suspicion_reasons=suspicion.reasons,
                folded=patch.findings.folded,
            )
        if "subjects" in patch.names:
            stored = replace(stored, bare_names=())
        if {"sensitivity", "portable"} & patch.names and requester.person_id in after.subjects:
            stored = replace(stored, privacy_said=True)
        by = requester.who
        kept = self._stores.memories.update(tx, stored, after, change=Change.UPDATED, by=by, at=at)
        self._tell_update(tx, requester, kept, seen=seen, patch=patch)
        return kept

    def _tell_update(
        self, tx: Tx, requester: Requester, stored: Stored, *, seen: Stored, patch: Patch
    ) -> None:
        memory = stored.memory
        # A patch can turn an active memory into a suspicious one. Then it leaves index and graph in
        # the same transaction, and comes back when somebody releases it.
        if memory.status is Status.QUARANTINED:
            self._hooks.indexer.drop(tx, memory.id)
            self._hooks.graph.erase(tx, memory.id)
            told: dict[str, Any] = {
                "score": stored.suspicion,
                "reasons": list(stored.suspicion_reasons),
            }
            tell_of(
                self._audit, tx, requester, event_type="memory.quarantine", memory=memory, **told
            )
        else:
            # The screened text of a record has no key, so its words are not those of the content.
            # None makes the indexer take them from the content.
            if memory.content != seen.memory.content:
                words = patch.findings.words if "content" in patch.names else None
                self._hooks.indexer.write(tx, stored, words)
            self._hooks.graph.redraw(tx, seen, stored)
        tell_of(
            self._audit,
            tx,
            requester,
            event_type="memory.update",
            memory=memory,
            event_id=patch.event_id,
            fields=sorted(patch.names),
        )

    def remove(self, tx: Tx, stored: Stored, *, at: datetime) -> None:
        """Delete the row with all that belongs to it; raises NotFound if it is gone already."""
        if not self._stores.memories.delete(tx, stored.memory.id, at=at):
            raise NotFound("memory", stored.memory.id)


def _check_version(stored: Stored, seen: int | None) -> None:
    version = stored.memory.version
    if seen not in (None, version):
        details = {"reason": "version", "version": version}
        raise Conflict("the memory has another version now", details=details)
