"""Builds the service and the jobs of erasure from settings and retention rules."""

from recollect.app.governance import build_admin_gate
from recollect.app.housekeeping import backup_folder
from recollect.domain.retention import RetentionRules
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.providers.backups import FileBackupFolder
from recollect.services.erase import EraseService
from recollect.services.erase_jobs import EraseJobDeps, EraseJobs
from recollect.services.erase_probes import ErasureVerifier
from recollect.services.indexing import EntryIndexer
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_indexing import MemoryIndexer
from recollect.settings import Settings
from recollect.stores.engines.base import Engine


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
