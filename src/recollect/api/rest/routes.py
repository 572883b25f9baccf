"""Routes whose ids may contain any character, also an escaped slash: matched before unescaping."""

from urllib.parse import unquote_to_bytes

from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Receive, Scope, Send


class SegmentRoute(BaseRoute):
    """One path template such as `/v1/chats/{chat_id}`, compared segment by segment."""

    def __init__(self, template: str, endpoint: ASGIApp) -> None:
        self._template = template.split("/")
        self._endpoint = endpoint

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the raw path and return its ids. An empty segment is no id."""
        if scope["type"] != "http":
            return Match.NONE, {}
        segments = scope["raw_path"].split(b"/")
        if len(segments) != len(self._template):
            return Match.NONE, {}
        ids: dict[str, str] = {}
        for wanted, raw in zip(self._template, segments, strict=True):
            text = unquote_to_bytes(raw).decode("utf-8", "replace")
            if wanted.startswith("{") and text:
                ids[wanted[1:-1]] = text
            elif wanted != text:
                return Match.NONE, {}
        return Match.FULL, {"path_params": ids, "endpoint": self._endpoint}

    def url_path_for(self, name: str, /, **path_params: str) -> "None":  # type: ignore[override]
        """Not supported: nothing here builds URLs from routes."""
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._endpoint(scope, receive, send)
