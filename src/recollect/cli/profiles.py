"""The profiles in a user's config file: the server that a command calls, as whom, with what. And
`recollect profile`, which lists and adds them."""

import json
import os
import shlex
import stat
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any

import typer

from recollect.cli.options import Json
from recollect.cli.output import note, visible, write, write_json, write_table
from recollect.kernel.errors import Conflict, InvalidInput, Unauthenticated
from recollect.settings.load import load_client

Name = Annotated[str, typer.Argument(metavar="NAME", help="What --profile is given.")]

app = typer.Typer(no_args_is_help=True, help="Names for servers and databases.")


SECRETS = ("token", "api_key")
_TOKEN_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile. It names a server (`url`) or a database here, never both."""

    url: str | None = None
    token: str | None = field(default=None, repr=False)
    token_command: str | None = None
    api_key: str | None = field(default=None, repr=False)
    user: str | None = None
    agent: str | None = None
    database: str | None = None

    def read_token(self) -> str | None:
        """The token, or what the token command prints."""
        return self.token if self.token_command is None else _run_token_command(self.token_command)


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """What the file has. `default` is the profile of a command that names none."""

    path: Path
    profiles: Mapping[str, Profile]
    default: str | None

    def get(self, name: str) -> Profile:
        """The profile with this name; InvalidInput that names the ones that exist."""
        found = self.profiles.get(name)
        if found is None:
            raise InvalidInput(
                f"there is no profile {name!r} in {self.path}"
                + _suggest(name, self.profiles, "it has")
            )
        return found


def read_profiles(path: Path) -> ProfileFile:
    """Read the file; without one there are no profiles. InvalidInput if it is wrong, or if others
    can read the secrets in it."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ProfileFile(path, {}, None)
    except OSError as error:
        raise InvalidInput(f"can't read {path}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{path} is not valid TOML: {error}") from error
    _check_names(path, document, ("default_profile", "profiles"), "")
    tables = document.get("profiles", {})
    if not isinstance(tables, dict):
        raise InvalidInput(f"{path}: profiles: must be tables such as [profiles.work]")
    profiles = {name: _read_profile(path, name, table) for name, table in tables.items()}
    if any(profile.token or profile.api_key for profile in profiles.values()):
        _check_private(path)
    default = document.get("default_profile")
    if default is not None and default not in profiles:
        raise InvalidInput(
            f"{path}: default_profile: there is no profile {default!r}"
            + _suggest(str(default), profiles, "there is")
        )
    return ProfileFile(path, profiles, default)


def _read_profile(path: Path, name: str, table: Any) -> Profile:
    where = f"profiles.{name}"
    if not isinstance(table, dict):
        raise InvalidInput(f"{path}: {where}: must be a table")
    _check_names(path, table, [one.name for one in fields(Profile)], f"{where}.")
    for key, value in table.items():
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput(f"{path}: {where}.{key}: must be a text that is not empty")
    profile = Profile(**table)
    if (profile.url is None) == (profile.database is None):
        raise InvalidInput(f"{path}: {where}: must have url or database, and not both")
    if profile.token is not None and profile.token_command is not None:
        raise InvalidInput(f"{path}: {where}: must not have token and token_command")
    return profile


def _check_names(path: Path, table: Mapping[str, Any], known: Any, prefix: str) -> None:
    for name in table:
        if name not in known:
            raise InvalidInput(
                f"{path}: {prefix}{name} is not known" + _suggest(name, known, "known are")
            )


def _suggest(name: str, known: Any, there_are: str) -> str:
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; {there_are} {', '.join(known)}" if known else ""


def _check_private(path: Path) -> None:
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidInput(
            f"{path} holds secrets, and others can read it: run chmod 600 {shlex.quote(str(path))}"
        )


def _run_token_command(command: str) -> str:
    """What the command prints. It is run without a shell, and its output is in no message."""
    try:
        ended = subprocess.run(  # noqa: S603 - the user's own command, from their own file
            shlex.split(command), stdout=subprocess.PIPE, timeout=_TOKEN_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise Unauthenticated(f"token_command failed: {type(error).__name__}") from error
    token = ended.stdout.decode(errors="replace").strip()
    if ended.returncode != 0 or not token:
        raise Unauthenticated(f"token_command gave no token; its exit code is {ended.returncode}")
    return token


@app.command("list")
def list_profiles(as_json: Json = False) -> None:
    """List the profiles of the config file. Secrets are not printed."""
    file = read_profiles(load_client().config_file)
    rows = [{"name": name, **_to_json(profile)} for name, profile in file.profiles.items()]
    if as_json:
        write_json(rows)
        return
    write_table(rows, {column: itemgetter(column) for column in _COLUMNS})
    note(f"file: {file.path}" + (f"; default: {file.default}" if file.default else ""))


_COLUMNS = ("name", "url", "database", "user", "agent", "credential")


def _to_json(profile: Profile) -> dict[str, str | None]:
    has = {
        "token": profile.token,
        "token_command": profile.token_command,
        "api_key": profile.api_key,
    }
    return {
        "url": profile.url,
        "database": profile.database,
        "user": profile.user,
        "agent": profile.agent,
        "credential": " and ".join(name for name, value in has.items() if value) or None,
    }


@app.command()
def add(
    name: Name,
    url: Annotated[str | None, typer.Option(help="The server.")] = None,
    database: Annotated[str | None, typer.Option(help="A database here, not a server.")] = None,
    user: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent whose spaces are meant.")] = None,
    token_command: Annotated[
        str | None, typer.Option(help="A command that prints the token.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(help="token or api_key: read it from stdin, and store it.")
    ] = None,
) -> None:
    """Add a profile to the config file, which only you can read then."""
    path = load_client().config_file
    if name in read_profiles(path).profiles:
        raise Conflict(f"there is a profile {name!r} already: change it in {path}")
    given = {"url": url, "database": database, "user": user, "agent": agent}
    given["token_command"] = token_command
    if secret is not None:
        given[secret] = _read_secret(secret)
    lines = [f"{key} = {_to_toml(value)}" for key, value in given.items() if value is not None]
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    text = f"{before.rstrip()}\n\n" if before.strip() else ""
    text += "\n".join([f"[profiles.{_to_toml(name)}]", *lines, ""])
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        # What the file would hold must be right before it takes the place of the old one.
        read_profiles(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    write(f"Added {visible(name)} to {visible(str(path))}")


def _read_secret(kind: str) -> str:
    if kind not in SECRETS:
        raise InvalidInput(f"--secret: must be one of {', '.join(SECRETS)}")
    if not sys.stdin.isatty():
        return sys.stdin.readline().strip()
    from getpass import getpass

    return getpass(f"{kind}: ").strip()


def _to_toml(text: str) -> str:
    """A basic string of TOML: that of JSON, but for a control character that JSON leaves as is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
