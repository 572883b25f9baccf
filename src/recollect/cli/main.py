"""The entry point: the table of commands, and the exit codes of failures.

A command imports the application when it runs, and only if it needs it: importing it takes many
times as long as everything else that `version` or `token` do.
"""

import gc
import json
import sys
from collections.abc import Callable, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated

import typer

from recollect import __version__
from recollect.cli import (
    agents,
    backup,
    chats,
    completion,
    conversations,
    doctor,
    erase,
    housekeeping,
    keys,
    maintenance,
    memories,
    memory_verbs,
    people,
    portability,
    profiles,
    serve,
    tokens,
)
from recollect.cli.failures import EXIT_CODES, report_failure
from recollect.cli.options import (
    Config,
    DatabaseUrl,
    Json,
    load_settings,
    with_groups,
)
from recollect.cli.output import PIPE_CLOSED_EXIT, leave_pipe, note

_SKILL = Path(__file__).parents[1] / "api" / "front" / "files" / "SKILL.md"
_COLLECT_AFTER_OBJECTS = 50_000
_CODES = "\n".join(f"{code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Recollect: one memory server for AI agents.",
    epilog=f"Exit codes:\n{_CODES}",
)
config_app = typer.Typer(no_args_is_help=True, help="Look at the settings.")


def _print_version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Recollect: one memory server for AI agents."""


def version() -> None:
    """Print the version."""
    print(__version__)


def skill() -> None:
    """Print how a coding agent uses Recollect, as a skill file."""
    print(_SKILL.read_text(encoding="utf-8"), end="")


@config_app.command()
def show(config: Config = None, database_url: DatabaseUrl = None, as_json: Json = False) -> None:
    """Print every setting and the source of its value. Secrets are masked."""
    loaded = load_settings(config, database_url=database_url)
    sources, masked = loaded.origins, loaded.settings.model_dump(mode="json")
    values = {key: reduce(getitem, key.split("."), masked) for key in sources}
    if as_json:
        rows = {key: {"value": value, "source": sources[key]} for key, value in values.items()}
        print(json.dumps(rows, indent=2))
        return
    lines = {key: f"{key} = {json.dumps(value)}" for key, value in values.items()}
    width = min(max(map(len, lines.values())), 60)
    for key, line in lines.items():
        print(f"{line:{width}}  # {sources[key]}")


_ADDED: tuple[tuple[str, tuple[tuple[str, Callable[..., None] | typer.Typer], ...]], ...] = (
    (
        "What is known and said",
        (
            ("remember", memory_verbs.remember),
            ("recall", memory_verbs.recall),
            ("search", memory_verbs.search),
            ("forget", memory_verbs.forget),
            ("memories", memories.app),
            ("people", people.app),
            ("agents", agents.app),
            ("chats", chats.app),
            ("conversations", conversations.app),
        ),
    ),
    (
        "Your data",
        (
            ("export", portability.export_file),
            ("import", portability.import_file),
            ("backup", backup.backup),
            ("restore", backup.restore),
            ("erase", erase.erase),
            ("stats", portability.stats),
        ),
    ),
    (
        "The server",
        (
            ("serve", serve.serve),
            ("open", serve.open_page),
            ("worker", maintenance.worker),
            ("token", tokens.token),
            ("key", keys.app),
        ),
    ),
    (
        "Looking after it",
        (
            ("doctor", doctor.doctor),
            ("migrate", maintenance.migrate),
            ("reindex", maintenance.reindex),
            ("expire", housekeeping.expire),
            ("vacuum", housekeeping.vacuum),
            ("gc", housekeeping.gc),
            ("evict", housekeeping.evict),
        ),
    ),
    (
        "This program",
        (
            ("config", config_app),
            ("profile", profiles.app),
            ("completion", completion.completion),
            ("skill", skill),
            ("version", version),
        ),
    ),
)
for panel, commands in _ADDED:
    for name, command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name, rich_help_panel=panel)
        else:
            app.command(name, rich_help_panel=panel)(with_groups(command))


def run() -> None:
    """Run the command line of this process."""
    # Importing makes hardly any garbage, and requests leave little. With the default threshold the
    # collector would run after every few hundred objects, in vain (see ADR 0010).
    gc.set_threshold(_COLLECT_AFTER_OBJECTS, 20, 50)
    try:
        sys.exit(main(sys.argv[1:]))
    finally:
        # The process ends: without this the interpreter would collect garbage once more on exit.
        gc.freeze()


def main(arguments: Sequence[str]) -> int:
    """Run a command; its exit code. An error becomes one line on stderr."""
    try:
        completion.answer_shells()
        code = app(
            arguments,
            prog_name=completion.PROGRAM,
            complete_var=completion.COMPLETE_VARIABLE,
            standalone_mode=False,
        )
        sys.stdout.flush()
    except typer.TyperException as error:
        return _report_usage(error)
    except typer.Abort:
        note("recollect: nothing was done")
        return 1
    except BrokenPipeError:
        leave_pipe()
        return PIPE_CLOSED_EXIT
    except Exception as error:  # noqa: BLE001 - the outermost frame: no traceback for the user
        return report_failure(error)
    return code if isinstance(code, int) else 0


def _report_usage(error: typer.TyperException) -> int:
    """Say what is wrong with the command, and where its options are."""
    context = getattr(error, "ctx", None)
    command = completion.PROGRAM if context is None else context.command_path
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return error.exit_code
    note(f"recollect: {error.format_message()} (see `{command} --help`)")
    return error.exit_code
