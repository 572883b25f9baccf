"""`recollect token`: a bearer token signed with the server's own secret."""

import re
from datetime import timedelta
from typing import Annotated

import typer

from recollect.cli.options import Config, DatabaseUrl, load_settings
from recollect.kernel.clock import SystemClock
from recollect.kernel.errors import InvalidInput
from recollect.kernel.retention_rules import TTL_SECONDS_MAX

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_TTL = re.compile(r"([1-9][0-9]{0,5})([smhdw])")


def token(
    user: Annotated[str, typer.Argument(help="The user id that the token is for.")],
    ttl: Annotated[str, typer.Option(help="How long it is good: 30m, 24h, 7d.")] = "24h",
    role: Annotated[list[str] | None, typer.Option(help="A token role; may be repeated.")] = None,
    config: Config = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print a bearer token for USER."""
    from recollect.identity.tokens.local_key import signing_secret
    from recollect.identity.tokens.tokens import mint

    settings = load_settings(config, database_url=database_url).settings
    lifetime = parse_ttl(ttl)
    secret = signing_secret(settings)
    if secret is None:
        raise InvalidInput(
            "tokens come from your identity provider here: "
            "set auth.jwt_secret to let `recollect token` make them"
        )
    try:
        minted = mint(
            secret,
            user_id=user,
            roles=role or [],
            ttl=lifetime,
            now=SystemClock().now(),
            issuer=settings.auth.issuer,
            audience=settings.auth.audience,
            roles_claim=settings.auth.roles_claim,
        )
    except ValueError as error:
        raise InvalidInput(f"can't make a token: {error}") from error
    print(minted)


def parse_ttl(text: str, *, option: str = "--ttl") -> timedelta:
    """A TTL such as `24h`; InvalidInput for anything else."""
    match = _TTL.fullmatch(text)
    if match is None:
        raise InvalidInput(
            f"{option}: should be a number and one of s, m, h, d, w, and is {text!r}"
        )
    ttl = timedelta(**{_UNITS[match[2]]: int(match[1])})
    if ttl.total_seconds() > TTL_SECONDS_MAX:
        raise InvalidInput(f"{option}: should be at most a thousand years, and is {text!r}")
    return ttl
