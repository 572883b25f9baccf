"""Many nodes and one Redis, or anything that speaks its protocol, such as Infinispan.

Only commands that both know: no scripts, and a transaction under WATCH where a value must not have
changed between a look and an act.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import RedisError, WatchError

from recollect.errors import InvalidInput, Unavailable

TIMEOUT_SECONDS = 3
T = TypeVar("T")


class RedisLocator:
    """Implements `recollect.ports.recordings.Locator`."""

    def __init__(self, url: str) -> None:
        try:
            self._redis: Redis = Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=TIMEOUT_SECONDS,
                socket_connect_timeout=TIMEOUT_SECONDS,
                # RESP2: Infinispan knows no RESP3 handshake.
                protocol=2,
            )
        except ValueError as error:
            raise InvalidInput("redis.url should be redis://host:port/number") from error

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        """See the port."""
        asked = self._redis.set(key, value, nx=True, px=_milliseconds(seconds))
        return bool(await self._answer(asked))

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        """See the port."""
        return await self._if_unchanged(
            key, value, lambda pipe: pipe.pexpire(key, _milliseconds(seconds))
        )

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        """See the port."""
        wanted = list(keys)
        values = await self._answer(self._redis.mget(wanted)) if wanted else []
        found = zip(wanted, values, strict=True)
        return {key: str(value) for key, value in found if value is not None}

    async def release(self, key: str, value: str) -> None:
        """See the port."""
        await self._if_unchanged(key, value, lambda pipe: pipe.delete(key))

    async def close(self) -> None:
        """See the port."""
        await self._redis.aclose()

    async def _if_unchanged(self, key: str, value: str, act: Callable[[Pipeline], object]) -> bool:
        async def attempt() -> bool:
            async with self._redis.pipeline(transaction=True) as pipe:
                await pipe.watch(key)
                if await pipe.get(key) != value:
                    return False
                pipe.multi()  # type: ignore[no-untyped-call]
                act(pipe)
                results = await pipe.execute()
            return bool(results[0])

        try:
            return await self._answer(attempt())
        except WatchError:  # it changed meanwhile, so it is another's or gone
            return False

    async def _answer(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except WatchError:
            raise
        except (RedisError, OSError) as error:
            raise Unavailable("the store of recordings' locations does not answer") from error


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
