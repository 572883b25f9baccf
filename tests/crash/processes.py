"""`recollect` as a process of its own, to be killed or stopped."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.engines import TestDatabase

RECOLLECT = str(Path(sys.executable).with_name("recollect"))
WAIT_SECONDS = 60


class Process:
    """A server or a worker. What it logs is thrown away, so that it never waits for a reader."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        self._popen = popen

    @property
    def pid(self) -> int:
        """Its number."""
        return self._popen.pid

    def wait_for_line(self, part: str) -> str:
        """The first line on its stdout that has this part."""
        assert self._popen.stdout is not None
        bound = threading.Timer(WAIT_SECONDS, self._popen.kill)
        bound.start()
        try:
            for line in self._popen.stdout:
                if part in line:
                    return line.strip()
        finally:
            bound.cancel()
        raise AssertionError(f"it ended without a line with {part!r}")

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self._popen.kill()
        self._popen.wait(WAIT_SECONDS)

    def ask_to_stop(self) -> None:
        """SIGTERM, without waiting."""
        self._popen.send_signal(signal.SIGTERM)

    def exit_code(self) -> int:
        """Wait for the end."""
        return self._popen.wait(WAIT_SECONDS)


@contextmanager
def a_process(
    folder: Path, database: TestDatabase, *arguments: str, **settings: Any
) -> Iterator[Process]:
    """Killed at the end if it still runs."""
    command = [RECOLLECT, *arguments, "--database-url", database.url]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as popen:
        try:
            yield Process(popen)
        finally:
            popen.kill()


@contextmanager
def a_server(
    folder: Path, database: TestDatabase, **settings: Any
) -> Iterator[tuple[Process, int]]:
    """A server that answers, and its port."""
    with a_process(folder, database, "serve", "--port", "0", **settings) as process:
        address = process.wait_for_line("listens on").rsplit(":", 1)[1]
        yield process, int(address)


def run_command(
    folder: Path, database: TestDatabase, *arguments: str, **settings: Any
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        [RECOLLECT, *arguments, "--database-url", database.url],
        cwd=folder,
        env=_environment(settings),
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


def doctor(folder: Path, database: TestDatabase, **settings: Any) -> dict[str, Any]:
    """The report of `recollect doctor`, which must find no problem."""
    result = run_command(folder, database, "doctor", "--json", **settings)
    assert result.returncode == 0, result.stdout + result.stderr
    report: dict[str, Any] = json.loads(result.stdout)
    assert report["problems"] == 0
    return report


def _environment(settings: Mapping[str, Any]) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    ours = {"DATABASE__MIGRATE_AT_START": True, "EMBEDDING__PROVIDER": "none"} | dict(settings)
    return kept | {f"RECOLLECT_{name}": _as_text(value) for name, value in ours.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
