"""Verifies an erasure: searches tables, indexes, backups and the bytes of the database file.

The search uses the same `IdentifierMatcher` as the redaction, over decrypted text.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recollect.conversations.model import collect_strings
from recollect.db.context import ServiceContext
from recollect.db.transaction import DatabaseStorage, Tx
from recollect.erasure.model import NOT_COVERED, ErasureCheck, ErasureTarget
from recollect.erasure.plan import RedactionPlan
from recollect.erasure.store.bundle import ErasureStores
from recollect.kernel import strict_json
from recollect.kernel.errors import Internal
from recollect.kernel.runtime import Cipher
from recollect.retention.backup_ports import BackupFolder

_SERVER_FILES = ("files_of_the_database_server", "write_ahead_log_and_its_archives")
# Encrypted columns can't be searched as bytes. Their rows were searched after decryption.
_SEALED_BYTES = "sealed_bytes_of_the_database_file"
_VECTOR_SNAPSHOTS = "snapshots_of_the_vector_database"


@dataclass(frozen=True, slots=True)
class ErasureFindings:
    """One check for each store, and the names of what could not be searched."""

    checks: list[ErasureCheck]
    not_covered: list[str]

    @property
    def count(self) -> int:
        """How many rows, lines or byte sequences are left that should be gone."""
        return sum(check.found for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The fields of the report that verification sets."""
        return {
            "checks": [asdict(check) for check in self.checks],
            "not_covered": self.not_covered,
        }


class ErasureVerifier:
    """Read-only."""

    def __init__(
        self,
        context: ServiceContext[ErasureStores],
        *,
        storage: DatabaseStorage,
        backups: BackupFolder,
        vectors_beside: bool = False,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._cipher = context.runtime.cipher
        self._storage = storage
        self._backups = backups
        self._vectors_beside = vectors_beside

    async def verify(
        self, target: ErasureTarget, plan: RedactionPlan | None = None
    ) -> ErasureFindings:
        """Search every store once. Without `plan` it is made from `target`.

        Ids are searched in every text column. Texts are checked by running the redaction without
        writing: a row counts as found if redacting it would change it. Three more places hold
        copies of what was in rows:

        - indexes, which may still have words or vectors of a text that changed;
        - backup files, line by line;
        - the bytes of the database file: free pages and the write-ahead log. Only identifiers that
          occur in no plain text any more are searched there. A name that another person shares,
          or that is an ordinary word, stays legitimately in rows and would be found for ever.
        """
        erasures = self._stores.erasures

        def work(tx: Tx) -> _DatabaseFindings:
            used_plan = plan or erasures.plan_redaction(tx, target)
            elsewhere = set(erasures.find_in_plain_text(tx, used_plan.unique))
            needles = [one for one in used_plan.unique if one not in elsewhere]
            ids = erasures.count_custom_ids(tx, used_plan)
            return _DatabaseFindings(used_plan, erasures.check_tables(tx, used_plan), needles, ids)

        seen = await self._database.scan(work)
        matches_target = backup_line_matcher(seen.plan, self._cipher)
        lines, found = await asyncio.to_thread(self._backups.count_lines, matches_target)
        counts = await self._storage.count_bytes([one.encode() for one in seen.needles])
        if counts is None:
            # The files belong to the database server. The report says so in `not_covered`.
            stored = ErasureCheck("storage", len(erasures.table_names), 0)
        else:
            stored = ErasureCheck("storage", len(seen.needles), sum(counts))
        checks = [*seen.checks, ErasureCheck("backups", lines, found), stored]
        return ErasureFindings(
            checks, self._list_not_covered(seen, files_are_ours=counts is not None)
        )

    def _list_not_covered(self, seen: "_DatabaseFindings", *, files_are_ours: bool) -> list[str]:
        not_covered = list(NOT_COVERED)
        if not files_are_ours:
            not_covered += _SERVER_FILES
        elif self._cipher.is_enabled:
            not_covered.append(_SEALED_BYTES)
        if self._vectors_beside:
            not_covered.append(_VECTOR_SNAPSHOTS)
        if seen.plan.name_parts_left:
            not_covered.append(f"name_parts:{seen.plan.name_parts_left}")
        return not_covered + [f"ids_of_{kind}:{count}" for kind, count in seen.chosen_ids.items()]


@dataclass(frozen=True, slots=True)
class _DatabaseFindings:
    """What one transaction found, and what the searches outside of the database need."""

    plan: RedactionPlan
    checks: list[ErasureCheck]
    needles: list[str]
    chosen_ids: Mapping[str, int]


def backup_line_matcher(plan: RedactionPlan, cipher: Cipher) -> Callable[[str], bool]:
    """A predicate: does this line of a backup mention the target?

    Any line with one of the ids or an unambiguous identifier does. Names and handles count only in
    lines of linked memories, as they do in rows. A line that can't be decrypted does not match.
    """
    target = plan.target
    ids = {*target.person_ids, *target.user_ids}
    places = {*target.chats, *target.trees, *target.gone_chats, *target.gone_trees}

    def matches_target(line: str) -> bool:
        kept = _decrypt_line(line, cipher)
        if not isinstance(kept, dict):
            # Not JSON: the line was cut off while it was written. Search its text.
            return plan.full.has_match(line)
        if ids & set(collect_strings(kept)) or plan.sure.has_match(kept):
            return True
        linked = kept.get("id") in target.memories or _space_id(kept) in places
        return linked and plan.full.has_match(kept)

    return matches_target


def _decrypt_line(line: str, cipher: Cipher) -> Any:
    """The decoded line, decrypted if it was sealed; the raw text if that fails."""
    try:
        kept = strict_json.load(line)
        if kept.get("type") != "sealed":
            return kept
        sealed, id_ = kept["line"], kept["id"]
        return strict_json.load(cipher.open(sealed, table="backups", column="line", row_id=id_))
    except (ValueError, KeyError, AttributeError, Internal):
        return line


def _space_id(kept: dict[str, Any]) -> str | None:
    space = kept.get("space")
    return space.get("id") if isinstance(space, dict) else None
