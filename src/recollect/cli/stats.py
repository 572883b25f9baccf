"""`recollect stats`: how much is stored."""

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from recollect.cli.connection import Session, Target, connect
from recollect.cli.output import Output, to_text, write, write_fields, write_json
from recollect.cli.progress import ShowProgress, progress
from recollect.cli.transfers import export_lines

if TYPE_CHECKING:
    from recollect_client import models

_PAGE = 200
_PLURALS = {"memory": "memories", "person": "people"}


def stats(target: Target, output: Output) -> None:
    """Count what is stored: in a database here all of it, on a server what you may see."""
    with (
        connect(target, as_admin=target.asker is None) as session,
        progress("Count", "lines") as show,
    ):
        counts = _count_memories(session, show)
        counts["conversations"] = _count_conversations(session)
        health = _read_health(session)
        where = session.where
    if output.as_json:
        write_json({"where": where, **counts, "server": health})
        return
    write_fields({"where": where, **{name: _to_cell(value) for name, value in counts.items()}})
    if health:
        write("")
        queue = health["queue"]
        write_fields(
            {
                "version": health["version"],
                "database": health["database"],
                "encrypted": health["encryption"],
                "jobs": f"{queue['depth']} wait, {queue['stuck']} are stuck",
                "warnings": health["warnings"],
            }
        )


def _count_memories(session: Session, show: ShowProgress) -> dict[str, Any]:
    """The lines of an export by kind: it has everything that the caller may have."""
    kinds: Counter[str] = Counter()
    types: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    for number, line in enumerate(export_lines(session, {"status": "all"}), 1):
        found = json.loads(line)
        kind = str(found["type"])
        kinds[_PLURALS.get(kind, f"{kind}s")] += 1
        if kind == "memory":
            types[str(found["memory_type"])] += 1
            statuses[str(found["status"])] += 1
        show(number, None)
    return {**kinds, "memories by type": dict(types), "memories by status": dict(statuses)}


def _count_conversations(session: Session) -> int:
    from recollect_client import Forbidden

    operations = session.operations
    try:
        return sum(1 for _ in operations.iterate_admin_list_conversations(mode="all", limit=_PAGE))
    except Forbidden:
        return sum(1 for _ in operations.iterate_list_conversations(mode="all", limit=_PAGE))


def _read_health(session: Session) -> dict[str, Any] | None:
    """What a server tells its admins; None for others."""
    from recollect_client import Forbidden

    try:
        report: models.HealthReport = session.operations.admin_get_health()
    except Forbidden:
        return None
    return report.model_dump(mode="json", by_alias=True)


def _to_cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in sorted(value.items()))
    return to_text(value)
