"""`recollect serve` and `open`: start the server and print how to use it; show its page."""

import ipaddress
import shlex
import shutil
import socket
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from recollect import __version__
from recollect.cli.connection import Target, failing_clearly, find_profile, without_secrets
from recollect.cli.failures import CommandFailed
from recollect.cli.options import Config, DatabaseUrl, load_settings
from recollect.cli.output import visible, write
from recollect.kernel.errors import Unavailable
from recollect.settings import ServerSettings, Settings
from recollect.settings.load import FLAGS

Host = Annotated[str | None, typer.Option(FLAGS["server.host"], help="Address to listen on.")]
Port = Annotated[int | None, typer.Option(FLAGS["server.port"], help="TCP port; 0 for a free one.")]

_NO_BROWSER_EXIT = 7
# The first probe after 30 seconds of silence; the connection is given up 30 seconds later.
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}


def serve(
    host: Host = None, port: Port = None, database_url: DatabaseUrl = None, config: Config = None
) -> None:
    """Run the server until SIGTERM or SIGINT; requests at hand are finished first."""
    loaded = load_settings(config, host=host, port=port, database_url=database_url)
    settings = loaded.settings
    with bind_socket(settings.server) as listener:
        address = base_url(settings.server.host, listener.getsockname()[1])
        greeting = welcome_text(settings, address, token_command(config, database_url))
        from recollect.cli import http_server

        http_server.run(settings, listener, greeting)


def welcome_text(settings: Settings, address: str, token: str) -> str:
    """The text that is printed once requests are answered: the address and a command to try."""
    mints = settings.auth.mode == "local" or settings.auth.jwt_secret is not None
    source = f"{token} you" if mints else "your identity provider; put one in $TOKEN"
    if settings.auth.mode == "local":
        header = "'X-Requester-Id: you'"
    else:
        bearer = f"$({token} you)" if mints else "$TOKEN"
        header = f'"Authorization: Bearer {bearer}"'
    return (
        f"Recollect {__version__} listens on {address}\n"
        f"Token:  {source}\n"
        f"Try it: curl -s -H {header} {address}/v1/conversations"
    )


def token_command(config: Path | None, database_url: str | None) -> str:
    """The shell command that makes tokens for this server, with the same config and database."""
    name = "recollect" if shutil.which("recollect") else sys.argv[0]
    options = {"--config": config, FLAGS["database.url"]: database_url}
    arguments = [part for flag, value in options.items() if value for part in (flag, str(value))]
    return shlex.join([name, "token", *arguments])


def base_url(host: str, port: int) -> str:
    """The URL by which a client on this machine reaches a server bound to `host`."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"http://{host}:{port}"
    if address.is_unspecified:
        host = "127.0.0.1" if address.version == 4 else "::1"
    return f"http://[{host}]:{port}" if address.version == 6 else f"http://{host}:{port}"


def bind_socket(server: ServerSettings) -> socket.socket:
    """A bound socket. Binding comes before everything else, so that a taken port fails before a
    database is created or a job is started."""
    where = f"can't listen on {server.host} port {server.port}"
    try:
        family, _, _, _, address = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family)
    except OSError as error:
        raise Unavailable(f"{where}: {error.strerror}") from error
    # Else a restart would fail while connections of the old process are in TIME_WAIT.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _enable_keepalive(listener)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Unavailable(f"{where}: {error.strerror}") from error
    return listener


def _enable_keepalive(listener: socket.socket) -> None:
    """Enable TCP keepalive. A recording may be silent for as long as its caller likes, so there is
    no read timeout; keepalive ends the connection if the caller's machine is gone. Accepted
    connections inherit the options of the listener."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def open_page(
    target: Target,
    only_print: Annotated[bool, typer.Option("--print", help="Only print the address.")] = False,
) -> None:
    """Open the page of the server in a browser: of --url or a profile, else of this folder."""
    url = find_profile(target).url or _local_url(target)
    from recollect_client import NO_RETRIES, Recollect

    with (
        failing_clearly(without_secrets(url), is_server=True),
        Recollect.connect(url, retries=NO_RETRIES) as client,
    ):
        client.operations.get_health()
    page = f"{without_secrets(url).rstrip('/')}/"
    write(visible(page))
    if not only_print and not webbrowser.open(page):
        raise CommandFailed(f"there is no browser here: open {page} in one", _NO_BROWSER_EXIT)


def _local_url(target: Target) -> str:
    """Where `recollect serve` listens by the settings of this folder."""
    server = load_settings(target.config, database_url=target.database_url).settings.server
    return base_url(server.host, server.port)
