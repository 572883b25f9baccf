"""The public keys of the token issuer: fetched over HTTP, cached, and refreshed."""

import asyncio
import json
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import build_opener

import structlog

from recollect.identity.tokens.signers import PublicKey, public_keys
from recollect.kernel.errors import Unavailable

LIFETIME_SECONDS = 300
RETRY_SECONDS = 10
TIMEOUT_SECONDS = 5.0
SIZE_BYTES_MAX = 1024 * 1024
_CHUNK_BYTES = 64 * 1024

_FAILURES = (OSError, HTTPException, ValueError, RecursionError)
_log = structlog.get_logger(__name__)


class JwksKeys:
    """A cache of public keys by algorithm and key id.

    It fetches the keys when they are first needed and after `LIFETIME_SECONDS`. An unknown key id
    causes a fetch too, because the issuer may have a new key; but at most one in `RETRY_SECONDS`,
    or anybody could flood the issuer with invented ids. Concurrent callers share one fetch. While
    the issuer does not answer, known keys stay valid. Use it from one event loop only.
    """

    def __init__(
        self,
        url: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """Raises ValueError if `url` is not HTTP or HTTPS."""
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError("the JWKS URL must begin with http:// or https://")
        self._url = url
        self._monotonic = monotonic
        self._timeout_seconds = timeout_seconds
        self._keys: dict[tuple[str, str | None], PublicKey] | None = None
        # Keys are fresh until then, and no fetch starts before `_retry_from`.
        self._fresh_until = self._retry_from = float("-inf")
        self._failing = False
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, algorithm: str, key_id: str | None) -> PublicKey | None:
        """The key, or None if the issuer has no such key. Without an id, the issuer's only key of
        the algorithm. Raises Unavailable as long as no keys could be fetched at all.
        """
        now = self._monotonic()
        renewed = now >= self._fresh_until and await self._refresh_expired(now)
        key = self._find_cached(algorithm, key_id)
        # Keys that were fetched just now can't be outdated, so an unknown id is really unknown.
        if key is None and not renewed:
            await self._refresh_unknown(now)
            key = self._find_cached(algorithm, key_id)
        if self._keys is None:
            raise Unavailable(
                "the token issuer's keys can't be fetched", retry_after_seconds=RETRY_SECONDS
            )
        return key

    def _find_cached(self, algorithm: str, key_id: str | None) -> PublicKey | None:
        keys = self._keys or {}
        if key_id is not None:
            return keys.get((algorithm, key_id))
        fitting = [key for key in keys.values() if key.algorithm == algorithm]
        return fitting[0] if len(fitting) == 1 else None

    async def _refresh_expired(self, now: float) -> bool:
        """Refresh keys that are past their lifetime. True if a fetch was awaited.

        While the issuer is known to be down and old keys exist, the fetch runs in the background:
        requests must not wait for its time-out.
        """
        if self._fetching is None and now >= self._retry_from:
            self._fetching = asyncio.create_task(self._fetch(now))
        if self._fetching is None or (self._failing and self._keys is not None):
            return False
        # Shielded: the fetch is shared, and one cancelled request must not end it for the others.
        await asyncio.shield(self._fetching)
        return True

    async def _refresh_unknown(self, now: float) -> None:
        if self._fetching is None and now >= self._retry_from:
            self._retry_from = now + RETRY_SECONDS
            self._fetching = asyncio.create_task(self._fetch(now))
        if self._fetching is not None:
            await asyncio.shield(self._fetching)

    async def _fetch(self, now: float) -> None:
        try:
            work = asyncio.to_thread(_read_document, self._url, self._timeout_seconds)
            self._keys = public_keys(await asyncio.wait_for(work, self._timeout_seconds))
        except _FAILURES as error:
            self._failing = True
            self._retry_from = self._monotonic() + RETRY_SECONDS
            _log.warning("jwks_fetch_failed", error_type=type(error).__name__)
        else:
            self._failing = False
            self._fresh_until = now + LIFETIME_SECONDS
        finally:
            self._fetching = None


def _read_document(url: str, timeout_seconds: float) -> Any:
    """Fetch and parse the document, on a thread. A socket's time-out applies to each read, so the
    whole download has a deadline of its own."""
    ends_at = time.monotonic() + timeout_seconds
    body = bytearray()
    try:
        with build_opener().open(url, timeout=timeout_seconds) as response:
            while chunk := response.read1(_CHUNK_BYTES):
                body += chunk
                if len(body) > SIZE_BYTES_MAX or time.monotonic() > ends_at:
                    raise ValueError("the answer is too large or too slow")
    except HTTPError as error:
        error.close()
        raise
    return json.loads(body)
