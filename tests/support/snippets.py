"""Runs the commands of a document as its reader would: in order, in one shell, in one folder.

A `sh` block is commands. A `json` or `text` block right behind it is what they print, where white
space does not count and `…` stands for anything. A block that ends with a command that goes on
running gets a terminal of its own, and a new server takes the place of the old one.
"""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

START_SECONDS_MAX = 300
COMMAND_SECONDS_MAX = 60

# The steps of a list have theirs indented.
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"\n* *```(?:json|text)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_RUNS_ON = re.compile(r"(?:make run|recollect (?:serve|worker)(?: --[^\n]*)?)\n\Z")
_STARTED = ("Try it: ", "Recollect works on jobs")
_REFUSED = re.compile(r'"code":"[A-Za-z_]+"')


@dataclass(frozen=True, slots=True)
class Block:
    """Commands, and what they print if the document shows it."""

    commands: str
    output: str | None

    @property
    def runs_on(self) -> bool:
        """Is the last command one that goes on until it is stopped?"""
        return _RUNS_ON.search(self.commands) is not None


def blocks(text: str) -> list[Block]:
    """The `sh` blocks of a document."""
    found = []
    for fence in _FENCE.finditer(text):
        if fence[2] == "sh":
            output = _OUTPUT.match(text, fence.end())
            found.append(Block(dedent(fence[3]), output[1] if output else None))
    return found


def code_of(text: str, language: str) -> list[str]:
    """The blocks of one language."""
    return [dedent(fence[3]) for fence in _FENCE.finditer(text) if fence[2] == language]


def run_document(
    text: str, folder: Path, *, replaced: Mapping[str, str], settings: Mapping[str, str]
) -> int:
    """Run every block and compare; how many there were.

    `replaced` is text to put in place of other text, in commands and outputs alike.
    """
    for old, new in replaced.items():
        assert old in text, f"the document has no {old!r}"
        text = text.replace(old, new)
    environment = _environment(settings)
    with _terminals(folder, environment) as terminals, _shell(folder, environment) as shell:
        found = blocks(text)
        for block in found:
            _check(block, terminals.start(block.commands) if block.runs_on else shell.run(block))
    return len(found)


def _check(block: Block, printed: str) -> None:
    if block.output is None:
        refused = _REFUSED.search(printed)
        assert not refused, f"{block.commands}\nwas refused:\n{printed}"
        return
    parts = ["".join(part.split()) for part in block.output.split("…")]
    pattern = ".*".join(re.escape(part) for part in parts)
    got = "".join(printed.split())
    assert re.fullmatch(pattern, got), f"{block.commands}\nprinted:\n{printed}"


class _Shell:
    """One bash for all blocks, so that what one sets the next can use."""

    def __init__(self, process: subprocess.Popen[str], script: Path) -> None:
        self._process = process
        self._script = script

    def run(self, block: Block) -> str:
        assert self._process.stdin is not None
        self._script.write_text(block.commands)
        self._process.stdin.write(f". {self._script} </dev/null; echo; echo '<<end>>'\n")
        self._process.stdin.flush()
        with _bounded(self._process, COMMAND_SECONDS_MAX):
            lines = list(_until(self._process, ("<<end>>",)))
        assert lines[-1:] == ["<<end>>\n"], f"{block.commands}\nfailed after:\n{''.join(lines)}"
        return "".join(lines[:-1])


class _Terminals:
    """Commands that go on running. Of those that listen, the last one started is alive."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self._running: list[subprocess.Popen[str]] = []

    def start(self, commands: str) -> str:
        """What it prints until it is ready."""
        if "worker" not in commands:
            self.stop()
        process = subprocess.Popen(
            ["bash", "-e", "-c", commands],
            cwd=self._folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._running.append(process)
        with _bounded(process, START_SECONDS_MAX):
            lines = list(_until(process, _STARTED))
        assert "".join(lines[-1:]).startswith(_STARTED), f"{commands}\nended with:\n{lines}"
        return "".join(lines)

    def stop(self) -> None:
        """As Ctrl-C does: the signal goes to everything in the terminal."""
        while self._running:
            process = self._running.pop()
            os.killpg(process.pid, signal.SIGINT)
            with _bounded(process, COMMAND_SECONDS_MAX):
                process.communicate()


@contextmanager
def _terminals(folder: Path, environment: dict[str, str]) -> Iterator[_Terminals]:
    terminals = _Terminals(folder, environment)
    try:
        yield terminals
    finally:
        terminals.stop()


@contextmanager
def _shell(folder: Path, environment: dict[str, str]) -> Iterator[_Shell]:
    with subprocess.Popen(
        ["bash", "-e", "-o", "pipefail"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield _Shell(process, folder.with_name(f"{folder.name}.commands"))
        finally:
            _end(process)


@contextmanager
def _bounded(process: subprocess.Popen[str], seconds: float) -> Iterator[None]:
    bound = threading.Timer(seconds, _end, [process])
    bound.start()
    try:
        yield
    finally:
        bound.cancel()


def _end(process: subprocess.Popen[str]) -> None:
    """With everything it started: each has a process group of its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _until(process: subprocess.Popen[str], beginnings: tuple[str, ...]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if line.startswith(beginnings):
            return


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    return {**kept, **settings}
