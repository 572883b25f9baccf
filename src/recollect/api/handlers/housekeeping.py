"""Handlers of cleanup: expire, vacuum, gc, compact."""

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant
from recollect.api.memory.housekeeping import ExpireBody, TidyBody, VacuumBody
from recollect.domain.jsontext import dump
from recollect.services.housekeeping import Tidied
from recollect.services.housekeeping_events import Commission


async def expire_memories(call: Call) -> str:
    body: ExpireBody = call.body
    done = await call.services.housekeeping.expire(
        _commission(call, dry_run=body.dry_run), scope=body.scope
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
        _commission(call, dry_run=body.dry_run),
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
            "cutoff": instant(done.cutoff),
            "dry_run": body.dry_run,
            "backup": done.backup,
        }
    )


async def collect_memories(call: Call) -> str:
    body: TidyBody = call.body
    commission = _commission(call, dry_run=body.dry_run)
    return _tidied(
        await call.services.housekeeping.gc(commission, older_than_days=body.older_than_days)
    )


async def compact_memories(call: Call) -> str:
    body: TidyBody = call.body
    commission = _commission(call, dry_run=body.dry_run)
    return _tidied(
        await call.services.housekeeping.compact(commission, older_than_days=body.older_than_days)
    )


def _commission(call: Call, *, dry_run: bool) -> Commission:
    return Commission(dry_run=dry_run, requester=call.asker, justification=call.justification)


def _tidied(done: Tidied) -> str:
    return dump({"by_step": dict(done.by_step), "count": done.count})


HANDLERS: dict[str, Handler] = {
    "expireMemories": expire_memories,
    "vacuumMemories": vacuum_memories,
    "collectMemories": collect_memories,
    "compactMemories": compact_memories,
}
