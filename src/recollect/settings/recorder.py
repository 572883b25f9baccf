"""Sections `recorder` and `redis`: recorded responses, and how nodes find them."""

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from recollect.settings.section import MaskedUrl, Section

Locators = Literal["local", "database", "redis", "infinispan", "none"]


def _check_address(address: str) -> str:
    if re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}", address):
        return address
    raise ValueError("should be `host:port`, without a scheme")


def _check_redis_url(url: str) -> str:
    if re.match(r"(rediss?|unix)://", url):
        return url
    raise ValueError("should be redis://host:port/number (rediss:// with TLS)")


class RecorderSettings(Section):
    """Responses that others follow while they are being made."""

    locators: Locators = Field(
        "local",
        description="how nodes find each other's recordings: `local` for one node, `database`, "
        "`redis`, `infinispan` (by its Redis protocol), `none` switches recording off",
    )
    advertised_address: Annotated[str, AfterValidator(_check_address)] | None = Field(
        None,
        description="`host:port` where other nodes and clients reach this node; "
        "unset: where it listens",
    )
    directory: Path | None = Field(
        None, description="folder of running recordings; unset: `recordings` beside the database"
    )
    max_bytes: int = Field(
        256 * 1024 * 1024, ge=1, description="most bytes of one recording on the disk"
    )
    max_recordings: int = Field(
        1_000, ge=1, description="most recordings at once on this node, and as many that ended"
    )
    max_recordings_per_user: int = Field(100, ge=1, description="most of them for one user")
    max_replays: int = Field(5_000, ge=1, description="most readers at once on this node")
    max_replays_per_user: int = Field(200, ge=1, description="most of them for one user")
    keep_seconds: int = Field(
        60, ge=0, description="how long readers who lost their connection can still read the end"
    )


class RedisSettings(Section):
    """A Redis that all nodes share."""

    url: Annotated[str, AfterValidator(_check_redis_url), MaskedUrl] | None = Field(
        None, repr=False, description="`redis://user:password@host:port/number`"
    )
