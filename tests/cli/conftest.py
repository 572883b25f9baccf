"""The command line in the process of the tests: on a file, and on a server."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.main import main
from tests.support.engines import a_postgres_database
from tests.support.hosting import a_world
from tests.support.world import ADMIN, a_token

WAYS = ("file", "server")


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def ok(self) -> "Ended":
        assert self.code == 0, self.err + self.out
        return self


@dataclass
class CommandLine:
    """Runs commands in a folder, with a profile that every command uses."""

    folder: Path
    profile: str
    patch: pytest.MonkeyPatch
    names: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, stdin: str = "") -> Ended:
        """Run a command as the admin of the profile."""
        return run_here(self.patch, *arguments, stdin=stdin)

    def line(self, text: str) -> Ended:
        """Run a command line, with `{name}` for what `names` has."""
        return self(*(word.format(**self.names) for word in shlex.split(text)))


def run_here(patch: pytest.MonkeyPatch, *arguments: str, stdin: str = "") -> Ended:
    """Run a command in this process."""
    out, err = StringIO(), StringIO()
    with patch.context() as patched, redirect_stdout(out), redirect_stderr(err):
        patched.setattr("sys.stdin", StringIO(stdin))
        code = main(arguments)
    return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def patch() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patched:
        yield patched


@pytest.fixture(scope="module", params=WAYS)
def recollect(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CommandLine]:
    """The command line on a database here, then on a server: SQLite and PostgreSQL each once."""
    folder = tmp_path_factory.mktemp("cli")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        patched.setenv("RECOLLECT_CONFIG_HOME", str(folder))
        patched.setenv("RECOLLECT_EMBEDDING__PROVIDER", "none")
        patched.setenv("RECOLLECT_LOG__LEVEL", "error")
        patched.setenv("RECOLLECT_PROFILE", request.param)
        with _WAYS[request.param](request, folder, patched):
            yield CommandLine(folder, request.param, patched)


@contextmanager
def _on_a_file(_: pytest.FixtureRequest, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    run_here(patch, "migrate", "--database-url", f"sqlite:///{folder}/memory.db").ok()
    write_profile(folder, f'[profiles.file]\ndatabase = "{folder}/memory.db"\nuser = "{ADMIN}"\n')
    yield


@contextmanager
def _on_a_server(
    request: pytest.FixtureRequest, folder: Path, _: pytest.MonkeyPatch
) -> Iterator[None]:
    url = request.getfixturevalue("postgres_url")
    with a_postgres_database(url) as database, a_world(database) as world:
        write_profile(
            folder,
            f'[profiles.server]\nurl = "{server_url(world)}"\ntoken = "{a_token(ADMIN)}"\n',
        )
        yield


_WAYS: dict[str, Callable[..., Any]] = {"file": _on_a_file, "server": _on_a_server}


def server_url(world: Any) -> str:
    """Where a server of the tests listens."""
    return str(world.api.http.base_url).removesuffix("/v1/")


def write_profile(folder: Path, text: str) -> Path:
    """Write the config file, for its owner alone."""
    path = folder / "config.toml"
    path.write_text(text)
    path.chmod(0o600)
    return path
