"""Options that several commands share, and checks that run before the application is imported."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

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
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")]


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


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command for Typer, where a parameter that is a dataclass of options stands for all of
    them. So commands share options without repeating them."""
    groups: dict[str, type[Any]] = {}
    options: list[inspect.Parameter] = []
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hint := hints[name]) and isinstance(hint, type):
            groups[name] = hint
            inner = get_type_hints(hint, include_extras=True)
            options += [_option(one.name, inner[one.name], one.default) for one in fields(hint)]
        else:
            options.append(_option(name, hint, parameter.default))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        made = {
            name: group(**{one.name: values.pop(one.name) for one in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    # Typer asks for both.
    run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def _option(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
