"""`recollect key`: makes, lists and revokes API keys."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from recollect.cli.options import Config, DatabaseUrl, Json, load_settings, require_database
from recollect.cli.tokens import parse_ttl
from recollect.kernel.clock import SystemClock, to_text
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import parse_uuid
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.api_keys.model import ListedKey
    from recollect.api_keys.service import IssuedKeyService

T = TypeVar("T")
_PAGE = 1_000

Client = Annotated[str, typer.Argument(help="The client id that the key is for.")]
KeyId = Annotated[str, typer.Argument(help="The id that `recollect key list` shows.")]
Name = Annotated[str | None, typer.Option(help="A name to know the key by.")]
Ttl = Annotated[str | None, typer.Option(help="How long it is good: 24h, 90d; else for ever.")]

app = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")


@app.command()
def create(
    client: Client,
    ttl: Ttl = None,
    name: Name = None,
    config: Config = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print a new API key for CLIENT. It is shown this once; only its hash is stored."""
    from recollect.api_keys.service import NewKey

    expires_at = None if ttl is None else SystemClock().now() + parse_ttl(ttl)
    new = NewKey(client, name, expires_at)
    made = _run(config, database_url, lambda service: service.create(None, new))
    print(made.key)
    print(f"recollect: key {made.stored.id} of {client}", file=sys.stderr)


@app.command("list")
def list_keys(
    config: Config = None, database_url: DatabaseUrl = None, as_json: Json = False
) -> None:
    """Print all keys that were made, the newest first. Those of the settings are not listed."""
    keys = [_to_json(one) for one in _run(config, database_url, _read_all)]
    if as_json:
        print(json.dumps(keys, indent=2))
        return
    for key in keys:
        end = f", until {key['expires_at']}" if key["expires_at"] else ""
        print(
            f"{key['id']}  {key['state']:7}  {key['client_id']}  {key['name'] or ''}{end}".rstrip()
        )


@app.command()
def revoke(key_id: KeyId, config: Config = None, database_url: DatabaseUrl = None) -> None:
    """Revoke a key for good. It ends at once, on every node."""
    id_ = parse_uuid(key_id)
    if id_ is None:
        raise NotFound("API key", key_id)
    _run(config, database_url, lambda service: service.revoke(None, id_))
    print(f"Revoked: {id_}")


async def _read_all(service: "IssuedKeyService") -> list["ListedKey"]:
    found: list[ListedKey] = []
    after: str | None = None
    while True:
        page = await service.list(None, after=after, limit=_PAGE)
        found += page.items
        after = page.next_cursor
        if after is None:
            return found


def _run(
    config: Any, database_url: str | None, work: Callable[["IssuedKeyService"], Awaitable[T]]
) -> T:
    return asyncio.run(
        _run_on_database(load_settings(config, database_url=database_url).settings, work)
    )


async def _run_on_database(
    settings: Settings, work: Callable[["IssuedKeyService"], Awaitable[T]]
) -> T:
    require_database(settings)
    from recollect.api_keys.service import IssuedKeyService
    from recollect.app.application import build

    built = build(settings)
    try:
        await built.open()
        return await work(built.services[IssuedKeyService])
    finally:
        await built.close()


def _to_json(listed: "ListedKey") -> dict[str, Any]:
    key = listed.stored
    return {
        "id": key.id,
        "client_id": key.client_id,
        "state": str(listed.state),
        "name": key.name,
        "created_at": to_text(key.created_at),
        "created_by": key.created_by,
        "expires_at": None if key.expires_at is None else to_text(key.expires_at),
        "revoked_at": None if key.revoked_at is None else to_text(key.revoked_at),
    }
