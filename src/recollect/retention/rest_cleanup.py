"""Operations of cleanup, for admins. `dry_run` has no default: every call must say it."""

from typing import Annotated

from pydantic import Field

from recollect.http.call import Call, Handler
from recollect.http.operation import (
    JustifiedStrict,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, TEXT
from recollect.identity.actions import Action
from recollect.kernel.retention_rules import VACUUM_DAYS, MemoryScope
from recollect.kernel.strict_json import dump
from recollect.retention.cleanup_audit import CleanupOrder
from recollect.retention.cleanup_service import CleanupResult, CleanupService
from recollect.retention.rest import ScopeWord

Days = Annotated[int, Field(ge=0, le=10_000_000)]


class ExpireBody(JustifiedStrict):
    """What to expire: everything, or one scope."""

    scope: ScopeWord | None = None
    dry_run: bool


class VacuumBody(ExpireBody):
    """What to vacuum, and from which age on records go."""

    older_than_days: Days = VACUUM_DAYS


class TidyBody(JustifiedStrict):
    """From which age on rows that were put away lose their text; unset: `gc.archive_days`."""

    dry_run: bool
    older_than_days: Days | None = None


_COUNTS = {"deleted_count": INTEGER, "would_delete_count": INTEGER}
_SCOPE: Schema = {"type": "string", "enum": ["all", *(str(scope) for scope in MemoryScope)]}

RESOURCES: dict[str, Schema] = {
    "ExpireReport": resource(_COUNTS | {"by_rule": OBJECT}),
    "VacuumReport": resource(
        _COUNTS
        | {
            "skipped_count": INTEGER,
            "scope": _SCOPE,
            "older_than_days": INTEGER,
            "cutoff": INSTANT,
            "dry_run": {"type": "boolean"},
            "backup": nullable_field(TEXT),
        }
    ),
    "TidyReport": resource({"by_step": OBJECT, "count": INTEGER}),
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "expireMemories",
        "POST /v1/admin/expire",
        200,
        "Remove every memory that is past its expiry now, without grace.",
        response="ExpireReport",
        action=Action.ADMIN_WRITE,
        audit="expire",
        body=ExpireBody,
    ),
    memory_operation(
        "vacuumMemories",
        "POST /v1/admin/vacuum",
        200,
        "Remove memories that expired longer ago than the grace period, and records older than "
        "`older_than_days` that neither a live policy nor an expiry of their own keeps. They are "
        "written to a backup first; without one nothing is removed.",
        response="VacuumReport",
        action=Action.ADMIN_WRITE,
        audit="vacuum",
        body=VacuumBody,
    ),
    memory_operation(
        "collectMemories",
        "POST /v1/admin/gc",
        200,
        "Tidy up: purge what expired longer ago than the grace period, archive where a space has "
        "more than `memory.max_entries`, compact.",
        response="TidyReport",
        action=Action.ADMIN_WRITE,
        audit="gc",
        body=TidyBody,
    ),
    memory_operation(
        "compactMemories",
        "POST /v1/admin/compact",
        200,
        "Take the text out of memories that were superseded or archived long enough ago; ids, "
        "times and links stay.",
        response="TidyReport",
        action=Action.ADMIN_WRITE,
        audit="compact",
        body=TidyBody,
    ),
)


async def expire_memories(call: Call) -> str:
    body: ExpireBody = call.body
    done = await call.services[CleanupService].expire(
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
    done = await call.services[CleanupService].vacuum(
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
        await call.services[CleanupService].gc(commission, older_than_days=body.older_than_days)
    )


async def compact_memories(call: Call) -> str:
    body: TidyBody = call.body
    commission = _cleanup_order(call, dry_run=body.dry_run)
    return _result_to_json(
        await call.services[CleanupService].compact(
            commission, older_than_days=body.older_than_days
        )
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
