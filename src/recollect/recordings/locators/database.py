"""A locator in the database that all nodes share."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from recollect.db.context import ServiceContext
from recollect.recordings.ports import RecordingStores


class DatabaseLocator:
    """Implements `Locator`. Expiry is compared with the nodes' clocks, as leases of jobs are: the
    clocks must agree to well within the lifetime of a value."""

    def __init__(self, context: ServiceContext[RecordingStores]) -> None:
        self._database = context.database
        self._locations = context.stores.locations
        self._runtime = context.runtime

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        now, until = self._now_and_expiry(seconds)
        # A caller that did not get the answer to its first claim may ask again. The second claim
        # finds the row, and the renewal succeeds because the value is its own.
        return await self._database.write(
            lambda tx: (
                self._locations.claim(tx, key, value, now=now, until=until)
                or self._locations.renew(tx, key, value, now=now, until=until)
            )
        )

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        now, until = self._now_and_expiry(seconds)
        return await self._database.write(
            lambda tx: self._locations.renew(tx, key, value, now=now, until=until)
        )

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        wanted, now = list(keys), self._runtime.clock.now()
        if not wanted:
            return {}
        return await self._database.read(lambda tx: self._locations.find(tx, wanted, now=now))

    async def release(self, key: str, value: str) -> None:
        await self._database.write(lambda tx: self._locations.remove(tx, key, value))

    async def close(self) -> None:
        """The database belongs to the application."""

    def _now_and_expiry(self, seconds: float) -> tuple[datetime, datetime]:
        now = self._runtime.clock.now()
        return now, now + timedelta(seconds=seconds)
