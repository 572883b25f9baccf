"""From the options of a command to a client: of a server, or of a database here.

The client is imported when a command calls something, and the server only to open a database here.
"""

import getpass
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from recollect.cli.failures import CommandFailed
from recollect.cli.options import load_settings, require_database
from recollect.cli.output import note
from recollect.cli.profiles import Profile, read_profiles
from recollect.kernel.errors import InvalidInput
from recollect.settings.load import load_client

if TYPE_CHECKING:
    from recollect_client import Recollect
    from recollect_client._sync.operations import Operations
    from recollect_client.errors import RecollectError as ClientError

_PANEL = "Where, and who asks"
_SQLITE = "sqlite:///"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SECONDS = 30.0
_LONG_SECONDS = 3600.0


@dataclass(frozen=True)
class Target:
    """Which server or database a command works on, and who asks."""

    url: Annotated[
        str | None,
        typer.Option(
            "--url", help="The server, such as http://127.0.0.1:8080.", rich_help_panel=_PANEL
        ),
    ] = None
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="A profile of the config file.", rich_help_panel=_PANEL),
    ] = None
    asker: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="USER", help="Who asks; agent:ID for an agent.", rich_help_panel=_PANEL
        ),
    ] = None
    database_url: Annotated[
        str | None,
        typer.Option(
            "--database-url",
            help="A database here: sqlite:///file.db or postgresql://host/database.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    config: Annotated[
        Path | None,
        typer.Option("--config", help="Settings file of a database here.", rich_help_panel=_PANEL),
    ] = None


@dataclass(frozen=True, slots=True)
class Session:
    """A client, and who asks where. `asker` is None if only the credential says who it is."""

    client: "Recollect"
    asker: str | None
    where: str
    is_server: bool
    agent: str | None = None

    @property
    def operations(self) -> "Operations":
        """Every operation, called as who asks."""
        return self.client.operations

    @property
    def owner(self) -> str:
        """Who asks, for a sentence."""
        return self.asker or "the user of the token"


@contextmanager
def connect(
    target: Target,
    *,
    creates: bool = False,
    as_admin: bool = False,
    is_long: bool = False,
    uses_default: bool = True,
) -> Iterator[Session]:
    """A session, closed at the end. Errors of the client become a failure of the command.

    A database file that does not exist is made only if the command `creates`. A database here lets
    whoever asks be its admin, if the command needs one: who may read the file may read all. An
    answer that `is_long` in coming is waited for.
    """
    profile = find_profile(target, uses_default=uses_default)
    if profile.url is None:
        session = _open_database(target, profile, creates=creates, as_admin=as_admin)
    else:
        seconds = _LONG_SECONDS if is_long else _SECONDS
        session = _connect_server(target, profile, timeout_seconds=seconds)
    with failing_clearly(session.where, is_server=session.is_server):
        try:
            yield session
        finally:
            session.client.close()


def find_profile(target: Target, *, uses_default: bool = True) -> Profile:
    """The profile that the options name, else the environment, else the config file's default. An
    empty one means the database that the settings name.

    What looks after a database here does not use the default: it must not end up elsewhere.
    """
    named = {
        "--url": target.url,
        "--profile": target.profile,
        "--database-url": target.database_url or target.config,
    }
    given = [name for name, value in named.items() if value is not None]
    if len(given) > 1:
        raise InvalidInput(f"{' and '.join(given)} exclude each other")
    variables = load_client()
    if target.profile is not None:
        return read_profiles(variables.config_file).get(target.profile)
    if given == ["--database-url"]:
        return Profile()
    url = target.url or variables.url
    if url is not None:
        # A token in the environment was put there for this call. That of a profile is for the
        # server of the profile alone.
        return Profile(url=url, token=variables.token, api_key=variables.api_key)
    file = read_profiles(variables.config_file)
    name = variables.profile or (file.default if uses_default else None)
    return file.get(name) if name is not None else Profile()


def _connect_server(target: Target, profile: Profile, *, timeout_seconds: float) -> Session:
    from recollect_client import Recollect

    token = profile.read_token()
    asker = target.asker or profile.user
    if asker is None and token is None and profile.api_key is None:
        # Only a server in local mode answers without a credential, and it believes any name.
        asker = _login_name()
    url = profile.url or ""
    parts = urlsplit(url)
    if (token or profile.api_key) and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        note(f"warning: the credential goes to {without_secrets(url)} unencrypted: use https")
    with failing_clearly(without_secrets(url), is_server=True):
        client = Recollect.connect(
            url,
            token=token,
            api_key=profile.api_key,
            user=asker,
            timeout_seconds=timeout_seconds,
        )
    return Session(client, asker, without_secrets(url), True, profile.agent)


def _open_database(target: Target, profile: Profile, *, creates: bool, as_admin: bool) -> Session:
    url = target.database_url
    if profile.database is not None:
        url = database_url(profile.database)
    loaded = load_settings(target.config, database_url=url)
    if not creates:
        require_database(loaded.settings)
    asker = target.asker or profile.user or _login_name()
    settings: dict[str, Any] = {}
    if target.config is not None:
        values = loaded.settings.model_dump()
        settings = {
            key: _value_of(values, key)
            for key, origin in loaded.origins.items()
            if origin == str(target.config)
        }
    if as_admin:
        settings["auth.roles"] = {"admin": {"users": [asker]}}
        # That rule is for admins of a server, who look at data of others.
        settings["admin.require_justification"] = False
    database = loaded.settings.database
    from recollect_client import Recollect

    # That another process has the file open, too, is no news: both may use it.
    with failing_clearly("", is_server=False), warnings.catch_warnings(action="ignore"):
        client = Recollect.open(database.url, user=asker, settings=settings)
    where = str(database.sqlite_path or without_secrets(database.url))
    return Session(client, asker, where, False, profile.agent)


@contextmanager
def failing_clearly(where: str, *, is_server: bool) -> Iterator[None]:
    """Turn errors of the client into failures that say what to do."""
    from recollect_client import RecollectError as ClientError

    try:
        yield
    except ClientError as error:
        raise CommandFailed(_advise(error, where, is_server=is_server), exit_code(error)) from error
    except (TypeError, ValueError) as error:
        # An argument that can't be sent.
        raise InvalidInput(str(error)) from error


def exit_code(error: "ClientError") -> int:
    """The exit code of an error of the client."""
    from recollect_client import errors

    codes: dict[type[ClientError], int] = {
        errors.InvalidInput: 2,
        errors.Unauthenticated: 3,
        errors.Forbidden: 3,
        errors.NotFound: 4,
        errors.Conflict: 5,
        errors.LimitExceeded: 6,
        errors.Unavailable: 7,
        errors.Unsupported: 7,
        errors.Interrupted: 7,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), 1)


def _advise(error: "ClientError", where: str, *, is_server: bool) -> str:
    from recollect_client import errors

    message = error.message
    if isinstance(error, errors.NotFound) and "id" in error.details:
        message = f"{message}: {error.details['id']}"
    if not is_server:
        return message
    if isinstance(error, errors.ServerUnreachable):
        return f"{where}: {message}: is the server running, and the URL right?"
    if isinstance(error, errors.Unauthenticated):
        return (
            f"{where}: {message}: set RECOLLECT_TOKEN or RECOLLECT_API_KEY, or use a profile "
            "(`recollect profile add --help`)"
        )
    return message


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError) as error:
        raise InvalidInput("who asks? your login has no name: say --as USER") from error


def database_url(database: str) -> str:
    """The URL of a profile's database, which may also be the path of a file."""
    if "://" in database:
        return database
    path = Path(database).expanduser()
    if not path.is_absolute():
        raise InvalidInput(f"database: {database}: must be an absolute path, or begin with ~")
    return f"{_SQLITE}{path}"


def _value_of(values: Any, key: str) -> Any:
    for name in key.split("."):
        values = values[name]
    return values


def without_secrets(url: str) -> str:
    """The URL without user and password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
