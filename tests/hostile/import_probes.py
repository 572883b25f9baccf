"""Lines of a stranger's import that name what others have."""

from collections.abc import Iterator
from typing import Any

from tests.hostile.memory_probes import MINE, Probe, probe, rollbacks

MADE = {"created_at": "2026-01-01T00:00:00Z"}


def _lines() -> Iterator[dict[str, Any]]:
    """Things of one's own that name what others have, and things put where others are."""
    for members in (
        {"subjects": ["$person"]},
        {"stated_by": "$person"},
        {"learned_in": "$chat"},
        {"supersedes": ["$memory"]},
        {"superseded_by": "$memory", "status": "superseded"},
        {"conflicts_with": ["$memory"]},
        {"source_entries": ["$entry"]},
        {"source_memories": ["$memory"]},
        {"agent_id": "$agent", "run_id": "$run"},
        {"written_by": "$user"},
        {"space": {"kind": "user", "id": "$user"}},
        {"space": {"kind": "chat", "id": "$chat"}},
        {"space": {"kind": "run", "id": "$run"}, "agent_id": "$agent", "run_id": "$run"},
        {"space": {"kind": "agent_private", "id": "$agent"}, "agent_id": "$agent"},
    ):
        yield {"type": "memory", "content": "a line of mine"} | MINE | members
    yield {"type": "version", "memory_id": "$memory", "version": 1, "change": "created"}
    yield {"type": "approval", "id": "$approval", "memory_id": "$memory"} | MADE
    yield {"type": "relation", "memory_id": "$memory", "relation": "likes"}
    yield {"type": "merge", "primary_id": "$person", "secondary_id": "$my_person"} | MADE
    yield {"type": "participant", "chat_id": "$chat", "user_id": "$me"}
    yield {"type": "participant", "chat_id": "$my_chat", "person_id": "$person"}


def _importing() -> Iterator[Probe]:
    """Each line alone, so that none hides behind another."""
    for dry_run in ("true", "false"):
        for line in _lines():
            body = [{"schema": 1} | line]
            yield probe("importMemories", body, query={"dry_run": dry_run, "mode": "merge"})
    yield probe("listMemories", query={"spaces": "all"})
    yield probe("exportMemories")
    yield from rollbacks()


IMPORTING: tuple[Probe, ...] = tuple(_importing())
