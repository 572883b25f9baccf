"""A locator for a single node."""

import time
from collections.abc import Iterable


class LocalLocator:
    """Implements `Locator` in a dictionary. Other nodes don't see it."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[str, float]] = {}

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        if self._live_value(key) not in (None, value):
            return False
        self._values[key] = (value, time.monotonic() + seconds)
        return True

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        if self._live_value(key) != value:
            return False
        self._values[key] = (value, time.monotonic() + seconds)
        return True

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        found = {key: self._live_value(key) for key in keys}
        return {key: value for key, value in found.items() if value is not None}

    async def release(self, key: str, value: str) -> None:
        if self._live_value(key) == value:
            del self._values[key]

    async def close(self) -> None:
        self._values.clear()

    def _live_value(self, key: str) -> str | None:
        value, until = self._values.get(key, (None, 0.0))
        if value is not None and until <= time.monotonic():
            del self._values[key]
            return None
        return value
