"""Erasure requests: target, status and report; the entry point to the stores of an erasure."""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from recollect.domain import jsontext
from recollect.domain.disclosure import PersonId
from recollect.domain.erasure import Check, ErasureStatus, Target
from recollect.domain.ids import UserId
from recollect.domain.retention import RetentionRules
from recollect.ports.database import Tx
from recollect.ports.erasures import Cleaning, Erasure
from recollect.ports.runtime import Cipher
from recollect.stores import erasure_targets as targets
from recollect.stores.engines.expressions import AmongTexts, insert_if_absent
from recollect.stores.erasure_counts import counts_of
from recollect.stores.erasure_ids import chosen_ids
from recollect.stores.erasure_index import ErasedIndex
from recollect.stores.erasure_memories import ErasedMemories
from recollect.stores.erasure_probes import (
    TABLES,
    probe_ids,
    probe_vectors,
    probe_words,
    spread,
)
from recollect.stores.erasure_records import ErasedRecords
from recollect.stores.erasure_rest import ErasedRest
from recollect.stores.erasure_trees import ErasedTrees
from recollect.stores.memory_tables import blocked_handles, erasures
from recollect.stores.rows import Sealed
from recollect.stores.statements import Row, Statement, param

_e, _b = erasures.c, blocked_handles.c
_COLUMNS = (_e.id, _e.status, _e.created_at, _e.finished_at, _e.target, _e.report)


class SqlErasures:
    """The port's ErasureStore on both engines."""

    def __init__(self, cipher: Cipher, rules: RetentionRules) -> None:
        self.memories = ErasedMemories(cipher, rules)
        self.trees = ErasedTrees(cipher)
        self.rest = ErasedRest(cipher)
        self.records = ErasedRecords(cipher)
        self._index = ErasedIndex(cipher)
        self._target = Sealed(cipher, _e.target)

    def insert(self, tx: Tx, erasure: Erasure) -> None:
        tx.run(_INSERT, self._to_params(erasure))

    def fetch(self, tx: Tx, erasure_id: str) -> Erasure | None:
        row = tx.first(_FETCH, {"id": erasure_id})
        return self._from_row(row) if row else None

    def update(self, tx: Tx, erasure: Erasure) -> None:
        tx.run(_UPDATE, self._to_params(erasure))

    def knows_user(self, tx: Tx, user_id: UserId) -> bool:
        return targets.knows_user(tx, user_id)

    def canonical(self, tx: Tx, person_id: PersonId) -> PersonId | None:
        return targets.canonical(tx, person_id)

    def target_of(
        self, tx: Tx, *, person_id: PersonId | None, user_ids: Sequence[UserId], stand_in: str
    ) -> Target:
        return targets.target_of(tx, person_id=person_id, user_ids=user_ids, stand_in=stand_in)

    def grown(self, tx: Tx, target: Target) -> Target:
        return targets.grown(tx, target)

    def cleaning(self, tx: Tx, target: Target) -> Cleaning:
        return targets.cleaning_of(tx, target)

    def counts(self, tx: Tx, target: Target) -> tuple[dict[str, int], int]:
        return counts_of(tx, target)

    def block(self, tx: Tx, hashes: Sequence[str], erasure_id: str) -> None:
        for hash_ in hashes:
            tx.run(_BLOCK, {"hash": hash_, "erasure_id": erasure_id})

    def is_blocked(self, tx: Tx, hashes: Sequence[str]) -> bool:
        return tx.first(_BLOCKED, {"hashes": jsontext.dump(list(hashes))}) is not None

    def probe(self, tx: Tx, cleaning: Cleaning) -> list[Check]:
        """One check a table or index: searches for ids, and texts that a redaction would change."""
        probes, found = probe_ids(tx, cleaning.target)
        probes["fulltext"], found["fulltext"] = probe_words(tx, cleaning)
        texts = Counter(
            {
                "memories": self.memories.dirty_memories(tx, cleaning),
                "memory_versions": self.memories.dirty_versions(tx, cleaning),
                "fulltext": self._index.stale(
                    tx, self.memories.linked(tx, cleaning.target), cleaning
                ),
                **self.rest.dirty_rest(tx, cleaning),
                **self.records.dirty_records(tx, cleaning),
            }
        )
        texts.update(self.trees.dirty_trees(tx, cleaning))
        for name, count in texts.items():
            probes[name] += len(cleaning.target.identifiers)
            found[name] += count
        checks = [Check(name, probes[name], found[name]) for name in sorted(probes)]
        return [*checks, probe_vectors(tx)]

    def chosen_ids(self, tx: Tx, cleaning: Cleaning) -> Mapping[str, int]:
        return chosen_ids(tx, cleaning)

    def spread(self, tx: Tx, identifiers: Sequence[str]) -> list[str]:
        return spread(tx, identifiers)

    @property
    def tables(self) -> Sequence[str]:
        return [table.name for table in TABLES]

    def _to_params(self, erasure: Erasure) -> dict[str, Any]:
        return {
            "id": erasure.id,
            "status": erasure.status,
            "created_at": erasure.created_at,
            "finished_at": erasure.finished_at,
            "target": self._target.seal(_coded(erasure.target), erasure.id),
            "report": jsontext.dump(erasure.report),
        }

    def _from_row(self, row: Row) -> Erasure:
        coded = self._target.open(row[4], row[0]) or ""
        target = Target.from_json(jsontext.load(base64.b64decode(coded).decode()))
        return Erasure(row[0], ErasureStatus(row[1]), row[2], row[3], target, jsontext.load(row[5]))


def _coded(target: Target) -> str:
    """The target as base64. While the job runs, this row holds all identifiers; the search of the
    database file's bytes must not find them here."""
    return base64.b64encode(jsontext.dump(target.to_json()).encode()).decode()


_ID = param("id", _e.id)
_VALUES = {column.name: param(column.name, column) for column in _COLUMNS}
_INSERT = Statement(insert(erasures).values(_VALUES))
_FETCH = Statement(select(*_COLUMNS).where(_e.id == _ID))
_CHANGING = ("status", "finished_at", "target", "report")
_UPDATE = Statement(
    update(erasures).where(_e.id == _ID).values({name: _VALUES[name] for name in _CHANGING})
)
_BLOCK = Statement(
    insert_if_absent(blocked_handles, "hash").values(
        hash=param("hash", _b.hash), erasure_id=param("erasure_id", _b.erasure_id)
    )
)
_BLOCKED = Statement(select(_b.hash).where(AmongTexts(_b.hash, param("hashes"))).limit(1))
