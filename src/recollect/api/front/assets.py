"""The static files of the pages. A name that is not on the list does not exist: no path is made of
what a caller sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent / "files"
MEDIA_TYPES: Mapping[str, str] = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent. The tag changes with its content."""

    body: bytes
    media: str
    tag: str


def to_asset(body: bytes, media: str) -> Asset:
    """The asset with this body."""
    return Asset(body, media, f'"{sha256(body).hexdigest()[:20]}"')


@cache
def read_assets() -> Mapping[str, Asset]:
    """The files that the pages use, by name."""
    return {
        name: to_asset((FOLDER / name).read_bytes(), kind) for name, kind in MEDIA_TYPES.items()
    }
