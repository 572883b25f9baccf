"""Many nodes and one Redis (6 or newer), or anything that speaks its protocol, such as Infinispan.

Only commands that both know: SET with NX and PX, GET, MGET, PEXPIRE, DEL, and where a value must
not have changed between a look and an act a transaction under WATCH. No scripts. Infinispan answers
with the null of RESP3 whatever was agreed on, so RESP3 it is.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, WatchError

from recollect.errors import InvalidInput, Unavailable

# With one more attempt on a new connection this is well within the time of a renewal.
TIMEOUT_SECONDS = 2
ATTEMPTS_MAX = 3
_AWAY = "the store of recordings' locations does not answer"
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
                retry=Retry(NoBackoff(), 1),
                protocol=3,
            )
        except ValueError as error:
            raise InvalidInput("redis.url should be redis://host:port/number") from error

    async def claim(self, key: str, value: str, seconds: float) -> bool:
        """See the port. Where an answer was lost the client asks again, and finds its own value."""
        asked = self._redis.set(key, value, nx=True, px=_milliseconds(seconds))
        return bool(await self._answer(asked)) or await self.renew(key, value, seconds)

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
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._answer(self._attempt(key, value, act))
            except WatchError:  # it changed meanwhile, or the connection was lost: look again
                continue
        raise Unavailable(_AWAY)

    async def _attempt(self, key: str, value: str, act: Callable[[Pipeline], object]) -> bool:
        async with self._redis.pipeline(transaction=True) as pipe:
            await pipe.watch(key)
            if await pipe.get(key) != value:
                return False
            pipe.multi()  # type: ignore[no-untyped-call]
            act(pipe)
            results = await pipe.execute()
        return bool(results[0])

    async def _answer(self, asked: Awaitable[T]) -> T:
        try:
            return await asked
        except WatchError:
            raise
        except (RedisError, OSError) as error:
            raise Unavailable(_AWAY) from error


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
