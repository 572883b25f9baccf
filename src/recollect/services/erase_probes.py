"""Searches everything for somebody who should be gone: tables, indexes, backups, bytes."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from recollect.domain import jsontext
from recollect.domain.conversations import strings_in
from recollect.domain.erasure import NOT_COVERED, Check, Target
from recollect.errors import Internal
from recollect.ports.backups import Backups
from recollect.ports.database import Database, Tx
from recollect.ports.erasures import Cleaning, Storage
from recollect.ports.runtime import Cipher
from recollect.ports.stores import Stores

_SERVER_FILES = ("files_of_the_database_server", "write_ahead_log_and_its_archives")
# What was sealed can't be found among the bytes of a file: only the rows were searched for it.
_SEALED_BYTES = "sealed_bytes_of_the_database_file"
_VECTOR_SNAPSHOTS = "snapshots_of_the_vector_database"


@dataclass(frozen=True, slots=True)
class Found:
    """What every store was asked, and what could not be."""

    checks: list[Check]
    not_covered: list[str]

    @property
    def count(self) -> int:
        """What should be gone and is not."""
        return sum(check.found for check in self.checks)

    def members(self) -> dict[str, Any]:
        """As a report shows it."""
        return {
            "checks": [asdict(check) for check in self.checks],
            "not_covered": self.not_covered,
        }


class Prober:
    """Looks, and changes nothing."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        cipher: Cipher,
        *,
        storage: Storage,
        backups: Backups,
        vectors_beside: bool = False,
    ) -> None:
        self._database = database
        self._stores = stores
        self._cipher = cipher
        self._storage = storage
        self._backups = backups
        self._vectors_beside = vectors_beside

    async def probe(self, target: Target, cleaning: Cleaning | None = None) -> Found:
        """Everything once."""
        erasures = self._stores.erasures

        def work(tx: Tx) -> _Seen:
            chosen = cleaning or erasures.cleaning(tx, target)
            elsewhere = set(erasures.spread(tx, chosen.unique))
            needles = [one for one in chosen.unique if one not in elsewhere]
            ids = erasures.chosen_ids(tx, chosen)
            return _Seen(chosen, erasures.probe(tx, chosen), needles, ids)

        seen = await self._database.scan(work)
        told = mentions(seen.cleaning, self._cipher)
        lines, found = await asyncio.to_thread(self._backups.search, told)
        counts = await self._storage.count_bytes([one.encode() for one in seen.needles])
        if counts is None:
            stored = Check("storage", len(erasures.tables), 0)
        else:
            stored = Check("storage", len(seen.needles), sum(counts))
        checks = [*seen.checks, Check("backups", lines, found), stored]
        return Found(checks, self._not_covered(seen, files_are_ours=counts is not None))

    def _not_covered(self, seen: "_Seen", *, files_are_ours: bool) -> list[str]:
        told = list(NOT_COVERED)
        if not files_are_ours:
            told += _SERVER_FILES
        elif self._cipher.enabled:
            told.append(_SEALED_BYTES)
        if self._vectors_beside:
            told.append(_VECTOR_SNAPSHOTS)
        return told + [f"ids_of_{kind}:{count}" for kind, count in seen.chosen_ids.items()]


@dataclass(frozen=True, slots=True)
class _Seen:
    cleaning: Cleaning
    checks: list[Check]
    needles: list[str]
    chosen_ids: Mapping[str, int]


def mentions(cleaning: Cleaning, cipher: Cipher) -> Callable[[str], bool]:
    """Does a line of a backup tell of them? One whose key is lost is nobody's."""
    target = cleaning.target
    ids = {*target.person_ids, *target.user_ids}
    places = {*target.chats, *target.trees, *target.gone_chats, *target.gone_trees}

    def told(line: str) -> bool:
        kept = _opened(line, cipher)
        if not isinstance(kept, dict):  # cut off while it was written
            return cleaning.full.are_in(line)
        if ids & set(strings_in(kept)) or cleaning.sure.are_in(kept):
            return True
        linked = kept.get("id") in target.memories or _space_id(kept) in places
        return linked and cleaning.full.are_in(kept)

    return told


def _opened(line: str, cipher: Cipher) -> Any:
    """The line as it was before it was sealed; a text if it can't be read."""
    try:
        kept = jsontext.load(line)
        if kept.get("type") != "sealed":
            return kept
        sealed, id_ = kept["line"], kept["id"]
        return jsontext.load(cipher.open(sealed, table="backups", column="line", row_id=id_))
    except (ValueError, KeyError, AttributeError, Internal):
        return line


def _space_id(kept: dict[str, Any]) -> str | None:
    space = kept.get("space")
    return space.get("id") if isinstance(space, dict) else None
