"""Builds the services that read and write memories, and the jobs that reconcile them."""

from recollect.app.context import AppContext
from recollect.http.services import Services
from recollect.memories.commands import WaitFor
from recollect.memories.duplicates.count import RepeatCounter
from recollect.memories.read.about_person import PersonMemories
from recollect.memories.read.service import MemoryReader
from recollect.memories.reconcile.jobs import ReconcileJobs
from recollect.memories.reconcile.rules import ReconcileThresholds
from recollect.memories.reconcile.service import Reconciler
from recollect.memories.service import MemoryService
from recollect.memories.supersede.explicit import ExplicitSupersession
from recollect.memories.write.batch import BatchService
from recollect.memories.write.changes import MemoryChanges
from recollect.memories.write.move import MemoryMoves
from recollect.memories.write.target_space import TargetSpaceResolver, TargetSpaceSettings
from recollect.memories.write.wait import WriteWaiter
from recollect.memories.write.writer import MemoryWriter
from recollect.search.memories.service import MemorySearchService
from recollect.settings import Settings


def build_memory_family(context: AppContext, search: MemorySearchService) -> Services:
    """A reader shows how a search scores the memory."""
    settings, stores, audit = context.settings, context.stores, context.audit
    screening, hooks = context.screening, context.hooks
    writer = MemoryWriter(
        stores,
        context.runtime,
        audit,
        places=TargetSpaceResolver(
            stores,
            audit,
            runs=context.runs,
            people=hooks.people,
            settings=TargetSpaceSettings(settings.spaces.mode, settings.agents.auto_register),
        ),
        screening=screening,
        succession=ExplicitSupersession(stores, audit, context.access),
        expiry=context.expiry,
        hooks=hooks,
    )
    changes = MemoryChanges(
        stores,
        audit,
        access=context.access,
        screening=screening,
        expiry=context.expiry,
        hooks=hooks,
    )
    moves = MemoryMoves(audit, changes, writer=writer, screening=screening, rules=context.rules)
    memories = MemoryService(
        context,
        audit,
        screening=screening,
        visibility=context.visibility,
        writer=writer,
        changes=changes,
        moves=moves,
        waiter=build_waiter(context),
    )
    return Services(
        memories,
        BatchService(context, audit, memories=memories, writer=writer, changes=changes),
        MemoryReader(
            context,
            viewers=context.viewers,
            views=context.facts,
            audit=audit,
            reads=context.reads,
            use=context.usage,
            score=search.score_memory,
        ),
        PersonMemories(context, viewers=context.viewers, views=context.facts, reads=context.reads),
        context.usage,
    )


def build_waiter(context: AppContext) -> WriteWaiter:
    """Whatever a write queues for its memory belongs into this table."""
    is_pending, is_queued = (
        context.memory_indexer.is_pending,
        build_reconcile_jobs(context).is_queued,
    )
    return WriteWaiter(
        context.database,
        {WaitFor.INDEXED: (is_pending,), WaitFor.EXTRACTED: (is_pending, is_queued)},
    )


def build_reconcile_jobs(context: AppContext) -> ReconcileJobs:
    """Without an embedder for memories the jobs find nothing to do."""
    reconciler = Reconciler(
        context.stores,
        context.audit,
        repeating=RepeatCounter(context.stores, context.audit, context.expiry),
        settings=reconcile_thresholds(context.settings),
    )
    return ReconcileJobs(
        context,
        reconciler,
        model=context.embedding.memory_model,
        neighbours=context.settings.reconcile.neighbours,
    )


def reconcile_thresholds(settings: Settings) -> ReconcileThresholds:
    """The similarity thresholds of the settings."""
    reconcile = settings.reconcile
    return ReconcileThresholds(
        duplicate_min=reconcile.duplicate_min,
        supersede_min=reconcile.supersede_min,
        unsure_min=reconcile.unsure_min,
        hearsay_min=reconcile.hearsay_min,
        neighbours=reconcile.neighbours,
    )
