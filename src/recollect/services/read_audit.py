"""Tells the audit log who was shown which memories. Reads change nothing, so their event is a
transaction of its own, before the answer goes out."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Literal

from recollect.domain.memories import Memory
from recollect.domain.retention import Risk
from recollect.domain.spaces import Space
from recollect.policy.requesters import Requester
from recollect.policy.sight import Sight
from recollect.ports.database import Database, Tx
from recollect.services.memory_audit import MemoryAudit
from recollect.services.memory_events import memory_payload

IDS_MAX = 100


class ReadAudit:
    """Events `memory.read`: by `reads` of memories with high or critical risk, of all, of none."""

    def __init__(
        self, database: Database, audit: MemoryAudit, reads: Literal["pii", "all", "none"]
    ) -> None:
        self._database = database
        self._audit = audit
        self._reads = reads

    def wants(self, memory: Memory) -> bool:
        """Is it told when this one is shown?"""
        if self._reads == "pii":
            risk = self._audit.rules.riskiest(memory.pii_tags)
            return risk is not None and risk >= Risk.HIGH
        return self._reads == "all"

    async def tell(
        self, requester: Requester, operation: str, shown: Iterable[Memory], *, rule: str
    ) -> None:
        """One event for each space, so that its owner finds it; nothing if none is wanted.

        `rule` is the one that showed a single memory, for many the context they were asked in.
        """
        told = sorted(filter(self.wants, shown), key=_space_key)
        if not told:
            return

        def work(tx: Tx) -> None:
            for _, rows in groupby(told, key=_space_key):
                self._record(tx, requester, list(rows), {"operation": operation, "rule": rule})

        await self._database.write(work)

    def _record(
        self, tx: Tx, requester: Requester, rows: Sequence[Memory], members: dict[str, Any]
    ) -> None:
        first = rows[0]
        alone = len(rows) == 1
        told = memory_payload(first, self._audit.rules) if alone else _of_many(rows)
        self._audit.record(
            tx,
            requester,
            "memory.read",
            space=first.space,
            memory_id=first.id if alone else None,
            agent_id=_common(row.agent_id for row in rows),
            run_id=_common(row.run_id for row in rows),
            payload=told | members | _counted(rows),
        )


def context_word(sight: Sight) -> str:
    """Where it was asked: `direct` outside of chats, else the kind of the chat."""
    return "direct" if sight.chat is None else str(sight.chat.kind)


def _space_key(memory: Memory) -> tuple[str, str]:
    return memory.space.kind, memory.space.id


def _common(values: Iterable[str | None]) -> str | None:
    """What all of them have."""
    seen = {*values}
    return next(iter(seen)) if len(seen) == 1 else None


def _counted(rows: Sequence[Memory]) -> dict[str, Any]:
    return {"count": len(rows), "ids": [row.id for row in rows[:IDS_MAX]]}


def _of_many(rows: Sequence[Memory]) -> dict[str, Any]:
    """As for one memory, of what they have in common and together."""
    space: Space = rows[0].space
    tags = sorted({tag for row in rows for tag in row.pii_tags})
    return {
        "scope": str(space.scope),
        "has_pii": bool(tags),
        "pii_tags": tags,
        "space": {"kind": str(space.kind), "id": space.id},
    }
