"""Erasure requests: target, status and report; the entry point to the stores of an erasure."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from recollect.db.columns import EncryptedColumn
from recollect.db.engines.expressions import InTextList, insert_if_absent
from recollect.db.statements import Query, Row, param
from recollect.db.tables.memories import blocked_handles, erasures
from recollect.db.transaction import Tx
from recollect.erasure.model import ErasureCheck, ErasureStatus, ErasureTarget
from recollect.erasure.plan import Erasure, RedactionPlan
from recollect.erasure.store import targets
from recollect.erasure.store.audit import AuditErasureStore
from recollect.erasure.store.conversations import ConversationErasureStore
from recollect.erasure.store.counts import count_linked_rows
from recollect.erasure.store.custom_ids import count_custom_ids
from recollect.erasure.store.memories import MemoryErasureStore
from recollect.erasure.store.people import PeopleErasureStore
from recollect.erasure.store.search_index import MemoryIndexCheck
from recollect.erasure.store.verify import (
    TABLES,
    check_fulltext,
    check_ids,
    check_vectors,
    find_in_plain_text,
)
from recollect.kernel import strict_json
from recollect.kernel.ids import PersonId, UserId
from recollect.kernel.retention_rules import RetentionRules
from recollect.kernel.runtime import Cipher

_e, _b = erasures.c, blocked_handles.c
_COLUMNS = (_e.id, _e.status, _e.created_at, _e.finished_at, _e.target, _e.report)


class ErasureStore:
    """Erasure requests; finds targets, counts and verifies."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self.memories = MemoryErasureStore(cipher, rules)
        self.trees = ConversationErasureStore(cipher)
        self.people = PeopleErasureStore(cipher)
        self.audit = AuditErasureStore(cipher)
        self._index = MemoryIndexCheck(cipher)
        self._target = EncryptedColumn(cipher, _e.target)

    def insert(self, tx: Tx, erasure: Erasure) -> None:
        tx.run(_INSERT, self._to_params(erasure))

    def fetch(self, tx: Tx, erasure_id: str) -> Erasure | None:
        row = tx.fetch_first(_FETCH, {"id": erasure_id})
        return self._from_row(row) if row else None

    def update(self, tx: Tx, erasure: Erasure) -> None:
        """Store status, report and target."""
        tx.run(_UPDATE, self._to_params(erasure))

    def has_user(self, tx: Tx, user_id: UserId) -> bool:
        """Does the user have a person, a membership or an entry?"""
        return targets.has_user(tx, user_id)

    def resolve_person(self, tx: Tx, person_id: PersonId) -> PersonId | None:
        """The id after merges; None if the person is unknown or being erased."""
        return targets.resolve_person(tx, person_id)

    def find_target(
        self, tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
    ) -> ErasureTarget:
        """Everything linked to a canonical person and to these users."""
        return targets.find_target(tx, person_id=person_id, user_ids=user_ids, stand_in=stand_in)

    def extend_target(self, tx: Tx, target: ErasureTarget) -> ErasureTarget:
        """The target with what has become linked to its users since."""
        return targets.extend_target(tx, target)

    def plan_redaction(self, tx: Tx, target: ErasureTarget) -> RedactionPlan:
        """Decide which identifiers to redact where. Reads the names of all people."""
        return targets.plan_redaction(tx, target)

    def count_linked(self, tx: Tx, target: ErasureTarget) -> tuple[dict[str, int], int]:
        """Linked rows by store, and how many memories are also about other people."""
        return count_linked_rows(tx, target)

    def block_handles(self, tx: Tx, hashes: Sequence[str], erasure_id: str) -> None:
        """Store hashes of handles that must not be learned again."""
        for hash_ in hashes:
            tx.run(_BLOCK, {"hash": hash_, "erasure_id": erasure_id})

    def is_blocked(self, tx: Tx, hashes: Sequence[str]) -> bool:
        """Is one of these hashes stored?"""
        return tx.fetch_first(_BLOCKED, {"hashes": strict_json.dump(list(hashes))}) is not None

    def check_tables(self, tx: Tx, plan: RedactionPlan) -> list[ErasureCheck]:
        """One check a table or index: searches for ids, and texts that a redaction would change."""
        probes, found = check_ids(tx, plan.target)
        probes["fulltext"], found["fulltext"] = check_fulltext(tx, plan)
        texts = Counter(
            {
                "memories": self.memories.count_unredacted_memories(tx, plan),
                "memory_versions": self.memories.count_unredacted_versions(tx, plan),
                "fulltext": self._index.count_stale(
                    tx, self.memories.iter_linked(tx, plan.target), plan
                ),
                **self.people.count_unredacted(tx, plan),
                **self.audit.count_unredacted(tx, plan),
            }
        )
        texts.update(self.trees.count_unredacted(tx, plan))
        for name, count in texts.items():
            probes[name] += len(plan.target.identifiers)
            found[name] += count
        checks = [ErasureCheck(name, probes[name], found[name]) for name in sorted(probes)]
        return [*checks, check_vectors(tx)]

    def count_custom_ids(self, tx: Tx, plan: RedactionPlan) -> Mapping[str, int]:
        """Ids chosen by callers that contain an identifier, in linked rows that stay, by kind."""
        return count_custom_ids(tx, plan)

    def find_in_plain_text(self, tx: Tx, identifiers: Sequence[str]) -> list[str]:
        """Which of these occur in an unencrypted text column of any table."""
        return find_in_plain_text(tx, identifiers)

    @property
    def table_names(self) -> Sequence[str]:
        return [table.name for table in TABLES]

    def _to_params(self, erasure: Erasure) -> dict[str, Any]:
        return {
            "id": erasure.id,
            "status": erasure.status,
            "created_at": erasure.created_at,
            "finished_at": erasure.finished_at,
            "target": self._target.seal(_encode_target(erasure.target), erasure.id),
            "report": strict_json.dump(erasure.report),
        }

    def _from_row(self, row: Row) -> Erasure:
        coded = self._target.open(row[4], row[0]) or ""
        target = ErasureTarget.from_json(strict_json.load(base64.b64decode(coded).decode()))
        return Erasure(
            row[0], ErasureStatus(row[1]), row[2], row[3], target, strict_json.load(row[5])
        )


def _encode_target(target: ErasureTarget) -> str:
    """The target as base64. While the job runs, this row holds all identifiers; the search of the
    database file's bytes must not find them here."""
    return base64.b64encode(strict_json.dump(target.to_json()).encode()).decode()


_ID = param("id", _e.id)
_VALUES = {column.name: param(column.name, column) for column in _COLUMNS}
_INSERT = Query(insert(erasures).values(_VALUES))
_FETCH = Query(select(*_COLUMNS).where(_e.id == _ID))
_UPDATED_COLUMNS = ("status", "finished_at", "target", "report")
_UPDATE = Query(
    update(erasures).where(_e.id == _ID).values({name: _VALUES[name] for name in _UPDATED_COLUMNS})
)
_BLOCK = Query(
    insert_if_absent(blocked_handles, "hash").values(
        hash=param("hash", _b.hash), erasure_id=param("erasure_id", _b.erasure_id)
    )
)
_BLOCKED = Query(select(_b.hash).where(InTextList(_b.hash, param("hashes"))).limit(1))
