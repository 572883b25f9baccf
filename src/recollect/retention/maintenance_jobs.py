"""Background jobs: key rotation, audit retention, lapsed transfers, removal of vectors.

A job may run again after a crash, so every handler is idempotent.
"""

from collections.abc import Callable, Mapping
from datetime import timedelta

from recollect.conversations.eviction import VECTOR_DELETE
from recollect.db.context import ServiceContext
from recollect.db.key_rotation import RotationStep
from recollect.db.transaction import Tx
from recollect.jobs.model import Job, JobHandler, NewJob
from recollect.kernel.errors import Internal
from recollect.kernel.ids import TreeId
from recollect.retention.store_bundle import RetentionStores
from recollect.search.ports import VectorIndex

KEY_ROTATION = "encryption_rotation"
AUDIT_RETENTION = "audit_retention"
_ROTATED_TO = "encryption_rotated_to"
_ROWS_PER_TRANSACTION = 200
_EVENTS_PER_TRANSACTION = 1_000
_RETENTION_EVERY = timedelta(hours=24)


class MaintenanceJobs:
    """Key rotation, audit retention, and the removal of lapsed transfers and of the vectors of
    evicted trees."""

    def __init__(
        self,
        context: ServiceContext[RetentionStores],
        *,
        audit_retention: timedelta,
        transfer_lifetime: timedelta,
        external_index: VectorIndex | None = None,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit_retention = audit_retention
        self._transfer_lifetime = transfer_lifetime
        self._external_index = external_index

    def handlers(self) -> Mapping[str, JobHandler]:
        """The handlers by job type. A handler may return a job to queue in place of its own."""
        return {
            VECTOR_DELETE: self.delete_vectors,
            KEY_ROTATION: self.rotate_keys,
            AUDIT_RETENTION: self.delete_old_events,
        }

    async def schedule(self) -> None:
        """Queue the daily jobs, and a key rotation if one may be needed. Safe on many nodes."""

        def work(tx: Tx) -> None:
            self._stores.jobs.insert(tx, self._retention_job(timedelta()))
            key_id = self._current_key()
            if key_id is not None and self._may_be_stale(tx, key_id):
                name = f"{KEY_ROTATION}:{key_id}"
                body = {"keyId": key_id}
                job = NewJob(KEY_ROTATION, body, self._runtime.clock.now(), name)
                self._stores.jobs.insert(tx, job)

        await self._database.write(work)

    async def delete_vectors(self, job: Job) -> None:
        """Delete vectors that an index job wrote while their tree was being evicted."""
        tree_id = TreeId(job.body["conversationGroupId"])
        await self._database.write(lambda tx: self._stores.maintenance.delete_vectors(tx, tree_id))
        if self._external_index is not None:
            # A new tree may have taken the id since: vectors of its entries stay.
            living = await self._database.read(
                lambda tx: self._stores.search.changed_texts(tx, tree_id, after_revision=-1)
            )
            await self._external_index.delete_tree(tree_id, keep=[text.entry_id for text in living])

    async def rotate_keys(self, job: Job) -> None:
        """Encrypt every value with the first key. A job for another key is out of date and ends.

        Raises Internal if values could not be decrypted; all others are rotated.
        """
        key_id = self._current_key()
        if key_id is None or key_id != job.body["keyId"]:
            return
        columns = self._stores.maintenance.encrypted_columns()
        unreadable = sum([await self._rotate_column(column) for column in columns])
        if unreadable:
            raise Internal(f"{unreadable} values can't be opened with the configured keys")
        await self._database.write(
            lambda tx: self._stores.maintenance.put_state(tx, _ROTATED_TO, key_id)
        )

    async def delete_old_events(self, _: Job) -> NewJob:
        """Delete events past their retention in small transactions, and the transfers that have
        lapsed; returns tomorrow's job."""
        now = self._runtime.clock.now()
        cutoff, lapsed_at = now - self._audit_retention, now - self._transfer_lifetime
        await self._database.write(lambda tx: self._stores.transfers.delete_before(tx, lapsed_at))
        removed = _EVENTS_PER_TRANSACTION
        while removed == _EVENTS_PER_TRANSACTION:
            removed = await self._database.write(
                lambda tx: self._stores.events.delete_before(
                    tx, cutoff, limit=_EVENTS_PER_TRANSACTION
                )
            )
        return self._retention_job(_RETENTION_EVERY)

    async def _rotate_column(self, column: str) -> int:
        """Rotate a column in small transactions; returns how many values can't be decrypted."""
        after: str | None = None
        unreadable = 0
        while True:
            step = await self._database.write(self._rotation_step(column, after))
            unreadable += step.unreadable
            after = step.last_id
            if after is None:
                return unreadable

    def _rotation_step(self, column: str, after: str | None) -> Callable[[Tx], RotationStep]:
        return lambda tx: self._stores.maintenance.rotate(
            tx, column, after=after, limit=_ROWS_PER_TRANSACTION
        )

    def _may_be_stale(self, tx: Tx, key_id: str) -> bool:
        """May values exist that the current key did not encrypt?

        While an old key is still configured, another server that has it first may have written
        with it since the last rotation.
        """
        done = self._stores.maintenance.fetch_state(tx, _ROTATED_TO)
        return key_id != done or len(self._runtime.cipher.key_ids()) > 1

    def _current_key(self) -> str | None:
        return next(iter(self._runtime.cipher.key_ids()), None)

    def _retention_job(self, delay: timedelta) -> NewJob:
        due_at = self._runtime.clock.now() + delay
        return NewJob(AUDIT_RETENTION, {}, due_at, AUDIT_RETENTION)
