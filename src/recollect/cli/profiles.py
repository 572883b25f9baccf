"""`recollect profile`: servers and databases under names, in the user's config file."""

import json
import os
import sys
from operator import itemgetter
from typing import Annotated

import typer

from recollect.cli.options import Json
from recollect.cli.output import note, visible, write, write_json, write_table
from recollect.cli.profile_file import SECRETS, Profile, read_profiles
from recollect.kernel.errors import Conflict, InvalidInput
from recollect.settings.load import load_client

_NAME = Annotated[str, typer.Argument(metavar="NAME", help="What --profile is given.")]

app = typer.Typer(no_args_is_help=True, help="Names for servers and databases.")


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
    name: _NAME,
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
