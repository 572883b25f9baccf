"""Idempotency keys: a request that is repeated under one key runs once, and gets the same answer.

A request that only reads is run each time, by the rights and expiry of that time; only its key is
claimed. The decision record is 0018.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

from recollect.db.context import ServiceContext
from recollect.db.transaction import RetryTransaction, Tx
from recollect.idempotency.ports import IdempotencyClaim, IdempotencyStores
from recollect.kernel import strict_json
from recollect.kernel.errors import (
    Conflict,
    Internal,
    RecollectError,
    RequestStillRunning,
    Unavailable,
    ValidationFailed,
)
from recollect.kernel.owner import Owner

# How it works. Three transactions, because a handler uses several of its own and its answer exists
# only after them:
#
#   1. claim    insert (requester, key, fingerprint, reserved id); the key is taken
#   2. handle   the operation; what it creates gets the reserved id
#   3. record   store the answer with the claim
#
# The states of a claim, as a repeat of the request finds it:
#
#   with an answer                 return the recorded answer
#   no answer, under 15 s old      the first attempt still runs: poll for 1.5 seconds, then 409
#   no answer, older               the server died between 1 and 3: take the claim over, and run the
#                                  request again with the SAME reserved id. If step 2 had committed,
#                                  the service finds what has that id and creates nothing.
#   another fingerprint            another request used the key: 409
#   older than a day               as if there were none
#   unreadable                     409: its reserved id is lost, so the request could run twice
#
# A server that runs a request renews its claim every five seconds, so that a long one, such as an
# import, is not taken for abandoned. A server that starts alone on its database knows that all
# servers before it have gone: it back-dates the claims without an answer, so that what was sent
# to them is taken over at once.
#
# After a refusal (4xx) nothing was stored for certain: the claim is deleted, and the corrected
# request may use the key. After a fault (timeout of the database, 5xx) something may have been
# stored: the claim stays with its reserved id, and is back-dated so that the next attempt may take
# it over at once.
#
# Rejected: a lock for the time of the request (it is lost with the server, which is the case that
# matters), and a signal between requests in place of polling (they may be on two servers).


KEY_CHARS_MAX = 255
KEY_LIFETIME = timedelta(hours=24)
# A claim without an answer that was not renewed for so long belongs to a server that died.
ABANDONED_AFTER = timedelta(seconds=15)
RENEWED_EVERY = timedelta(seconds=5)
# Pauses between polls for the first request's answer: about a second and a half in all.
_PAUSES_SECONDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
_ID_NAMES = frozenset({"id", "memory_id", "conversationId"})


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The recorded answer of a request."""

    status: int
    body: bytes


class IdempotencyService:
    """Runs requests that came with an idempotency key."""

    def __init__(
        self,
        context: ServiceContext[IdempotencyStores],
        *,
        renewed_every: timedelta = RENEWED_EVERY,
    ) -> None:
        self._renewal_seconds = renewed_every.total_seconds()
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._under_way: set[asyncio.Task[RecordedAnswer]] = set()

    async def run_once(
        self,
        who: Owner,
        key: str,
        *,
        fingerprint: str,
        handle: Callable[[str], Awaitable[RecordedAnswer]],
    ) -> RecordedAnswer:
        """Run `handle` with the reserved id, or return the answer recorded for its first run.

        Only successes are recorded. While the first request runs, on whatever server, its answer
        is polled for. Raises Conflict if another request used the key, RequestStillRunning if the
        first one does not end in time.
        """
        # In a task of its own and shielded: a caller who hangs up cancels only the waiting. The
        # request must run to its end, because that caller will come again for the answer.
        work = asyncio.create_task(self._run_claimed(who, key, fingerprint, handle))
        self._under_way.add(work)
        work.add_done_callback(self._forget_task)
        return await asyncio.shield(work)

    async def release_abandoned(self) -> None:
        """Let the next attempts take over what runs on no server: none works on the database."""
        free = self._runtime.clock.now() - ABANDONED_AFTER
        await self._database.write(lambda tx: self._stores.idempotency.release_open(tx, free))

    def _forget_task(self, work: "asyncio.Task[RecordedAnswer]") -> None:
        """Drop the reference to a finished task, and mark its exception as retrieved.

        The caller got the exception, or has gone; asyncio would log it as never retrieved.
        """
        self._under_way.discard(work)
        if not work.cancelled():
            work.exception()

    async def _run_claimed(
        self,
        who: Owner,
        key: str,
        fingerprint: str,
        handle: Callable[[str], Awaitable[RecordedAnswer]],
    ) -> RecordedAnswer:
        claim = await self._claim_or_wait(who, key, fingerprint)
        if claim.status is not None:
            return _replay_answer(claim)
        renewal = _Renewal(claim)
        renewing = asyncio.create_task(self._renew_until_done(renewal))
        try:
            try:
                answer = await handle(claim.reserved_id)
            finally:
                renewal.done.set()
                await renewing
        except RecollectError as error:
            await self._release_claim(renewal.claim, certain=_is_refusal(error))
            raise
        except Exception:
            await self._release_claim(renewal.claim, certain=False)
            raise
        claim = renewal.claim
        if 200 <= answer.status < 300:
            body = answer.body.decode()
            ids = frozenset(iter_ids(strict_json.load(body))) if body else frozenset()
            kept = replace(claim, status=answer.status, body=body, mentions=ids)
            await self._database.write(lambda tx: self._stores.idempotency.update(tx, kept))
        else:
            await self._release_claim(claim, certain=True)
        return answer

    async def _renew_until_done(self, renewal: "_Renewal") -> None:
        """Renew the claim as long as its request runs and nobody else has taken it over."""
        while True:
            try:
                await asyncio.wait_for(renewal.done.wait(), self._renewal_seconds)
                return
            except TimeoutError:
                pass
            # A failure is no reason to give up the request: the next renewal may succeed.
            with suppress(RecollectError):
                if not await self._renew(renewal):
                    return

    async def _renew(self, renewal: "_Renewal") -> bool:
        old, at = renewal.claim, self._runtime.clock.now()
        renewed = await self._database.write(lambda tx: self._stores.idempotency.renew(tx, old, at))
        if renewed:
            renewal.claim = replace(old, claimed_at=at)
        return renewed

    @asynccontextmanager
    async def hold_key(self, who: Owner, key: str, *, fingerprint: str) -> AsyncIterator[None]:
        """Claim the key around a request that only reads; its answer is not recorded.

        A recorded answer could show for a day what has expired, or what the caller may no longer
        see. If the request fails, a key that it claimed itself is released. Raises Conflict if
        another request used the key.
        """
        fresh = await self._database.write(lambda tx: self._bind_key(tx, who, key, fingerprint))
        try:
            yield
        except Exception:
            if fresh is not None:
                await self._release_claim(fresh, certain=True)
            raise

    def _bind_key(self, tx: Tx, who: Owner, key: str, fingerprint: str) -> IdempotencyClaim | None:
        """The new claim; None if the same request had claimed the key before."""
        fresh = self._new_claim(who, key, fingerprint)
        known = self._insert_or_fetch(tx, fresh)
        if known is None:
            return fresh
        _check_fingerprint(known, fresh)
        return None

    async def _claim_or_wait(self, who: Owner, key: str, fingerprint: str) -> IdempotencyClaim:
        """Claim the key, polling while the first request still runs, maybe on another server."""
        for pause in _PAUSES_SECONDS:
            try:
                return await self._database.write(
                    lambda tx: self._claim_key(tx, who, key, fingerprint)
                )
            except RequestStillRunning:
                await asyncio.sleep(pause)
        return await self._database.write(lambda tx: self._claim_key(tx, who, key, fingerprint))

    def _claim_key(self, tx: Tx, who: Owner, key: str, fingerprint: str) -> IdempotencyClaim:
        """The claim to go on with: a new one, one with a recorded answer, or one taken over."""
        fresh = self._new_claim(who, key, fingerprint)
        known = self._insert_or_fetch(tx, fresh)
        if known is None:
            return fresh
        _check_fingerprint(known, fresh)
        if known.unreadable:
            raise _key_conflict("what is recorded under this key can't be read; use a new key")
        if known.status is not None:
            return known
        now = fresh.claimed_at
        if now - known.claimed_at < ABANDONED_AFTER:
            message = "the first request with this key is still running; try again in a second"
            raise RequestStillRunning(message, details=_conflict_details(message))
        again = replace(known, claimed_at=now)
        self._stores.idempotency.update(tx, again)
        return again

    def _new_claim(self, who: Owner, key: str, fingerprint: str) -> IdempotencyClaim:
        now, reserved_id = self._runtime.clock.now(), self._runtime.ids.new()
        return IdempotencyClaim(who, key, fingerprint, now, reserved_id=reserved_id)

    def _insert_or_fetch(self, tx: Tx, fresh: IdempotencyClaim) -> IdempotencyClaim | None:
        """Insert the fresh claim and return None, or return the claim that has the key.

        `insert` does nothing where the key exists, so of two requests at once one wins. `fetch`
        locks the row, so the states below are decided one request at a time.
        """
        if self._stores.idempotency.insert(tx, fresh):
            return None
        known = self._stores.idempotency.fetch(tx, fresh.who, fresh.key)
        if known is None:  # it was deleted between the two statements
            raise RetryTransaction
        if fresh.claimed_at - known.claimed_at >= KEY_LIFETIME:
            self._stores.idempotency.update(tx, fresh)
            return None
        return known

    async def _release_claim(self, claim: IdempotencyClaim, *, certain: bool) -> None:
        """Release the key after a failure. `certain`: nothing was stored, so the claim is deleted.

        Otherwise it stays with its reserved id, back-dated so that the next attempt may take it
        over at once.
        """

        def work(tx: Tx) -> None:
            if certain:
                self._stores.idempotency.delete(tx, claim)
            else:
                open_now = claim.claimed_at - ABANDONED_AFTER
                self._stores.idempotency.update(tx, replace(claim, claimed_at=open_now))

        await self._database.write(work)


@dataclass(slots=True)
class _Renewal:
    """A claim whose time is set again until its request is `done`."""

    claim: IdempotencyClaim
    done: asyncio.Event = field(default_factory=asyncio.Event)


def check_key(key: str) -> str:
    """The key itself. Raises ValidationFailed if it is too long or not printable."""
    if not 1 <= len(key) <= KEY_CHARS_MAX or not key.isprintable():
        message = f"must have 1 to {KEY_CHARS_MAX} characters, none of them a control character"
        raise ValidationFailed.for_field("Idempotency-Key", message)
    return key


def request_fingerprint(*parts: bytes) -> str:
    """A hash that is equal for equal requests. Each part's length is hashed too, so that parts
    can't run into each other."""
    digest = sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def iter_ids(value: Any) -> Iterator[str]:
    """Every id in an answer, at any depth: when one is deleted, the recorded answer goes too."""
    if isinstance(value, list):
        for item in value:
            yield from iter_ids(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in _ID_NAMES and isinstance(member, str):
                yield member
            else:
                yield from iter_ids(member)


def _check_fingerprint(known: IdempotencyClaim, fresh: IdempotencyClaim) -> None:
    if known.fingerprint != fresh.fingerprint:
        raise _key_conflict("the key was used for another request; use a new key")


def _replay_answer(claim: IdempotencyClaim) -> RecordedAnswer:
    if claim.status is None or claim.body is None:
        raise _key_conflict(
            "the recorded answer is gone, because something it mentions was deleted"
        )
    return RecordedAnswer(claim.status, claim.body.encode())


def _is_refusal(error: RecollectError) -> bool:
    """Is it certain that nothing was stored? Not if the database or the server failed halfway."""
    return not isinstance(error, Unavailable | Internal)


def _key_conflict(message: str) -> Conflict:
    return Conflict(message, details=_conflict_details(message))


def _conflict_details(message: str) -> dict[str, str]:
    return {"reason": "idempotency", "message": message}
