"""The backup of a vacuum: all planned rows are on disk before the first one is deleted."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.kernel.retention_rules import BackupRules
from recollect.memories.cleanup_rules import days_before
from recollect.memories.model import MemoryFilter, MemoryStatus
from recollect.retention.backup_lines import backup_line
from recollect.retention.backup_ports import BackupFolder, BackupWriter
from recollect.retention.batch_delete import CleanupPlan
from recollect.retention.store_bundle import RetentionStores
from recollect.visibility.viewer import Viewer

# Every status and expired rows too: a vacuum deletes what ordinary reads no longer return.
_ANY_STATUS = MemoryFilter(statuses=tuple(MemoryStatus), include_expired=True)


class VacuumBackup:
    """Writes one file a vacuum. Deletes files older than `keep_days` after writing a new one."""

    def __init__(
        self, context: ServiceContext[RetentionStores], *, rules: BackupRules, backups: BackupFolder
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._rules = rules
        self._backups = backups

    async def write(self, plan: CleanupPlan, now: datetime) -> str | None:
        """Write all planned rows to a file; returns its path, or None if the plan is empty or
        backups are switched off. Raises Unavailable if it can't be written.

        The caller deletes only after this returns. Any failure, cancellation included, discards
        the partial file and stops the vacuum. Old files are pruned last: until the new one is
        complete they are the only ones.

        The backup may have rows that are not deleted in the end (they changed after the plan was
        made). The reverse can't happen: a row is deleted only in the version that was planned, and
        lines are read after planning; a row that changed in between has a higher version, which
        execution skips.
        """
        if not self._rules.before_vacuum or not plan.count:
            return None
        backup = await asyncio.to_thread(self._backups.begin, now)
        try:
            name = await self._write_rows(backup, plan, now)
        # BaseException: a cancelled request must not leave a partial file either.
        except BaseException:
            await asyncio.to_thread(backup.discard)
            raise
        await asyncio.to_thread(self._backups.prune, days_before(now, self._rules.keep_days))
        return name

    async def _write_rows(self, backup: BackupWriter, plan: CleanupPlan, now: datetime) -> str:
        for batch in plan.batches():
            lines = await self._database.scan(self._lines_transaction(batch, now))
            await asyncio.to_thread(backup.write, lines)
        return await asyncio.to_thread(backup.finish)

    def _lines_transaction(
        self, batch: Mapping[int, int], now: datetime
    ) -> Callable[[Tx], list[str]]:
        viewer = Viewer.for_system("a backup holds what a vacuum removes", now)

        def work(tx: Tx) -> list[str]:
            ids = [row.id for row in self._stores.memory_bulk.fetch(tx, list(batch))]
            found = self._stores.memories.fetch_many_visible(tx, viewer, ids, _ANY_STATUS)
            cipher = self._runtime.cipher
            # A row that can't be read raises KeyError and stops the vacuum: no row is deleted
            # without a line in the backup.
            return [backup_line(found[id_], cipher, now) for id_ in ids]

        return work
