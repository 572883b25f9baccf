"""Handlers of the pages: HTML, its static files, and texts for coding agents.

All are the same for every caller but the page at `/`, which is made anew for each request.
"""

import re
from functools import cache

from recollect import __version__
from recollect.api.front.assets import FOLDER, Asset, read_assets, to_asset
from recollect.api.front.reference_page import render_reference_page
from recollect.api.front.start_page import StartFacts, render_start_page, to_json
from recollect.api.openapi.document import merged_document
from recollect.api.rest.middleware import HttpRequest, RequestHandler
from recollect.doctor.health import StatusService
from recollect.http.call import Reply
from recollect.http.errors import UnknownPath
from recollect.http.services import Services
from recollect.kernel.errors import Unavailable
from recollect.kernel.strict_json import dump

_HTML = "text/html; charset=utf-8"
# Styles, scripts and pictures from this server, and nothing else: no frames, no forms, no calls.
_SAFE = (
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(?::\d{1,5})?|\[[0-9a-f:]+\](?::\d{1,5})?")
_ADDRESS = "127.0.0.1:8080"


def front_handlers(services: Services, *, local_mode: bool) -> dict[str, RequestHandler]:
    """The handlers of the pages, by operation name."""

    async def get_start(request: HttpRequest) -> Reply:
        facts = await _start_facts(services[StatusService], request, local=local_mode)
        status = 200 if facts.healthy else 503
        if b"text/html" in request.headers.get(b"accept", b"").lower():
            return Reply(status, render_start_page(facts).encode(), _HTML.encode(), _SAFE)
        return Reply(status, dump(to_json(facts)).encode(), headers=_SAFE)

    async def get_reference(request: HttpRequest) -> Reply:
        return reply_with(_reference(), request)

    async def get_asset(request: HttpRequest) -> Reply:
        asset = read_assets().get(request.scope["path_params"]["asset"])
        if asset is None:
            raise UnknownPath("there is no such file")
        return reply_with(asset, request)

    async def get_llms_text(request: HttpRequest) -> Reply:
        return reply_with(_llms_text(), request)

    return {
        "getStart": get_start,
        "getReference": get_reference,
        "getAsset": get_asset,
        "getLlmsText": get_llms_text,
    }


async def _start_facts(status: StatusService, request: HttpRequest, *, local: bool) -> StartFacts:
    try:
        await status.ping()
        healthy = True
    except Unavailable:
        healthy = False
    version = __version__ if local else None
    return StartFacts(
        healthy, local, _address(request), version, list((await status.condition()).advice)
    )


def _address(request: HttpRequest) -> str:
    """The server's address as the caller wrote it, if it is one that can stand in a command."""
    host = request.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if request.scope.get("scheme") == "https" else "http"
    return f"{scheme}://{host if _HOST.fullmatch(host) else _ADDRESS}"


def reply_with(asset: Asset, request: HttpRequest) -> Reply:
    """The asset, or 304 if the caller has it already."""
    headers = (*_SAFE, (b"etag", asset.tag.encode()), (b"cache-control", b"no-cache"))
    known = request.headers.get(b"if-none-match", b"").decode("latin-1")
    if asset.tag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Reply(304, headers=headers)
    return Reply(200, asset.body, asset.media.encode(), headers)


@cache
def _reference() -> Asset:
    """Made at the first request: most servers never get one."""
    return to_asset(render_reference_page(merged_document()).encode(), _HTML)


@cache
def _llms_text() -> Asset:
    return to_asset((FOLDER / "llms.txt").read_bytes(), "text/plain; charset=utf-8")
