"""Operations of cleanup, for admins. `dry_run` has no default: every call must say it."""

from dataclasses import asdict
from typing import Annotated

from pydantic import Field, WithJsonSchema

from recollect.http.call import Call, Handler
from recollect.http.operation import Operation, memory_operation
from recollect.http.resource import InstantText, JsonObject, Resource, resource_schemas
from recollect.identity.actions import Action
from recollect.kernel.retention_rules import MemoryScope
from recollect.retention.cleanup_service import CleanupService
from recollect.retention.commands import ExpireMemories, TidyMemories, VacuumMemories

_ScopeOrAll = Annotated[
    str, WithJsonSchema({"type": "string", "enum": ["all", *map(str, MemoryScope)]})
]


class ExpireReportResource(Resource):
    """What was removed because it had expired."""

    deleted_count: int = Field(description="How many memories were removed.", examples=[0])
    would_delete_count: int = Field(
        description="How many memories are due, in a dry run and else.", examples=[0]
    )
    by_rule: JsonObject = Field(
        description="How many of them, by the rule of their expiry.", examples=[{}]
    )


class VacuumReportResource(Resource):
    """What a vacuum removed, and what was asked of it."""

    deleted_count: int = Field(description="How many memories were removed.", examples=[0])
    would_delete_count: int = Field(
        description="How many memories are due, in a dry run and else.", examples=[0]
    )
    skipped_count: int = Field(
        description="How many are old enough and were kept, by a live policy or an expiry of "
        "their own.",
        examples=[0],
    )
    scope: _ScopeOrAll = Field(description="Which scope was asked for.", examples=["all"])
    older_than_days: int = Field(description="From which age on records go.", examples=[90])
    cutoff: InstantText = Field(description="Records from before this instant go.")
    dry_run: bool = Field(description="Whether it only tells what would go.", examples=[True])
    backup: str | None = Field(
        description="The file that they were written to first; null in a dry run."
    )


class TidyReportResource(Resource):
    """How many rows each step changed."""

    by_step: JsonObject = Field(
        description="How many rows each step changed.", examples=[{"compact": 0}]
    )
    count: int = Field(description="How many rows were changed in all.", examples=[0])


RESOURCES = resource_schemas(ExpireReportResource, VacuumReportResource, TidyReportResource)

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "expireMemories",
        "POST /v1/admin/expire",
        200,
        "Remove every memory that is past its expiry now, without grace.",
        response="ExpireReport",
        action=Action.ADMIN_WRITE,
        audit="expire",
        body=ExpireMemories,
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
        body=VacuumMemories,
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
        body=TidyMemories,
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
        body=TidyMemories,
    ),
)


async def expire_memories(call: Call) -> str:
    return ExpireReportResource.render(
        await call.services[CleanupService].expire(call.justified_body, call.required_requester)
    )


async def vacuum_memories(call: Call) -> str:
    command: VacuumMemories = call.justified_body
    done = await call.services[CleanupService].vacuum(command, call.required_requester)
    order = {
        "scope": command.scope or "all",
        "older_than_days": command.older_than_days,
        "dry_run": command.dry_run,
    }
    return VacuumReportResource.render(asdict(done) | order)


async def collect_memories(call: Call) -> str:
    return TidyReportResource.render(
        await call.services[CleanupService].gc(call.justified_body, call.required_requester)
    )


async def compact_memories(call: Call) -> str:
    return TidyReportResource.render(
        await call.services[CleanupService].compact(call.justified_body, call.required_requester)
    )


HANDLERS: dict[str, Handler] = {
    "expireMemories": expire_memories,
    "vacuumMemories": vacuum_memories,
    "collectMemories": collect_memories,
    "compactMemories": compact_memories,
}
