"""A locator in Redis (6 or newer), or in a server with its protocol, such as Infinispan.

It uses only commands that both have: SET with NX and PX, GET, MGET, PEXPIRE and DEL. To change a
value only if it is still the same, it uses a transaction under WATCH and no script. Infinispan
always answers with the null of RESP3, so the client speaks RESP3.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, WatchError

from recollect.kernel.errors import InvalidInput, Unavailable

# One retry on a new connection makes 4 seconds: still less than the interval of renewals.
TIMEOUT_SECONDS = 2
ATTEMPTS_MAX = 3
_UNAVAILABLE = "the recording locator does not answer"
T = TypeVar("T")


class RedisLocator:
    """Implements `Locator`."""

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
        # The client repeats a SET whose answer was lost. The repeated one may then find the value
        # of the first: `renew` accepts it, because the value is the caller's own.
        command = self._redis.set(key, value, nx=True, px=_milliseconds(seconds))
        return bool(await self._await_reply(command)) or await self.renew(key, value, seconds)

    async def renew(self, key: str, value: str, seconds: float) -> bool:
        return await self._run_if_unchanged(
            key, value, lambda pipe: pipe.pexpire(key, _milliseconds(seconds))
        )

    async def find(self, keys: Iterable[str]) -> dict[str, str]:
        wanted = list(keys)
        values = await self._await_reply(self._redis.mget(wanted)) if wanted else []
        found = zip(wanted, values, strict=True)
        return {key: str(value) for key, value in found if value is not None}

    async def release(self, key: str, value: str) -> None:
        await self._run_if_unchanged(key, value, lambda pipe: pipe.delete(key))

    async def close(self) -> None:
        await self._redis.aclose()

    async def _run_if_unchanged(
        self, key: str, value: str, act: Callable[[Pipeline], object]
    ) -> bool:
        for _ in range(ATTEMPTS_MAX):
            try:
                return await self._await_reply(self._try_transaction(key, value, act))
            except WatchError:  # the key changed meanwhile, or the connection was lost: try again
                continue
        raise Unavailable(_UNAVAILABLE)

    async def _try_transaction(
        self, key: str, value: str, act: Callable[[Pipeline], object]
    ) -> bool:
        async with self._redis.pipeline(transaction=True) as pipe:
            # WATCH makes EXEC fail if the key changes after this line. So between the comparison
            # and the action nobody else can have taken the key.
            await pipe.watch(key)
            if await pipe.get(key) != value:
                return False
            pipe.multi()  # type: ignore[no-untyped-call]
            act(pipe)
            results = await pipe.execute()
        return bool(results[0])

    async def _await_reply(self, command: Awaitable[T]) -> T:
        try:
            return await command
        except WatchError:
            raise
        except (RedisError, OSError) as error:
            raise Unavailable(_UNAVAILABLE) from error


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
