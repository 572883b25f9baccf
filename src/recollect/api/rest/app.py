"""The REST application: one route per path, built from the table of operations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.convertors import Convertor, register_url_convertor
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from recollect.api.registry import (
    CONVERSATION_OPERATIONS,
    HANDLERS,
    MEMORY_OPERATIONS,
    OPERATIONS,
)
from recollect.api.rest.dispatch import RestDispatch
from recollect.api.rest.middleware import (
    HttpRequest,
    RequestHandler,
    RestMiddleware,
)
from recollect.api.rest.routes import SegmentRoute
from recollect.api.rest.system import RenderableMetrics, public_handlers
from recollect.http.call import Reply
from recollect.http.errors import MethodNotAllowed, UnknownPath
from recollect.http.operation import Operation
from recollect.http.services import Services
from recollect.identity.ports import Authenticator
from recollect.observability.request_log import RequestLog

NO_ROUTE = "(none)"


@dataclass(frozen=True, slots=True)
class RestSettings:
    """`emit_after_cursor` repeats every next cursor as `afterCursor`. `local_mode` trusts callers
    on the loopback, so it refuses a Host header that is no loopback name."""

    emit_after_cursor: bool = False
    local_mode: bool = False


def create_app(
    services: Services,
    authenticator: Authenticator,
    *,
    settings: RestSettings,
    metrics: RenderableMetrics,
    requests: RequestLog,
    lifespan: Lifespan[ASGIApp] | None = None,
) -> Router:
    """Build the REST API as an ASGI application."""
    frame = RestMiddleware(metrics, requests, local_mode=settings.local_mode)
    dispatch = RestDispatch(services, authenticator, emit_after_cursor=settings.emit_after_cursor)
    answers = public_handlers(services, metrics, local_mode=settings.local_mode) | {
        operation.name: partial(dispatch.handle, operation, HANDLERS[operation.name])
        for operation in OPERATIONS
        if not operation.open
    }
    return Router(
        [
            *(
                Route(
                    _route_template(path),
                    PathEndpoint(path, _handlers_by_method(rows, answers), frame),
                    name=path,
                )
                for path, rows in _group_by_path(CONVERSATION_OPERATIONS).items()
            ),
            *_memory_routes(answers, frame),
        ],
        redirect_slashes=False,
        default=NotFoundEndpoint(frame),
        lifespan=lifespan,
    )


class PathEndpoint:
    """All methods of one path. HEAD is answered like GET, without the body."""

    def __init__(
        self,
        path: str,
        answers: Mapping[str, RequestHandler],
        frame: RestMiddleware,
        *,
        strict: bool = False,
    ) -> None:
        self.path = path
        self._strict = strict
        self.answers = dict(answers)
        if "GET" in answers:
            self.answers["HEAD"] = answers["GET"]
        self._frame = frame

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the handler of the request's method."""
        answer = self.answers.get(scope["method"], self._refuse_method)
        await self._frame.run(
            scope, receive, send, route=self.path, answer=answer, strict=self._strict
        )

    async def _refuse_method(self, _: HttpRequest) -> Reply:
        raise MethodNotAllowed(sorted(self.answers))


class NotFoundEndpoint:
    """Answers 404 on every path that no operation has."""

    def __init__(self, frame: RestMiddleware) -> None:
        self._frame = frame

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404, or close a web socket."""
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        await self._frame.run(scope, receive, send, route=NO_ROUTE, answer=_refuse_path)


class UserIdConvertor(Convertor[str]):
    """Matches a user id that contains slashes: the server unescapes `%2F` before we route."""

    regex = "(?s:.+)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("user", UserIdConvertor())


async def _refuse_path(_: HttpRequest) -> Reply:
    raise UnknownPath("no operation has this path")


def _route_template(path: str) -> str:
    return path.replace("{userId}", "{userId:user}")


def _memory_routes(
    answers: Mapping[str, RequestHandler], frame: RestMiddleware
) -> Iterator[SegmentRoute]:
    """Routes of the memory API; `/v1/memories…` is served without `/v1` too.

    Where two templates match, literal segments win: `/v1/memories/search` must come before
    `/v1/memories/{memory_id}`.
    """
    paths = _group_by_path(MEMORY_OPERATIONS)
    for path in sorted(paths, key=lambda path: [part[:1] == "{" for part in path.split("/")]):
        endpoint = PathEndpoint(path, _handlers_by_method(paths[path], answers), frame, strict=True)
        yield SegmentRoute(path, endpoint)
        if path.startswith("/v1/memories"):
            yield SegmentRoute(path.removeprefix("/v1"), endpoint)


def _group_by_path(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in operations:
        paths.setdefault(operation.path, []).append(operation)
    return paths


def _handlers_by_method(
    rows: Sequence[Operation], answers: Mapping[str, RequestHandler]
) -> dict[str, RequestHandler]:
    return {operation.method: answers[operation.name] for operation in rows}
