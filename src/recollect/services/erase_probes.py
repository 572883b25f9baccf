"""Searches everything for somebody who should be gone: tables, indexes, backups, bytes."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from recollect.domain import jsontext
from recollect.domain.conversations import strings_in
from recollect.domain.erasure import NOT_COVERED, Check, Target
from recollect.ports.backups import Backups
from recollect.ports.database import Database, Tx
from recollect.ports.erasures import Cleaning, Storage
from recollect.ports.runtime import Cipher
from recollect.ports.stores import Stores

_FILES = "files_of_the_database_server"


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
    ) -> None:
        self._database = database
        self._stores = stores
        self._cipher = cipher
        self._storage = storage
        self._backups = backups

    async def probe(self, target: Target, cleaning: Cleaning | None = None) -> Found:
        """Everything once."""
        erasures = self._stores.erasures

        def work(tx: Tx) -> tuple[Cleaning, list[Check], list[str]]:
            chosen = cleaning or erasures.cleaning(tx, target)
            elsewhere = set(erasures.spread(tx, chosen.unique))
            needles = [one for one in chosen.unique if one not in elsewhere]
            return chosen, erasures.probe(tx, chosen), needles

        chosen, checks, needles = await self._database.scan(work)
        lines, found = await asyncio.to_thread(self._backups.search, mentions(chosen, self._cipher))
        checks.append(Check("backups", lines, found))
        bytes_found = await self._storage.count_bytes([one.encode() for one in needles])
        if bytes_found is None:
            vacuumed = Check("storage", len(erasures.tables), 0)
            return Found([*checks, vacuumed], [*NOT_COVERED, _FILES])
        checks.append(Check("storage", len(needles), sum(bytes_found)))
        return Found(checks, list(NOT_COVERED))


def mentions(cleaning: Cleaning, cipher: Cipher) -> Callable[[str], bool]:
    """Does a line of a backup tell of them? One that can't be opened is nobody's."""
    target = cleaning.target
    ids = {*target.person_ids, *target.user_ids}
    places = {*target.chats, *target.trees, *target.gone_chats, *target.gone_trees}

    def told(line: str) -> bool:
        kept = jsontext.load(line)
        if kept.get("type") == "sealed":
            sealed, id_ = kept["line"], kept["id"]
            opened = cipher.open(sealed, table="backups", column="line", row_id=id_)
            kept = jsontext.load(opened)
        if ids & set(strings_in(kept)):
            return True
        linked = kept.get("id") in target.memories or _space_id(kept) in places
        return linked and cleaning.full.are_in(kept)

    return told


def _space_id(kept: dict[str, Any]) -> str | None:
    space = kept.get("space")
    return space.get("id") if isinstance(space, dict) else None
