"""Options that several commands share, and checks that run before the application is imported."""

from pathlib import Path
from typing import Annotated

import typer

from recollect.kernel.errors import InvalidInput
from recollect.settings import Settings
from recollect.settings.load import FLAGS, LoadedSettings, load

INTERRUPTED_EXIT = 130

Config = Annotated[
    Path | None, typer.Option("--config", help="Settings file; default ./recollect.toml.")
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(FLAGS["database.url"], help="sqlite:///file.db or postgresql://host/database."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load_settings(
    config: Path | None,
    *,
    host: str | None = None,
    port: int | None = None,
    database_url: str | None = None,
) -> LoadedSettings:
    """Load the settings of a command."""
    flags = {"server.host": host, "server.port": port, "database.url": database_url}
    return load(flags, config_path=config)


def require_database(settings: Settings) -> None:
    """Raises InvalidInput if the database is a file that does not exist; nothing is created."""
    path = settings.database.sqlite_path
    if path is not None and not path.exists():
        raise InvalidInput(f"there is no database at {path}: check database.url")
