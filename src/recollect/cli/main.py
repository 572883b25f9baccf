"""The entry point: the table of commands, and the exit codes of failures.

A command imports the application when it runs, and only if it needs it: importing it takes many
times as long as everything else that `version` or `token` do.
"""

import gc
import sys

import typer

from recollect import __version__
from recollect.cli import (
    doctor,
    housekeeping,
    maintenance,
    reindex,
    serve,
    settings_show,
    tokens,
)
from recollect.cli.options import INTERRUPTED_EXIT
from recollect.http.errors import CLI_EXIT, cli_exit
from recollect.kernel.errors import Internal, RecollectError

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


app.command()(serve.serve)
app.command()(maintenance.worker)
app.command()(maintenance.migrate)
app.command()(reindex.reindex)
app.command()(housekeeping.expire)
app.command()(housekeeping.vacuum)
app.command()(housekeeping.gc)
app.command()(tokens.token)
app.command()(doctor.doctor)
config_app.command("show")(settings_show.show)
app.add_typer(config_app, name="config")


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
