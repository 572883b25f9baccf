"""Handlers that need no credentials: health, metrics and the OpenAPI documents."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from typing import Any, Protocol

from recollect.api.front.assets import Asset, to_asset
from recollect.api.openapi.document import (
    admin_document,
    memories_document,
    merged_document,
    user_document,
)
from recollect.api.rest.front import front_handlers, reply_with
from recollect.api.rest.middleware import HttpRequest, RequestHandler
from recollect.doctor.health import StatusService
from recollect.http.call import Reply
from recollect.http.services import Services
from recollect.kernel.errors import Unavailable
from recollect.kernel.strict_json import dump
from recollect.observability.metrics import Metrics


class RenderableMetrics(Metrics, Protocol):
    """Metrics that can be rendered for scraping."""

    def render(self) -> tuple[bytes, str]:
        """All metrics as text, with their content type."""
        ...


DocumentBuilder = Callable[[], dict[str, Any]]


def public_handlers(
    services: Services, metrics: RenderableMetrics, *, local_mode: bool
) -> dict[str, RequestHandler]:
    """The handlers of the operations that need no credentials, by operation name."""

    async def get_health(_: HttpRequest) -> Reply:
        await services[StatusService].ping()
        condition = await services[StatusService].condition()
        return Reply(200, dump(condition.to_dict()).encode())

    async def get_metrics(_: HttpRequest) -> Reply:
        with suppress(Unavailable):  # the other metrics are useful while the database is down
            await services[StatusService].measure_queue()
        body, media = metrics.render()
        return Reply(200, body, media=media.encode())

    return {
        "getHealth": get_health,
        "getMetrics": get_metrics,
        "getOpenapi": _document_handler(user_document),
        "getAdminOpenapi": _document_handler(admin_document),
        "getMergedOpenapi": _document_handler(merged_document),
        "getMemoriesOpenapi": _document_handler(memories_document),
    } | front_handlers(services, local_mode=local_mode)


def _document_handler(document: DocumentBuilder) -> Callable[[HttpRequest], Awaitable[Reply]]:
    async def answer(request: HttpRequest) -> Reply:
        return reply_with(_document_asset(document), request)

    return answer


@cache
def _document_asset(document: DocumentBuilder) -> Asset:
    """Built at the first request and cached: most servers never get one."""
    return to_asset(dump(document()).encode(), "application/json")
