"""The entry point: the table of commands, and the exit codes of failures.

A command imports the application when it runs, and only if it needs it: importing it takes many
times as long as everything else that `version` or `token` do.
"""

import gc
import json
import sys
from functools import reduce
from operator import getitem
from pathlib import Path

import typer

from recollect import __version__
from recollect.cli import (
    doctor,
    housekeeping,
    keys,
    maintenance,
    serve,
    tokens,
)
from recollect.cli.options import (
    INTERRUPTED_EXIT,
    Config,
    DatabaseUrl,
    Json,
    load_settings,
)
from recollect.http.errors import CLI_EXIT, cli_exit
from recollect.kernel.errors import Internal, RecollectError

_SKILL = Path(__file__).parents[1] / "api" / "front" / "files" / "SKILL.md"
_COLLECT_AFTER_OBJECTS = 50_000

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Recollect: one memory server for AI agents.",
)
config_app = typer.Typer(no_args_is_help=True, help="Look at the settings.")


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


@app.command()
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


app.command()(serve.serve)
app.command()(maintenance.worker)
app.command()(maintenance.migrate)
app.command()(maintenance.reindex)
app.command()(housekeeping.expire)
app.command()(housekeeping.vacuum)
app.command()(housekeeping.gc)
app.command()(tokens.token)
app.command()(doctor.doctor)
app.add_typer(config_app, name="config")
app.add_typer(keys.app, name="key")


def run() -> None:
    """Run the command line. An error becomes one line on stderr and an exit code."""
    # Importing makes hardly any garbage, and requests leave little. With the default threshold the
    # collector would run after every few hundred objects, in vain (see ADR 0010).
    gc.set_threshold(_COLLECT_AFTER_OBJECTS, 20, 50)
    try:
        app()
    except RecollectError as error:
        _fail(error.message, cli_exit(error))
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED_EXIT)
    except Exception as error:  # noqa: BLE001 - the outermost frame: no traceback for the user
        _fail(f"internal error: {type(error).__name__}: {error}", CLI_EXIT[Internal])
    finally:
        # The process ends: without this the interpreter would collect garbage once more on exit.
        gc.freeze()


def _fail(message: str, code: int) -> None:
    line = " ".join(message.split())
    print(f"recollect: {line}", file=sys.stderr)
    sys.exit(code)
