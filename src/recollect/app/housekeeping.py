"""Builds the cleanup service and its schedule from settings and retention rules."""

from datetime import timedelta
from pathlib import Path

from recollect.domain.retention import RetentionRules
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.providers.backups import FileBackups
from recollect.services.compaction import Compaction
from recollect.services.crowding import Crowding
from recollect.services.housekeeping import HousekeepingParts, HousekeepingService
from recollect.services.housekeeping_jobs import Timetable
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_use import MemoryUse
from recollect.services.vacuum_backup import VacuumBackup
from recollect.settings import Settings
from recollect.stores.engines.base import Engine

_FOLDER = "backups"


def housekeeping(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    audit: MemoryAudit,
    use: MemoryUse,
    rules: RetentionRules,
) -> HousekeepingService:
    parts = HousekeepingParts(
        rules=rules,
        archive_days=settings.gc.archive_days,
        crowding=Crowding(engine, stores, audit, use=use, max_entries=settings.memory.max_entries),
        compaction=Compaction(stores),
        backup=VacuumBackup(
            engine,
            stores,
            runtime,
            rules=rules.backup,
            backups=FileBackups(backup_folder(settings, rules)),
        ),
    )
    return HousekeepingService(engine, stores, runtime, audit, parts)


def timetable(settings: Settings, rules: RetentionRules) -> Timetable:
    every = timedelta(hours=settings.gc.interval_hours)
    return Timetable(settings.memory.auto_gc, every, rules.vacuum)


def backup_folder(settings: Settings, rules: RetentionRules) -> Path:
    """The directory of the retention file; else `backups` beside the SQLite file, or in
    ./recollect-data."""
    if rules.backup.directory is not None:
        return Path(rules.backup.directory)
    return (settings.database.sqlite_path or Path("recollect-data/-")).with_name(_FOLDER)
