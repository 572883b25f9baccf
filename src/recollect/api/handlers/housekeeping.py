"""Handlers of cleanup: expire, vacuum, gc, compact."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.housekeeping import ExpireBody, TidyBody, VacuumBody
from recollect.domain.jsontext import dump
from recollect.services.housekeeping import CleanupResult
from recollect.services.housekeeping_events import CleanupOrder


async def expire_memories(call: Call) -> str:
    body: ExpireBody = call.body
    done = await call.services.housekeeping.expire(
        _cleanup_order(call, dry_run=body.dry_run), scope=body.scope
    )
    return dump(
        {
            "deleted_count": done.deleted_count,
            "would_delete_count": done.would_delete_count,
            "by_rule": dict(done.by_rule),
        }
    )


async def vacuum_memories(call: Call) -> str:
    body: VacuumBody = call.body
    done = await call.services.housekeeping.vacuum(
        _cleanup_order(call, dry_run=body.dry_run),
        scope=body.scope,
        older_than_days=body.older_than_days,
    )
    return dump(
        {
            "deleted_count": done.deleted_count,
            "would_delete_count": done.would_delete_count,
            "skipped_count": done.skipped_count,
            "scope": body.scope or "all",
            "older_than_days": body.older_than_days,
            "cutoff": instant_text(done.cutoff),
            "dry_run": body.dry_run,
            "backup": done.backup,
        }
    )


async def collect_memories(call: Call) -> str:
    body: TidyBody = call.body
    commission = _cleanup_order(call, dry_run=body.dry_run)
    return _result_to_json(
        await call.services.housekeeping.gc(commission, older_than_days=body.older_than_days)
    )


async def compact_memories(call: Call) -> str:
    body: TidyBody = call.body
    commission = _cleanup_order(call, dry_run=body.dry_run)
    return _result_to_json(
        await call.services.housekeeping.compact(commission, older_than_days=body.older_than_days)
    )


def _cleanup_order(call: Call, *, dry_run: bool) -> CleanupOrder:
    return CleanupOrder(
        dry_run=dry_run, requester=call.required_requester, justification=call.justification
    )


def _result_to_json(done: CleanupResult) -> str:
    return dump({"by_step": dict(done.by_step), "count": done.count})


HANDLERS: dict[str, Handler] = {
    "expireMemories": expire_memories,
    "vacuumMemories": vacuum_memories,
    "collectMemories": collect_memories,
    "compactMemories": compact_memories,
}
