"""`recollect open`: the page of the server in a browser."""

import webbrowser
from typing import Annotated

import typer

from recollect.cli.connection import Target, failing_clearly, find_profile, without_secrets
from recollect.cli.failures import CommandFailed
from recollect.cli.options import load_settings
from recollect.cli.output import visible, write
from recollect.cli.serve import base_url

_NO_BROWSER_EXIT = 7


def open_page(
    target: Target,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Open the page of the server in a browser: of --url or a profile, else of this folder."""
    url = find_profile(target).url or _local_url(target)
    from recollect_client import NO_RETRIES, Recollect

    with failing_clearly(url, is_server=True), Recollect.connect(url, retries=NO_RETRIES) as client:
        client.operations.get_health()
    page = f"{without_secrets(url).rstrip('/')}/"
    write(visible(page))
    if not only_print and not webbrowser.open(page):
        raise CommandFailed(f"there is no browser here: open {page} in one", _NO_BROWSER_EXIT)


def _local_url(target: Target) -> str:
    """Where `recollect serve` listens by the settings of this folder."""
    server = load_settings(target.config, database_url=target.database_url).settings.server
    return base_url(server.host, server.port)
