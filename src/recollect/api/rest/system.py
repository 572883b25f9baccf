"""Handlers that need no credentials: health, metrics and the OpenAPI documents."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from recollect.api.calls import Reply
from recollect.api.openapi import admin_document, memories_document, user_document
from recollect.api.rest.frame import Answer, Request
from recollect.domain.jsontext import dump
from recollect.errors import Unavailable
from recollect.ports.metrics import Metrics
from recollect.services.bundle import Services


class ShownMetrics(Metrics, Protocol):
    """Metrics that can be rendered for scraping."""

    def render(self) -> tuple[bytes, str]:
        """All metrics as text, with their content type."""
        ...


Document = Callable[[], dict[str, Any]]

_OK = b'{"status":"ok"}'


def open_answers(services: Services, metrics: ShownMetrics) -> dict[str, Answer]:
    """The handlers of the operations that need no credentials, by operation name."""

    async def get_health(_: Request) -> Reply:
        await services.status.ping()
        return Reply(200, _OK)

    async def get_metrics(_: Request) -> Reply:
        with suppress(Unavailable):  # the other metrics are useful while the database is down
            await services.status.measure_queue()
        body, media = metrics.render()
        return Reply(200, body, media=media.encode())

    return {
        "getHealth": get_health,
        "getMetrics": get_metrics,
        "getOpenapi": _constant(user_document),
        "getAdminOpenapi": _constant(admin_document),
        "getMemoriesOpenapi": _constant(memories_document),
    }


def _constant(document: Document) -> Callable[[Request], Awaitable[Reply]]:
    async def answer(_: Request) -> Reply:
        return _reply(document)

    return answer


@cache
def _reply(document: Document) -> Reply:
    """Built at the first request and cached: most servers never get one."""
    return Reply(200, dump(document()).encode())
