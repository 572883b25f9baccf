"""Builds the cleanup service and its schedule from settings and retention rules."""

from datetime import timedelta
from pathlib import Path

from recollect.domain.retention import RetentionRules
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.providers.backups import FileBackupFolder
from recollect.services.compaction import Compaction
from recollect.services.crowding import SpaceQuota
from recollect.services.housekeeping import CleanupDeps, CleanupService
from recollect.services.housekeeping_jobs import CleanupSchedule
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_use import UsageTracker
from recollect.services.vacuum_backup import VacuumBackup
from recollect.settings import Settings
from recollect.stores.engines.base import Engine

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
