"""Builds the service and the jobs of erasure from settings and retention rules."""

from recollect.app.cleanup import backup_folder
from recollect.app.governance import build_admin_gate
from recollect.app.stores import Stores
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.engines.base import Engine
from recollect.erasure.job import EraseJobDeps, EraseJobs
from recollect.erasure.service import EraseService
from recollect.erasure.verify import ErasureVerifier
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Runtime
from recollect.retention.backup_files import FileBackupFolder
from recollect.search.entries.indexing import EntryIndexer
from recollect.search.memories.indexing import MemoryIndexer
from recollect.settings import Settings


def build_erase_service(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    audit: MemoryAudit,
    rules: RetentionRules,
) -> EraseService:
    key = settings.erase.signing_key
    return EraseService(
        engine,
        stores,
        runtime,
        audit,
        gate=build_admin_gate(settings, engine, stores, runtime),
        prober=_build_verifier(settings, engine, stores, runtime, rules),
        signing_key=None if key is None else key.get_secret_value(),
    )


def build_erase_jobs(
    settings: Settings,
    engine: Engine,
    stores: Stores,
    runtime: Runtime,
    *,
    rules: RetentionRules,
    indexers: tuple[EntryIndexer, MemoryIndexer],
) -> EraseJobs:
    indexer, memory_indexer = indexers
    parts = EraseJobDeps(
        audit=MemoryAudit(engine, stores, runtime, rules),
        prober=_build_verifier(settings, engine, stores, runtime, rules),
        storage=engine,
        backups=FileBackupFolder(backup_folder(settings, rules)),
        indexer=indexer,
        memory_indexer=memory_indexer,
    )
    return EraseJobs(engine, stores, runtime, parts)


def _build_verifier(
    settings: Settings, engine: Engine, stores: Stores, runtime: Runtime, rules: RetentionRules
) -> ErasureVerifier:
    backups = FileBackupFolder(backup_folder(settings, rules))
    return ErasureVerifier(
        engine,
        stores,
        runtime.cipher,
        storage=engine,
        backups=backups,
        vectors_beside=settings.search.qdrant.url is not None,
    )
