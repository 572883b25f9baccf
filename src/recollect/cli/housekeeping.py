"""`recollect expire`, `vacuum`, `gc` and `evict`: the cleanups of a server, on demand or as a dry
run."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.options import Json
from recollect.cli.output import to_json, write_fields, write_json
from recollect.cli.portability import Why
from recollect.cli.progress import progress
from recollect.cli.tokens import parse_ttl
from recollect.cli.transfers import evict as evict_conversations
from recollect.kernel.clock import SystemClock
from recollect.kernel.retention_rules import VACUUM_DAYS, MemoryScope

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")

_POLL_SECONDS = 1.0
_PAGE = 200

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count.")]
Really = Annotated[bool, typer.Option("--really", help="Do it. One of the two is required.")]
Scope = Annotated[MemoryScope | None, typer.Option("--scope", help="Only memories of this scope.")]
Days = Annotated[int, typer.Option("--older-than-days", min=0, help="Age of records that go.")]
Age = Annotated[
    str, typer.Option("--older-than", metavar="AGE", help="Deleted longer ago: 24h, 30d.")
]


def expire(
    target: Target,
    dry_run: DryRun = False,
    really: Really = False,
    scope: Scope = None,
    why: Why = None,
    as_json: Json = False,
) -> None:
    """Remove every memory that is past its expiry, without grace."""
    only_count = _is_dry_run(dry_run, really)
    members = _members(why, scope=None if scope is None else str(scope))

    def clean(session: Session, only_count: bool) -> "BaseModel":
        return session.operations.expire_memories(dry_run=only_count, **members)

    _print_report(_clean(target, clean, "would_delete_count", only_count), as_json=as_json)


def vacuum(
    target: Target,
    dry_run: DryRun = False,
    really: Really = False,
    scope: Scope = None,
    older_than_days: Days = VACUUM_DAYS,
    why: Why = None,
    as_json: Json = False,
) -> None:
    """Remove what expired beyond its grace and old records, written to a backup first."""
    only_count = _is_dry_run(dry_run, really)
    members = _members(why, scope=None if scope is None else str(scope))

    def clean(session: Session, only_count: bool) -> "BaseModel":
        return session.operations.vacuum_memories(
            dry_run=only_count, older_than_days=older_than_days, **members
        )

    _print_report(_clean(target, clean, "would_delete_count", only_count), as_json=as_json)


def gc(
    target: Target,
    dry_run: DryRun = False,
    really: Really = False,
    why: Why = None,
    as_json: Json = False,
) -> None:
    """Delete what expired beyond its grace, archive where a space is over quota, compact."""
    only_count = _is_dry_run(dry_run, really)
    members = _members(why)

    def clean(session: Session, only_count: bool) -> "BaseModel":
        return session.operations.collect_memories(dry_run=only_count, **members)

    report = _clean(target, clean, "count", only_count)
    _print_report({**report.pop("by_step"), **report}, as_json=as_json)


def evict(
    target: Target,
    older_than: Age,
    dry_run: DryRun = False,
    really: Really = False,
    why: Why = None,
    as_json: Json = False,
) -> None:
    """Remove conversations for good that were deleted longer ago than an age."""
    only_count = _is_dry_run(dry_run, really)
    age = parse_ttl(older_than, option="--older-than")
    members = _members(why)
    with connect(target, as_admin=True, is_long=True, uses_default=False) as session:
        due = session.operations.iterate_admin_list_conversations(
            mode="roots",
            only_deleted=True,
            deleted_before=SystemClock().now() - age,
            limit=_PAGE,
            **members,
        )
        count = sum(1 for _ in due)
        if not only_count:
            period = {"retention_period": f"PT{int(age.total_seconds())}S"}
            sent = period | {"resource_types": ["conversations"]} | members
            with progress("Evict", "percent") as show:
                for percent in evict_conversations(session, sent):
                    show(percent, 100)
    name = "would_evict_count" if only_count else "evicted_count"
    _print_report({name: count}, as_json=as_json)


def _members(why: str | None, **more: Any) -> dict[str, Any]:
    return {
        name: value for name, value in {"justification": why, **more}.items() if value is not None
    }


def _is_dry_run(dry_run: bool, really: bool) -> bool:
    """Whether it is a dry run. BadParameter unless exactly one of the two flags is given: there is
    no default, and both together are a mistake that must not delete anything."""
    if dry_run == really:
        raise typer.BadParameter("pass --dry-run or --really, and not both")
    return dry_run


def _clean(
    target: Target,
    clean: Callable[[Session, bool], "BaseModel"],
    count_name: str,
    only_count: bool,
) -> dict[str, Any]:
    """The report of a cleanup. While it runs, dry runs tell how much is left to do."""

    def count() -> int:
        return int(getattr(clean(session, True), count_name))

    with connect(target, as_admin=True, is_long=True, uses_default=False) as session:
        if only_count:
            return to_json(clean(session, True))
        return to_json(_show_while(lambda: clean(session, False), count))


def _show_while(work: Callable[[], T], count: Callable[[], int]) -> T:
    """Do the work and show how far it is. A count takes as long as reading all that is due, so the
    pauses between counts grow with it."""
    with progress("Clean", "rows") as show, ThreadPoolExecutor(1) as thread:
        total = count()
        running = thread.submit(work)
        pause = _POLL_SECONDS
        while total and wait([running], pause).not_done:
            begun = time.monotonic()
            show(max(total - count(), 0), total)
            pause = max(_POLL_SECONDS, 10 * (time.monotonic() - begun))
        result = running.result()
        if total:
            show(total, total)
        return result


def _print_report(report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        write_json(report)
        return
    write_fields({name: str(value) for name, value in report.items() if value is not None})
