"""Audit of reads: which memories were returned to whom.

A read runs in a read-only transaction, so its event gets a transaction of its own. That one is
committed before the response is sent: if the log can't be written, nothing is disclosed. An event
may thus record a response that never arrived, but no response goes unrecorded.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Literal

from recollect.audit.memory_recorder import MemoryAudit, memory_payload
from recollect.db.transaction import Database, Tx
from recollect.identity.requester import Requester
from recollect.kernel.retention_rules import PiiRisk
from recollect.kernel.space import Space
from recollect.memories.model import Memory
from recollect.visibility.viewer import Viewer

IDS_MAX = 100


class ReadAudit:
    """Writes `memory.read` events. By `reads` for memories with personal data of high or critical
    risk (`pii`), for all memories, or for none. Writing costs a commit for each response, hence the
    choice."""

    def __init__(
        self, database: Database, audit: MemoryAudit, reads: Literal["pii", "all", "none"]
    ) -> None:
        self._database = database
        self._audit = audit
        self._reads = reads

    def should_record(self, memory: Memory) -> bool:
        """Whether reads of this memory are recorded."""
        if self._reads == "pii":
            risk = self._audit.rules.highest_risk(memory.pii_tags)
            return risk is not None and risk >= PiiRisk.HIGH
        return self._reads == "all"

    async def record_reads(
        self, requester: Requester, operation: str, returned: Iterable[Memory], *, rule: str
    ) -> None:
        """Record the memories of a response, as one event per space.

        The log is readable by space (see `EventReader`): an event over several spaces would either
        be hidden from their owners or show one owner the ids of another's memories. All events of a
        response are written in one transaction. Nothing is written if no memory is to be recorded.

        `rule` is the rule of visibility that allowed a single memory; for lists and searches it is
        the context of the request (see `context_word`).
        """
        recorded = sorted(filter(self.should_record, returned), key=_space_key)
        if not recorded:
            return

        def work(tx: Tx) -> None:
            for _, rows in groupby(recorded, key=_space_key):
                self._record_space(
                    tx, requester, list(rows), {"operation": operation, "rule": rule}
                )

        await self._database.write(work)

    def _record_space(
        self, tx: Tx, requester: Requester, rows: Sequence[Memory], members: dict[str, Any]
    ) -> None:
        # With a single memory the event is one of that memory, with its id and key. With several
        # it names what they have in common; their ids are in the payload, up to IDS_MAX.
        first = rows[0]
        alone = len(rows) == 1
        payload = memory_payload(first, self._audit.rules) if alone else _shared_payload(rows)
        self._audit.record(
            tx,
            requester,
            "memory.read",
            space=first.space,
            memory_id=first.id if alone else None,
            agent_id=_common_value(row.agent_id for row in rows),
            run_id=_common_value(row.run_id for row in rows),
            payload=payload | members | _count_payload(rows),
        )


def context_word(viewer: Viewer) -> str:
    """The context of a request: `direct` outside of chats, else the kind of the chat."""
    return "direct" if viewer.chat is None else str(viewer.chat.kind)


def _space_key(memory: Memory) -> tuple[str, str]:
    return memory.space.kind, memory.space.id


def _common_value(values: Iterable[str | None]) -> str | None:
    """The value, if all have the same one."""
    seen = {*values}
    return next(iter(seen)) if len(seen) == 1 else None


def _count_payload(rows: Sequence[Memory]) -> dict[str, Any]:
    return {"count": len(rows), "ids": [row.id for row in rows[:IDS_MAX]]}


def _shared_payload(rows: Sequence[Memory]) -> dict[str, Any]:
    """The payload of `memory_payload` for several memories of one space: their scope and space, and
    all of their tags."""
    space: Space = rows[0].space
    tags = sorted({tag for row in rows for tag in row.pii_tags})
    return {
        "scope": str(space.scope),
        "has_pii": bool(tags),
        "pii_tags": tags,
        "space": {"kind": str(space.kind), "id": space.id},
    }
