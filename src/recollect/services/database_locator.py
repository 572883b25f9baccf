"""Where recordings are, kept in the database that all nodes share anyway."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recollect.ports.database import Database
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores


class DatabaseLocator:
    """Implements `recollect.ports.recordings.Locator`. As with leases of jobs, the nodes' clocks
    have to agree to well within a value's lifetime."""

    def __init__(self, database: Database, stores: Stores, runtime: Runtime) -> None:
        self._database = database
        self._locations = stores.locations
        self._runtime = runtime

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        """See the port."""
        now, until = self._span(seconds)
        return await self._database.write(
            lambda tx: (
                self._locations.claim(tx, key, value, now=now, until=until)
                or self._locations.renew(tx, key, value, now=now, until=until)
            )
        )

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        """See the port."""
        now, until = self._span(seconds)
        return await self._database.write(
            lambda tx: self._locations.renew(tx, key, value, now=now, until=until)
        )

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        """See the port."""
        wanted, now = list(keys), self._runtime.clock.now()
        if not wanted:
            return {}
        return await self._database.read(lambda tx: self._locations.find(tx, wanted, now=now))

    async def release(self, key: str, value: str) -> None:
        """See the port."""
        await self._database.write(lambda tx: self._locations.remove(tx, key, value))

    async def close(self) -> None:
        """Nothing of its own."""

    def _span(self, seconds: float) -> tuple[datetime, datetime]:
        now = self._runtime.clock.now()
        return now, now + timedelta(seconds=seconds)
