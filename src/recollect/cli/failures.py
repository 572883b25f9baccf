"""How a command ends that can't do its work: one line on stderr and an exit code."""

import sys

from recollect.cli.output import visible
from recollect.http.errors import CLI_EXIT, cli_exit
from recollect.kernel.errors import Internal, RecollectError

EXIT_CODES = {
    0: "done",
    1: "an internal error; problems found by `doctor`",
    2: "wrong usage, input or settings; a missing file",
    3: "not allowed: no credentials, bad ones, or no right",
    4: "no such thing, or not for you",
    5: "the present state forbids it",
    6: "too large, or too many",
    7: "the server or database can't be reached, or the function is switched off",
    130: "interrupted",
    141: "the reader of the output is gone",
}


class CommandFailed(Exception):
    """What was wrong and what would be right, for a person, with the exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


def report_failure(error: Exception) -> int:
    """Print the line of an error; the exit code."""
    if isinstance(error, CommandFailed):
        message, code = error.message, error.exit_code
    elif isinstance(error, RecollectError):
        message, code = error.message, cli_exit(error)
    else:
        message, code = f"internal error: {type(error).__name__}: {error}", CLI_EXIT[Internal]
    print(f"recollect: {visible(' '.join(message.split()))}", file=sys.stderr)
    return code
