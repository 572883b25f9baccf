"""Commands that don't need the application answer at once: they don't load it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import RECOLLECT, environment

SLOW = {
    "recollect.app.application",
    "recollect.app.context",
    "recollect.conversations.service",
    "recollect.db",
    "apsw",
    "grpc",
    "httpx2",
    "numpy",
    "onnxruntime",
    "psycopg",
    "sqlalchemy",
    "starlette",
    "uvicorn",
}


@pytest.mark.parametrize(
    "arguments",
    [
        ("version",),
        ("--help",),
        ("serve", "--help"),
        ("reindex", "--help"),
        ("vacuum", "--help"),
        ("doctor", "--help"),
        ("config", "show"),
        ("token", "ann"),
        ("search", "--help"),
        ("completion", "bash"),
        ("profile", "list"),
    ],
    ids=" ".join,
)
def test_a_command_that_only_tells_loads_nothing_slow(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    modules = loaded_by(arguments, tmp_path)
    assert "recollect.cli.main" in modules
    assert SLOW & modules == set()


def test_a_command_on_a_server_loads_no_server(tmp_path: Path) -> None:
    arguments = ("search", "tea", "--url", "http://127.0.0.1:1", "--as", "ann")
    modules = loaded_by(arguments, tmp_path, exit_code=7)
    assert "recollect_client.models" in modules
    assert (SLOW - {"httpx2"}) & modules == set()


def loaded_by(arguments: tuple[str, ...], folder: Path, exit_code: int = 0) -> set[str]:
    """The modules that a command imported, as the interpreter lists them."""
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", RECOLLECT, *arguments],
        cwd=folder,
        env=environment({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == exit_code, ended.stderr[-2000:]
    lines = [line for line in ended.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in lines}


def test_the_services_without_a_server_load_no_server() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import sys, recollect.app.embedded; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout.split()
    assert "recollect.memories.service" in listed
    assert {"grpc", "onnxruntime", "starlette", "uvicorn"} & set(listed) == set()
