"""`recollect completion`: the script with which a shell completes commands and options."""

from enum import StrEnum
from typing import Annotated

import typer
from typer import completion as scripts

PROGRAM = "recollect"
COMPLETE_VARIABLE = "_RECOLLECT_COMPLETE"


class Shell(StrEnum):
    """The shells that there are scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Print a script that completes commands and options.

    bash: put `eval "$(recollect completion bash)"` into ~/.bashrc; zsh: the same with zsh, into
    ~/.zshrc; fish: recollect completion fish > ~/.config/fish/completions/recollect.fish
    """
    print(
        scripts.get_completion_script(  # type: ignore[attr-defined]
            prog_name=PROGRAM, complete_var=COMPLETE_VARIABLE, shell=shell.value
        )
    )


def answer_shells() -> None:
    """Let the program answer the questions of these scripts, which come in the environment."""
    scripts.completion_init()  # type: ignore[attr-defined]
