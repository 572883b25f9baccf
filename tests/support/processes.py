"""`recollect` as its users run it: in a process of its own, which never outlives its test."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.engines import TestDatabase

RECOLLECT = str(Path(sys.executable).with_name("recollect"))
WAIT_SECONDS = 60


class Process:
    """A started command. Its stderr is a file, so that it never waits for a reader."""

    def __init__(self, popen: "subprocess.Popen[str]", stderr: Path) -> None:
        self._popen = popen
        self._stderr = stderr

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def wait_for_line(self, beginning: str) -> str:
        """The rest of the first line on stdout that begins so."""
        assert self._popen.stdout is not None
        lines = []
        bound = threading.Timer(WAIT_SECONDS, self._popen.kill)
        bound.start()
        try:
            for line in self._popen.stdout:
                lines.append(line)
                if line.startswith(beginning):
                    return line.removeprefix(beginning).strip()
        finally:
            bound.cancel()
        raise AssertionError(f"no line {beginning!r} in {lines}; stderr: {self.stderr()[-2000:]}")

    def stderr(self) -> str:
        """What it has written to stderr so far."""
        return self._stderr.read_text(encoding="utf-8")

    def wait_for_stderr(self, part: str) -> str:
        """What is on stderr once this part of it is there."""
        deadline = time.monotonic() + WAIT_SECONDS
        while part not in (text := self.stderr()):
            assert time.monotonic() < deadline, f"no {part!r} in {text[-2000:]}"
            time.sleep(0.01)
        return text

    def send_signal(self, number: signal.Signals) -> None:
        """Without waiting for what it does."""
        self._popen.send_signal(number)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._popen.kill()
        self._popen.wait(WAIT_SECONDS)

    def wait(self) -> int:
        """Wait for the end; the exit code."""
        return self._popen.wait(WAIT_SECONDS)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal and wait for the end; the exit code."""
        self.send_signal(number)
        return self.wait()


@contextmanager
def start_command(
    folder: Path,
    *arguments: str,
    wrapper: Sequence[str] = (),
    program: Sequence[str] = (RECOLLECT,),
    **settings: Any,
) -> Iterator[Process]:
    """`start_command(folder, "serve", SERVER__PORT=0)`: killed at the end if it still runs.

    `wrapper` is a command that runs the one behind it, `program` another installation.
    """
    with (
        tempfile.NamedTemporaryFile(
            dir=folder, prefix=arguments[0], suffix=".log", delete=False
        ) as stderr,
        subprocess.Popen(
            [*wrapper, *program, *arguments],
            cwd=folder,
            env=environment(settings),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as popen,
    ):
        try:
            yield Process(popen, Path(stderr.name))
        finally:
            popen.kill()


@contextmanager
def start_server(
    folder: Path, database: TestDatabase, *, wrapper: Sequence[str] = (), **settings: Any
) -> Iterator[tuple[Process, int]]:
    """A server that answers, and its port."""
    chosen = {"SERVER__PORT": 0} | on_database(database) | settings
    with start_command(folder, "serve", wrapper=wrapper, **chosen) as process:
        yield process, int(process.wait_for_line("Recollect ").rsplit(":", 1)[1])


def run_command(
    folder: Path, *arguments: str, **settings: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        [RECOLLECT, *arguments],
        cwd=folder,
        env=environment(settings),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def run_doctor(folder: Path, database: TestDatabase, **settings: Any) -> dict[str, Any]:
    """The report of `recollect doctor`, which must find no problem."""
    result = run_command(folder, "doctor", "--json", **on_database(database), **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    assert report["problems"] == 0
    return report


def on_database(database: TestDatabase) -> dict[str, Any]:
    """The settings of a process on this database, without vectors."""
    return {
        "DATABASE__URL": database.url,
        "DATABASE__MIGRATE_AT_START": True,
        "EMBEDDING__PROVIDER": "none",
    }


def environment(settings: Mapping[str, Any]) -> dict[str, str]:
    """The environment of these settings and no others, with `recollect` on the path."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    kept["PATH"] = os.pathsep.join([str(Path(RECOLLECT).parent), kept["PATH"]])
    return kept | {f"RECOLLECT_{name}": _as_text(value) for name, value in settings.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
