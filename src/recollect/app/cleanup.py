"""Builds the cleanup service and its schedule from settings and retention rules."""

from datetime import timedelta
from pathlib import Path

from recollect.app.stores import Stores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.engines.base import Engine
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.memories.usage import UsageTracker
from recollect.retention.backup import VacuumBackup
from recollect.retention.backup_files import FileBackupFolder
from recollect.retention.cleanup_jobs import CleanupSchedule
from recollect.retention.cleanup_service import CleanupDeps, CleanupService
from recollect.retention.compaction import Compaction
from recollect.retention.space_quota import SpaceQuota
from recollect.settings import Settings

_BACKUP_FOLDER_NAME = "backups"


def build_cleanup(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    audit: MemoryAudit,
    use: UsageTracker,
    rules: RetentionRules,
) -> CleanupService:
    parts = CleanupDeps(
        rules=rules,
        archive_days=settings.gc.archive_days,
        crowding=SpaceQuota(
            engine, stores, audit, use=use, max_entries=settings.memory.max_entries
        ),
        compaction=Compaction(stores),
        backup=VacuumBackup(
            engine,
            stores,
            runtime,
            rules=rules.backup,
            backups=FileBackupFolder(backup_folder(settings, rules)),
        ),
    )
    return CleanupService(engine, stores, runtime, audit, parts)


def build_cleanup_schedule(settings: Settings, rules: RetentionRules) -> CleanupSchedule:
    every = timedelta(hours=settings.gc.interval_hours)
    return CleanupSchedule(settings.memory.auto_gc, every, rules.vacuum)


def backup_folder(settings: Settings, rules: RetentionRules) -> Path:
    """The directory of the retention file; else `backups` beside the SQLite file, or in
    ./recollect-data."""
    if rules.backup.directory is not None:
        return Path(rules.backup.directory)
    return (settings.database.sqlite_path or Path("recollect-data/-")).with_name(
        _BACKUP_FOLDER_NAME
    )
