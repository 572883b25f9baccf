"""Builds the services of retention, rollback and erasure, and their jobs."""

from datetime import timedelta
from pathlib import Path

from recollect.app.context import AppContext
from recollect.erasure.job import EraseJobs
from recollect.erasure.service import EraseService
from recollect.erasure.verify import ErasureVerifier
from recollect.http.services import Services
from recollect.retention.backup import VacuumBackup
from recollect.retention.backup_files import FileBackupFolder
from recollect.retention.cleanup_jobs import CleanupJobs, CleanupSchedule
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.compaction import Compaction
from recollect.retention.quarantine import QuarantineService
from recollect.retention.service import RetentionService
from recollect.retention.space_quota import SpaceQuota
from recollect.rollback.plan import RollbackPlanner
from recollect.rollback.service import RollbackService
from recollect.rollback.steps import RollbackSteps

_BACKUP_FOLDER_NAME = "backups"


def build_retention_family(context: AppContext) -> Services:
    settings, stores, audit = context.settings, context.stores, context.audit
    key = settings.erase.signing_key
    return Services(
        context.approvals,
        RetentionService(context.runtime, rules=context.rules, profile=settings.retention.profile),
        CleanupService(
            context,
            audit,
            archive_days=settings.gc.archive_days,
            quota=SpaceQuota(
                context, audit, usage=context.usage, max_entries=settings.memory.max_entries
            ),
            compaction=Compaction(stores),
            backup=VacuumBackup(
                context, rules=context.rules.backup, backups=_build_backups(context)
            ),
        ),
        QuarantineService(
            context,
            audit,
            access=context.access,
            viewers=context.viewers,
            hooks=context.hooks,
            gate=context.admin_gate,
        ),
        RollbackService(
            context,
            audit,
            plans=RollbackPlanner(
                context, access=context.access, viewers=context.viewers, facts=context.facts
            ),
            steps=RollbackSteps(stores, context.hooks, context.access),
            gate=context.admin_gate,
        ),
        EraseService(
            context,
            audit,
            gate=context.admin_gate,
            verifier=_build_verifier(context),
            signing_key=None if key is None else key.get_secret_value(),
        ),
    )


def build_cleanup_jobs(context: AppContext, service: CleanupService) -> CleanupJobs:
    settings = context.settings
    every = timedelta(hours=settings.gc.interval_hours)
    return CleanupJobs(
        context, service, CleanupSchedule(settings.memory.auto_gc, every, context.rules.vacuum)
    )


def build_erase_jobs(context: AppContext) -> EraseJobs:
    return EraseJobs(
        context,
        context.audit,
        verifier=_build_verifier(context),
        storage=context.database,
        backups=_build_backups(context),
        indexer=context.entry_indexer,
        memory_indexer=context.memory_indexer,
    )


def _build_verifier(context: AppContext) -> ErasureVerifier:
    return ErasureVerifier(
        context,
        storage=context.database,
        backups=_build_backups(context),
        vectors_beside=context.settings.search.qdrant.url is not None,
    )


def _build_backups(context: AppContext) -> FileBackupFolder:
    """The directory that the retention file names, else `backups` in the data folder."""
    directory = context.rules.backup.directory
    if directory is not None:
        return FileBackupFolder(Path(directory))
    return FileBackupFolder(context.settings.data_folder / _BACKUP_FOLDER_NAME)
