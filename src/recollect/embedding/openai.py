"""Vectors from an endpoint that speaks OpenAI's embeddings protocol.

Answers are validated before they are used. Errors contain neither the API key nor a text.
"""

import asyncio
import email.utils
import json
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
import numpy as np
import structlog

from recollect.embedding.breaker import CircuitBreaker, EndpointDown
from recollect.embedding.port import Vectors
from recollect.kernel.errors import EmbeddingFailed
from recollect.observability.tracing import outgoing_headers, span

_log = structlog.get_logger("recollect.embedding")

RETRIED_STATUSES = frozenset({408, 409, 425, 429})
# Statuses with which an endpoint refuses a text.
TEXT_STATUSES = frozenset({400, 413, 422})
# A text of this length is accepted by every model.
SHORT_CHARS = 100
PLAIN_TEXT = "hello"
CONNECTIONS_MAX = 16
# Upper bound for the pause that an endpoint can ask for.
REST_SECONDS_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingEndpoint:
    """The endpoint and how to call it. `base_url` ends before `/embeddings`."""

    base_url: str
    model: str
    dimensions: int
    api_key: str | None = field(default=None, repr=False)
    # Only some models can shorten their vectors; others refuse a request that asks for it.
    send_dimensions: bool = False
    timeout_seconds: float = 10.0
    attempts_max: int = 4
    backoff_seconds: float = 0.5
    # Longest pause before the next attempt; if the endpoint asks for more, the call fails.
    wait_seconds_max: float = 20.0
    # How long no call is made after one has failed with all its attempts.
    rest_seconds: int = 5
    batch_size: int = 64

    def __post_init__(self) -> None:
        """Raises ValueError; the message doesn't contain the key."""
        if not _is_web_address(self.base_url):
            raise ValueError(
                "the embedding endpoint's base URL must be http(s)://host/path,"
                " without a user, a query or a fragment"
            )
        key = self.api_key
        if key is not None and (
            not key or not key.isascii() or not key.isprintable() or key != key.strip()
        ):
            raise ValueError("the embedding endpoint's key holds characters that no header can")


def _is_web_address(url: str) -> bool:
    """Whether the URL is http(s) without user, query and fragment. The HTTP client would log a
    password in it, and a query would end the path."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return False
    extras = (parsed.userinfo, parsed.query, parsed.fragment)
    return parsed.scheme in ("http", "https") and parsed.host != "" and not any(extras)


class OpenAiEmbedder:
    """Retries temporary failures. A batch has `timeout_seconds` for each attempt, a query for all
    attempts together, because a caller waits for it.
    """

    def __init__(
        self,
        endpoint: EmbeddingEndpoint,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._monotonic = monotonic
        self._sleep = sleep
        url = httpx2.URL(endpoint.base_url)
        self._name = f"the embedding endpoint {url.netloc.decode()}"
        self._url = f"{endpoint.base_url.rstrip('/')}/embeddings"
        self._client = _build_client(endpoint)
        self._breaker = CircuitBreaker(self._name, monotonic=monotonic)

    @property
    def model(self) -> str:
        """The endpoint's name of the model, with the dimensions: one model may offer several."""
        return f"{self._endpoint.model}/{self._endpoint.dimensions}"

    @property
    def dimensions(self) -> int:
        """As configured. Vectors of another length are refused."""
        return self._endpoint.dimensions

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, requested in batches. A text that the endpoint refuses at any length
        gets a zero vector, which is near to nothing, so that it doesn't block the other texts.
        """
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        size = self._endpoint.batch_size
        for at in range(0, len(texts), size):
            batch = texts[at : at + size]
            rows[at : at + size] = await self._embed_splitting(
                batch, ends_at=math.inf, all_needed=False
            )
        return rows

    async def embed_query(self, text: str) -> Vectors:
        """The vector of one text. Raises EmbeddingFailed after `timeout_seconds` in all."""
        ends_at = self._monotonic() + self._endpoint.timeout_seconds
        vector: Vectors = (await self._embed_splitting([text], ends_at=ends_at, all_needed=True))[0]
        return vector

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _embed_splitting(
        self, texts: Sequence[str], *, ends_at: float, all_needed: bool
    ) -> Vectors:
        """Embed texts, and find the ones that the endpoint refuses.

        A refusal is about the whole request, and usually one text is too long. So a refused batch
        is halved, down to single texts, and a single text is cut in half until it is accepted. A
        short text that is still refused gets a zero vector, unless it is needed (a query), or the
        endpoint refuses a harmless text as well: then the endpoint is misconfigured, and zero
        vectors for everything would hide that.
        """
        try:
            return await self._embed_batch(texts, ends_at=ends_at)
        except _TextRefused:
            middle = len(texts) // 2
            if middle == 0 and len(texts[0]) <= SHORT_CHARS:
                if all_needed or not await self._accepts_plain_text():
                    raise
                _log.warning("the embedding endpoint refused a text", endpoint=self._name)
                return np.zeros((1, self.dimensions), dtype=np.float32)
        parts: list[Sequence[str]] = [texts[:middle], texts[middle:]]
        if not middle:
            parts = [[texts[0][: len(texts[0]) // 2]]]
        rows = [
            await self._embed_splitting(p, ends_at=ends_at, all_needed=all_needed) for p in parts
        ]
        return np.concatenate(rows)

    async def _accepts_plain_text(self) -> bool:
        """Whether the endpoint accepts a harmless text, so that the refused one was the problem."""
        try:
            await self._embed_batch([PLAIN_TEXT], ends_at=math.inf)
        except _TextRefused:
            return False
        return True

    async def _embed_batch(self, texts: Sequence[str], *, ends_at: float) -> Vectors:
        with self._breaker.guard_call():
            body = await self._post_with_retries(texts, ends_at)
        # On a thread: parsing thousands of numbers would block the event loop.
        try:
            return await asyncio.to_thread(_parse_vectors, body, len(texts), self.dimensions)
        except _UnusableAnswer as error:
            raise EmbeddingFailed(f"{self._name} answered with {error}") from None

    async def _post_with_retries(self, texts: Sequence[str], ends_at: float) -> bytes:
        request = await asyncio.to_thread(_build_request, self._endpoint, texts)
        attempt = 0
        while True:
            attempt += 1
            answer = await self._post(request, ends_at)
            if isinstance(answer, bytes):
                return answer
            # Exponential backoff, or longer if the endpoint asks for it.
            backoff_seconds = self._endpoint.backoff_seconds * 2 ** (attempt - 1)
            pause_seconds = max(backoff_seconds, answer.retry_after_seconds)
            may_wait = (
                pause_seconds <= self._endpoint.wait_seconds_max
                and self._monotonic() + pause_seconds < ends_at
            )
            if attempt >= self._endpoint.attempts_max or not may_wait:
                raise self._to_endpoint_down(answer)
            await self._sleep(pause_seconds)

    def _to_endpoint_down(self, setback: "_RetryableFailure") -> EndpointDown:
        asked_seconds = min(math.ceil(setback.retry_after_seconds), REST_SECONDS_MAX)
        return EndpointDown(
            f"{self._name} {setback.reason}",
            retry_after_seconds=max(self._endpoint.rest_seconds, asked_seconds),
        )

    async def _post(self, request: bytes, ends_at: float) -> "bytes | _RetryableFailure":
        """One attempt: the answer's body, or a failure that may be retried. Raises for others."""
        seconds = min(self._endpoint.timeout_seconds, ends_at - self._monotonic())
        try:
            # The client's own timeout is per read, and would never end an answer that trickles.
            async with asyncio.timeout(seconds):
                response = await self._send(request)
        except (TimeoutError, httpx2.TimeoutException):
            return _RetryableFailure("is too slow")
        except httpx2.HTTPError as error:
            # Without the error's message and cause, which may contain what was sent.
            return _RetryableFailure(f"can't be reached ({type(error).__name__})")
        if response.is_success:
            return response.content
        return self._classify_failure(response)

    async def _send(self, request: bytes) -> httpx2.Response:
        with span("embeddings", outgoing=True):
            return await self._client.post(self._url, content=request, headers=outgoing_headers())

    def _classify_failure(self, response: httpx2.Response) -> "_RetryableFailure":
        reason = f"answered with status {response.status_code}"
        if response.status_code in TEXT_STATUSES:
            raise _TextRefused(f"{self._name} {reason}")
        if response.status_code < 500 and response.status_code not in RETRIED_STATUSES:
            raise EmbeddingFailed(f"{self._name} {reason}")
        return _RetryableFailure(reason, _retry_after_seconds(response))


class _TextRefused(EmbeddingFailed):
    """The endpoint works, but refuses a text."""


@dataclass(frozen=True, slots=True)
class _RetryableFailure:
    reason: str
    retry_after_seconds: float = 0.0


class _UnusableAnswer(ValueError):
    """The answer is malformed; the message says how."""


def _build_client(endpoint: EmbeddingEndpoint) -> httpx2.AsyncClient:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if endpoint.api_key is not None:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    return httpx2.AsyncClient(
        headers=headers,
        timeout=endpoint.timeout_seconds,
        limits=httpx2.Limits(max_connections=CONNECTIONS_MAX),
    )


def _build_request(endpoint: EmbeddingEndpoint, texts: Sequence[str]) -> bytes:
    body: dict[str, Any] = {
        "model": endpoint.model,
        "input": [_to_sendable(text) for text in texts],
        "encoding_format": "float",
    }
    if endpoint.send_dimensions:
        body["dimensions"] = endpoint.dimensions
    return json.dumps(body).encode()


def _to_sendable(text: str) -> str:
    """The text without lone surrogates, and never empty: endpoints refuse both."""
    return text.encode("utf-8", "replace").decode() or " "


def _retry_after_seconds(response: httpx2.Response) -> float:
    """The `Retry-After` header, a number of seconds or a date; 0 without one."""
    value = response.headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, at - time.time())


def _parse_vectors(body: bytes, count: int, dimensions: int) -> Vectors:
    """The vectors in the order of the texts, each of length 1. Raises _UnusableAnswer."""
    try:
        rows = np.array(_order_rows(json.loads(body), count), dtype=np.float64)
    except _UnusableAnswer:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise _UnusableAnswer("something other than vectors") from None
    if rows.shape != (count, dimensions):
        raise _UnusableAnswer(f"vectors of {rows.shape[-1]} numbers, not {dimensions}")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise _UnusableAnswer("vectors that have no finite length")
    unit: Vectors = (rows / lengths).astype(np.float32)
    return unit


def _order_rows(answer: dict[str, Any], count: int) -> list[Any]:
    items = answer["data"]
    if len(items) != count:
        raise _UnusableAnswer(f"{len(items)} vectors for {count} texts")
    # The protocol numbers the vectors; endpoints that don't are taken to answer in order.
    rows = {item.get("index", index): item["embedding"] for index, item in enumerate(items)}
    if set(rows) != set(range(count)):
        raise _UnusableAnswer("vectors whose numbering has gaps")
    return [rows[index] for index in range(count)]
