"""Operations of cleanup, for admins. `dry_run` has no default: every call must say it."""

from typing import Annotated

from pydantic import Field

from recollect.api.memory.retention import ScopeWord
from recollect.api.memory.rows import JustifiedStrict, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INSTANT, INTEGER, OBJECT, TEXT
from recollect.domain.retention import VACUUM_DAYS, MemoryScope
from recollect.policy.actions import Action

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
