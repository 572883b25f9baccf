"""The background job of an erasure: delete, redact, scrub the storage, verify, report.

`EraseService` has already hidden memories and people, so the job may take long. Memories and
entries are handled in transactions of at most 100 rows. Every step is idempotent: after a crash, or
when verification still finds something, the whole round runs again and handles what is left.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import structlog

from recollect.audit.memory_recorder import MemoryAudit
from recollect.conversations.entries.entry import Channel
from recollect.conversations.eviction import vector_delete_job
from recollect.conversations.model import headline
from recollect.db.context import ServiceContext
from recollect.db.transaction import DatabaseStorage, Tx
from recollect.doctor.model import ERASURE_OVERDUE_AFTER
from recollect.erasure.model import ErasureStatus, digest, retry_delay
from recollect.erasure.plan import EntryWithIndexedText, Erasure, RedactionPlan
from recollect.erasure.service import ERASE_JOB
from recollect.erasure.store.bundle import ErasureStores
from recollect.erasure.verify import (
    ErasureFindings,
    ErasureVerifier,
    backup_line_matcher,
)
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel import strict_json
from recollect.kernel.clock import to_text
from recollect.kernel.ids import TreeId
from recollect.memories.model import StoredMemory
from recollect.retention.backup_ports import BackupFolder
from recollect.search.entries.indexing import EntryIndexer
from recollect.search.memories.indexing import MemoryIndexer
from recollect.search.model import index_words

_ROWS_PER_TRANSACTION = 100
_log = structlog.get_logger("recollect.erase")


class EraseJobs:
    """Handles jobs of type `erase`. A job queues its successor until verification finds nothing."""

    def __init__(
        self,
        context: ServiceContext[ErasureStores],
        audit: MemoryAudit,
        *,
        verifier: ErasureVerifier,
        storage: DatabaseStorage,
        backups: BackupFolder,
        indexer: EntryIndexer,
        memory_indexer: MemoryIndexer,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._verifier = verifier
        self._storage = storage
        self._backups = backups
        self._indexer = indexer
        self._memory_indexer = memory_indexer

    def handlers(self) -> Mapping[str, JobHandler]:
        return {ERASE_JOB: self.erase}

    async def erase(self, job: Job) -> NewJob | None:
        """Run one round; returns the job of the next round, or None when the erasure is done.

        The order within a round matters:

        1. Extend the target. Rows that were written between two rounds (a new chat, a person made
           for one of the users) are hidden and join the target.
        2. Plan the redaction once for the round. Reading the names of all people is a long read,
           so it is a `scan`, outside of the write transactions.
        3. Delete and redact rows, indexes and backup lines.
        4. Scrub: deleted rows still lie in free pages and in dead tuples. SQLite rewrites its file,
           PostgreSQL vacuums the tables. This must come before the check of the file's bytes.
        5. Verify everything, and store the result with the new status.

        When nothing is found, the stored target is anonymized in the same transaction as the
        report, and a last scrub cuts off SQLite's write-ahead log, which has the row as it was.
        """
        erasures, id_ = self._stores.erasures, job.body["erasure_id"]
        erasure = await self._database.write(lambda tx: self._extend_target(tx, id_))
        if erasure is None or erasure.status is ErasureStatus.DONE:
            return None
        plan = await self._database.scan(lambda tx: erasures.plan_redaction(tx, erasure.target))
        await self._redact_all(plan)
        await self._storage.scrub(erasures.table_names)
        found = await self._verifier.verify(erasure.target, plan)
        await self._database.write(lambda tx: self._save_report(tx, erasure, found))
        if found.count:
            return self._next_round(job, erasure, found)
        await self._storage.scrub([])
        return None

    def _extend_target(self, tx: Tx, erasure_id: str) -> Erasure | None:
        """Load the erasure, with what has become linked to the target since the last round."""
        erasure = self._stores.erasures.fetch(tx, erasure_id)
        if erasure is None or erasure.status is ErasureStatus.DONE:
            return erasure
        target = self._stores.erasures.extend_target(tx, erasure.target)
        if target == erasure.target:
            return erasure
        self._stores.erasures.memories.hide_linked(tx, target, erasure_id)
        grown = replace(erasure, target=target)
        self._stores.erasures.update(tx, grown)
        return grown

    def _next_round(self, job: Job, erasure: Erasure, found: ErasureFindings) -> NewJob:
        """The next round, with a growing delay. Warns once if the erasure takes over an hour."""
        rounds, now = job.body.get("rounds", 0) + 1, self._runtime.clock.now()
        warned = job.body.get("warned", False)
        if not warned and now - erasure.created_at >= ERASURE_OVERDUE_AFTER:
            stores = [check.store for check in found.checks if check.found]
            _log.warning("erasure still finds data", erasure=erasure.id, stores=stores)
            warned = True
        body = {"erasure_id": erasure.id, "rounds": rounds, "warned": warned}
        return NewJob(ERASE_JOB, body, now + retry_delay(rounds), f"{ERASE_JOB}:{erasure.id}")

    async def _redact_all(self, plan: RedactionPlan) -> None:
        """Delete and redact everything once: memories, shared trees, private trees, unlinked rows,
        people with all that names them, audit records, backups.

        Audit records come after the rows: an id in an event is replaced only once the row that it
        names is gone. Backups come last, so that a vacuum which starts from then on reads rows
        that are redacted already.
        """
        erasures, target = self._stores.erasures, plan.target
        await self._redact_memories(plan)
        for id_ in target.trees:
            await self._redact_tree(plan, TreeId(id_))
        for id_ in target.gone_trees:
            await self._database.write(self._delete_tree_transaction(TreeId(id_)))
        if target.unambiguous_identifiers:
            await self._redact_unlinked(plan.for_unlinked_rows())
        await self._database.write(lambda tx: erasures.people.redact_rows(tx, plan))
        await self._database.write(lambda tx: erasures.people.delete_people(tx, target))
        await self._database.write(lambda tx: erasures.audit.redact_records(tx, plan))
        is_match = backup_line_matcher(plan, self._runtime.cipher)
        await asyncio.to_thread(self._backups.remove_lines, is_match)

    async def _redact_unlinked(self, plan: RedactionPlan) -> None:
        """Redact unambiguous identifiers in rows that are not linked to the target."""
        trees = self._stores.erasures.trees
        await self._redact_memory_pages(plan, everywhere=True)
        trees_of_others = await self._database.scan(lambda tx: trees.find_unlinked_trees(tx, plan))
        for tree_id in trees_of_others:
            await self._redact_tree_texts(plan, tree_id, ())

    async def _redact_memories(self, plan: RedactionPlan) -> None:
        """Delete the target's memories, then redact those that stay, then their versions."""
        store, target = self._stores.erasures.memories, plan.target
        now = self._runtime.clock.now()
        # The store selects by links, not by a list of ids: memories that were written after the
        # request are deleted as well.
        while await self._database.write(
            lambda tx: store.delete_memories(tx, plan, at=now, limit=_ROWS_PER_TRANSACTION)
        ):
            pass
        # First the statements that the request listed, then any that were written since. Redacting
        # a statement removes its link to the target, so the second loop ends when none is left.
        for at in range(0, len(target.memories), _ROWS_PER_TRANSACTION):
            known = target.memories[at : at + _ROWS_PER_TRANSACTION]
            await self._database.write(self._statements_transaction(plan, known))
        while await self._database.write(self._statements_transaction(plan, None)):
            pass
        await self._redact_memory_pages(plan, everywhere=False)
        place: str | None = ""
        while place is not None:
            place = await self._database.write(self._versions_transaction(plan, place))

    def _statements_transaction(
        self, plan: RedactionPlan, among: Sequence[str] | None
    ) -> Callable[[Tx], int]:
        store = self._stores.erasures.memories

        def work(tx: Tx) -> int:
            changed = store.redact_statements(tx, plan, among=among, limit=_ROWS_PER_TRANSACTION)
            self._reindex(tx, changed)
            return len(changed)

        return work

    async def _redact_memory_pages(self, plan: RedactionPlan, *, everywhere: bool) -> None:
        doc: int | None = 0
        while doc is not None:
            doc = await self._database.write(
                self._memory_page_transaction(plan, everywhere=everywhere, after_doc=doc)
            )

    def _memory_page_transaction(
        self, plan: RedactionPlan, *, everywhere: bool, after_doc: int
    ) -> Callable[[Tx], int | None]:
        store = self._stores.erasures.memories

        def work(tx: Tx) -> int | None:
            changed, place = store.redact_page(
                tx,
                plan,
                everywhere=everywhere,
                after_doc=after_doc,
                limit=_ROWS_PER_TRANSACTION,
            )
            self._reindex(tx, changed)
            return place

        return work

    def _reindex(self, tx: Tx, changed: Sequence[StoredMemory]) -> None:
        """Index the new text of rows that are indexed. Rows that are not (quarantined, compacted)
        must not become searchable."""
        docs = [stored.doc for stored in changed]
        indexed = {row.doc for row in self._stores.memory_search.words(tx, docs)}
        for stored in changed:
            if stored.doc in indexed:
                self._memory_indexer.write(tx, stored)

    def _versions_transaction(self, plan: RedactionPlan, after: str) -> Callable[[Tx], str | None]:
        store = self._stores.erasures.memories
        return lambda tx: store.redact_versions(tx, plan, after=after, limit=_ROWS_PER_TRANSACTION)

    async def _redact_tree(self, plan: RedactionPlan, tree_id: TreeId) -> None:
        """Redact a shared tree and take the target out of it.

        Titles and previews may be copies of the target's entries. They are recognized by comparing
        them with what each entry would produce, so the headlines are collected while the entries
        still have their text.
        """
        trees = self._stores.erasures.trees
        made_of = await self._collect_headlines(plan, tree_id)
        await self._redact_tree_texts(plan, tree_id, made_of)
        await self._database.write(lambda tx: trees.remove_from_tree(tx, plan.target, tree_id))

    async def _redact_tree_texts(
        self, plan: RedactionPlan, tree_id: TreeId, made_of: Collection[str | None]
    ) -> None:
        trees = self._stores.erasures.trees
        # Titles before entries: if the job stops in between, the next round can still derive the
        # headlines from entries that are not redacted yet.
        await self._database.write(
            lambda tx: trees.redact_conversations(tx, plan, tree_id, made_of)
        )
        seq: int | None = -1
        while seq is not None:
            seq = await self._database.write(self._redact_entries_transaction(plan, tree_id, seq))

    async def _collect_headlines(self, plan: RedactionPlan, tree_id: TreeId) -> set[str | None]:
        """Titles and previews that were derived from the target's own entries."""
        users, seq = frozenset(plan.target.user_ids), -1
        found: set[str | None] = set()
        while page := await self._database.scan(self._entry_page_transaction(tree_id, seq)):
            own = [one for one in page if one.entry.user_id in users]
            found |= {text for one in own for text in _title_and_preview(one)}
            seq = page[-1].entry.seq
        return found - {None}

    def _entry_page_transaction(
        self, tree_id: TreeId, seq: int
    ) -> Callable[[Tx], list[EntryWithIndexedText]]:
        trees = self._stores.erasures.trees
        return lambda tx: trees.fetch_entries(
            tx, tree_id, after_seq=seq, limit=_ROWS_PER_TRANSACTION
        )

    def _redact_entries_transaction(
        self, plan: RedactionPlan, tree_id: TreeId, seq: int
    ) -> Callable[[Tx], int | None]:
        trees = self._stores.erasures.trees

        def work(tx: Tx) -> int | None:
            # Writers of entries lock the tree too: no entry can be appended or changed between
            # this page's read and its update.
            trees.lock_tree(tx, tree_id)
            page = trees.fetch_entries(tx, tree_id, after_seq=seq, limit=_ROWS_PER_TRANSACTION)
            for one in page:
                cleaned = trees.redact_entry(tx, one, plan)
                if cleaned is not None and cleaned.indexed is not None:
                    self._indexer.reindex(tx, cleaned.entry, index_words(cleaned.indexed))
            return page[-1].entry.seq if len(page) == _ROWS_PER_TRANSACTION else None

        return work

    def _delete_tree_transaction(self, tree_id: TreeId) -> Callable[[Tx], None]:
        job = vector_delete_job(tree_id, self._runtime)

        def work(tx: Tx) -> None:
            self._stores.conversations.delete_trees(tx, [tree_id])
            self._stores.jobs.insert(tx, job)

        return work

    def _save_report(self, tx: Tx, erasure: Erasure, found: ErasureFindings) -> None:
        """Store status and report. A finished erasure keeps hashes of ids, and no identifier."""
        now, done = self._runtime.clock.now(), not found.count
        status = ErasureStatus.DONE if done else ErasureStatus.INCOMPLETE
        members: dict[str, Any] = {**erasure.report, "status": str(status), **found.to_json()}
        members["finished_at"] = to_text(now) if done else None
        if done:
            payload = {"counts": members["counts"], "digest": digest(members)}
            self._audit.record(tx, None, "erase.done", payload=payload)
        target = erasure.target.anonymize() if done else erasure.target
        changed = replace(
            erasure,
            status=status,
            report=members,
            target=target,
            finished_at=now if done else None,
        )
        self._stores.erasures.update(tx, changed)


def _title_and_preview(found: EntryWithIndexedText) -> Sequence[str | None]:
    """Title and preview that a conversation derives from this entry; only history has them."""
    if found.entry.channel is not Channel.HISTORY:
        return ()
    items = strict_json.load(found.entry.content)
    text = items[0].get("text") if items and isinstance(items[0], dict) else None
    if not isinstance(text, str):
        return ()
    line = headline(text)
    return (line.title, line.preview)
