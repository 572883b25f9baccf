"""A request that is sent again under one key is done once; both times the answer is the same.
One that only reads is answered anew, by the rights and the expiry of its time.

The key is claimed before the request is handled and the answer is kept behind it. A server that
dies between the two leaves a claim without an answer: after a while the request may be tried again,
and what it makes has the id that was reserved with the claim, so that it is not made twice.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from recollect.domain import jsontext
from recollect.domain.agents import Owner
from recollect.errors import (
    Conflict,
    Internal,
    RecollectError,
    StillRunning,
    Unavailable,
    ValidationFailed,
)
from recollect.ports.database import Database, Retry, Tx
from recollect.ports.idempotency import Claim
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores

KEY_CHARS_MAX = 255
LIFETIME = timedelta(hours=24)
# A claim of this age without an answer is one of a server that is gone.
ABANDONED_AFTER = timedelta(seconds=60)
# A second and a half in all: most requests are answered sooner.
_PAUSES_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_ID_NAMES = frozenset({"id", "memory_id"})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered with."""

    status: int
    body: bytes


class IdempotencyService:
    """Around the handling of a request that came with a key."""

    def __init__(self, database: Database, stores: Stores, runtime: Runtime) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._under_way: set[asyncio.Task[Answer]] = set()

    async def once(
        self,
        who: Owner,
        key: str,
        *,
        fingerprint: str,
        handle: Callable[[str], Awaitable[Answer]],
    ) -> Answer:
        """The first answer, or that of `handle`, which gets the reserved id. Only successes are
        kept: after a refusal the corrected request may come under the same key.

        While the first request runs, on whatever server, its answer is waited for.
        Conflict if another request has the key, or if this one is still running then.
        A caller who hangs up does not end it: it is they who come again for the answer.
        """
        work = asyncio.create_task(self._once(who, key, fingerprint, handle))
        self._under_way.add(work)
        work.add_done_callback(self._end)
        return await asyncio.shield(work)

    def _end(self, work: "asyncio.Task[Answer]") -> None:
        """What went wrong was told to the caller, or nobody is there to be told."""
        self._under_way.discard(work)
        if not work.cancelled():
            work.exception()

    async def _once(
        self, who: Owner, key: str, fingerprint: str, handle: Callable[[str], Awaitable[Answer]]
    ) -> Answer:
        claim = await self._claimed(who, key, fingerprint)
        if claim.status is not None:
            return _kept(claim)
        try:
            answer = await handle(claim.reserved_id)
        except RecollectError as error:
            await self._give_back(claim, certain=_is_refusal(error))
            raise
        except Exception:
            await self._give_back(claim, certain=False)
            raise
        if 200 <= answer.status < 300:
            body = answer.body.decode()
            ids = frozenset(ids_in(jsontext.load(body))) if body else frozenset()
            kept = replace(claim, status=answer.status, body=body, mentions=ids)
            await self._database.write(lambda tx: self._stores.idempotency.update(tx, kept))
        else:
            await self._give_back(claim, certain=True)
        return answer

    @asynccontextmanager
    async def bound(self, who: Owner, key: str, *, fingerprint: str) -> AsyncIterator[None]:
        """Around a request that only reads: the key is its own, and no answer is kept, since what
        may be told changes. After a failure a key that nobody had before is free again.

        Conflict if another request has the key.
        """
        fresh = await self._database.write(lambda tx: self._bind(tx, who, key, fingerprint))
        try:
            yield
        except Exception:
            if fresh is not None:
                await self._give_back(fresh, certain=True)
            raise

    def _bind(self, tx: Tx, who: Owner, key: str, fingerprint: str) -> Claim | None:
        """The claim, if it was made now."""
        fresh = self._fresh(who, key, fingerprint)
        known = self._known(tx, fresh)
        if known is None:
            return fresh
        _check_same(known, fresh)
        return None

    async def _claimed(self, who: Owner, key: str, fingerprint: str) -> Claim:
        """Asked again and again: the answer may come from another server."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._database.write(lambda tx: self._claim(tx, who, key, fingerprint))
            except StillRunning:
                await asyncio.sleep(pause)
        return await self._database.write(lambda tx: self._claim(tx, who, key, fingerprint))

    def _claim(self, tx: Tx, who: Owner, key: str, fingerprint: str) -> Claim:
        fresh = self._fresh(who, key, fingerprint)
        known = self._known(tx, fresh)
        if known is None:
            return fresh
        _check_same(known, fresh)
        if known.status is not None:
            return known
        now = fresh.claimed_at
        if now - known.claimed_at < ABANDONED_AFTER:
            message = "the first request with this key is still running; try again in a second"
            raise StillRunning(message, details=_details(message))
        again = replace(known, claimed_at=now)
        self._stores.idempotency.update(tx, again)
        return again

    def _fresh(self, who: Owner, key: str, fingerprint: str) -> Claim:
        now, reserved_id = self._runtime.clock.now(), self._runtime.ids.new()
        return Claim(who, key, fingerprint, now, reserved_id=reserved_id)

    def _known(self, tx: Tx, fresh: Claim) -> Claim | None:
        """Whose the key is already; None if it is that of the fresh claim now."""
        if self._stores.idempotency.insert(tx, fresh):
            return None
        known = self._stores.idempotency.fetch(tx, fresh.who, fresh.key)
        if known is None:
            raise Retry
        if fresh.claimed_at - known.claimed_at >= LIFETIME:
            self._stores.idempotency.update(tx, fresh)
            return None
        return known

    async def _give_back(self, claim: Claim, *, certain: bool) -> None:
        """Where something may have been stored all the same the claim stays, with its reserved
        id, and may be taken over at once."""

        def work(tx: Tx) -> None:
            if certain:
                self._stores.idempotency.delete(tx, claim)
            else:
                open_now = claim.claimed_at - ABANDONED_AFTER
                self._stores.idempotency.update(tx, replace(claim, claimed_at=open_now))

        await self._database.write(work)


def check_key(key: str) -> str:
    """The key itself, or the refusal."""
    if not 1 <= len(key) <= KEY_CHARS_MAX or not key.isprintable():
        message = f"must have 1 to {KEY_CHARS_MAX} characters, none of them a control character"
        raise ValidationFailed.of("Idempotency-Key", message)
    return key


def fingerprint_of(*parts: bytes) -> str:
    """What two requests have in common if they are the same; it can't be read back."""
    digest = sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def ids_in(value: Any) -> Iterator[str]:
    """Every id that an answer tells of, at any depth."""
    if isinstance(value, list):
        for item in value:
            yield from ids_in(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in _ID_NAMES and isinstance(member, str):
                yield member
            else:
                yield from ids_in(member)


def _check_same(known: Claim, fresh: Claim) -> None:
    if known.fingerprint != fresh.fingerprint:
        raise _conflict("the key was used for another request; use a new key")


def _kept(claim: Claim) -> Answer:
    if claim.status is None or claim.body is None:
        raise _conflict("the first answer is gone, because what it told of was deleted")
    return Answer(claim.status, claim.body.encode())


def _is_refusal(error: RecollectError) -> bool:
    """Was nothing stored, for certain? Not if the database or the server gave up halfway."""
    return not isinstance(error, Unavailable | Internal)


def _conflict(message: str) -> Conflict:
    return Conflict(message, details=_details(message))


def _details(message: str) -> dict[str, str]:
    return {"reason": "idempotency", "message": message}
