"""The command line, run as its users run it: in a process of its own."""

import json
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import jwt
import pytest

from recollect import __version__
from tests.support.processes import (
    WAIT_SECONDS,
    Process,
    environment,
    run_command,
    start_command,
)

SECRET = "not-a-real-secret-but-long-enough-for-hs256"

Run = Callable[..., subprocess.CompletedProcess[str]]
Start = Callable[..., Process]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run("token", "ann", AUTH__MODE="jwt")`: run a command to its end in an empty folder."""

    return partial(run_command, tmp_path)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """`start("serve", …)`: a command that runs until the test ends."""
    with ExitStack() as stack:
        yield lambda *arguments, **settings: stack.enter_context(
            start_command(tmp_path, *arguments, **settings)
        )


def one_line(result: subprocess.CompletedProcess[str], exit_code: int) -> str:
    """The message of a command that failed as it should."""
    assert result.returncode == exit_code, result.stderr
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("recollect: ")
    return line


def shell(line: str, folder: Path, settings: dict[str, str]) -> str:
    """What a printed line prints when it is pasted into a shell."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environment(settings),
        stdout=subprocess.PIPE,
        text=True,
        timeout=WAIT_SECONDS,
        check=True,
    ).stdout


def test_version_is_printed(run: Run) -> None:
    assert run("version").stdout.strip() == __version__


def test_the_package_runs_as_a_module(tmp_path: Path) -> None:
    line = f"{shlex.quote(sys.executable)} -m recollect version"
    assert shell(line, tmp_path, {}).strip() == __version__


def test_help_names_every_command(run: Run) -> None:
    text = run("--help").stdout
    for command in (
        "serve",
        "worker",
        "migrate",
        "reindex",
        "token",
        "doctor",
        "config",
        "version",
    ):
        assert re.search(rf"\b{command}\b", text)


def test_config_show_tells_values_and_sources_and_masks_secrets(run: Run) -> None:
    settings = {"SERVER__PORT": "9001", "AUTH__JWT_SECRET": SECRET}
    result = run("config", "show", "--json", **settings)
    shown = json.loads(result.stdout)
    assert shown["server.port"] == {"value": 9001, "source": "RECOLLECT_SERVER__PORT"}
    assert shown["server.host"] == {"value": "127.0.0.1", "source": "default"}
    text = run("config", "show", **settings).stdout
    assert re.search(r"^server\.port = 9001 +# RECOLLECT_SERVER__PORT$", text, re.MULTILINE)
    assert SECRET not in result.stdout + text


@pytest.mark.parametrize(
    ("arguments", "settings", "expected"),
    [
        (("config", "show"), {"SERVER__PROT": "1"}, "RECOLLECT_SERVER__PORT"),
        (("serve", "--database-url", "mysql://db"), {}, "should be sqlite:///"),
        (("serve", "--host", "0.0.0.0"), {}, "should be a loopback address"),
        (("serve", "--config", "gone.toml"), {}, "can't read the settings file gone.toml"),
        (("token", "ann", "--ttl", "soon"), {}, "--ttl"),
        (("token", ""), {}, "can't make a token"),
        (
            ("token", "ann"),
            {"AUTH__MODE": "jwt", "AUTH__JWKS_URL": "https://id.example/jwks"},
            "identity provider",
        ),
        (("reindex",), {"EMBEDDING__PROVIDER": "none"}, "no vectors to make"),
        (("reindex",), {"SEARCH__SEMANTIC__ENABLED": "false"}, "no vectors to make"),
    ],
)
def test_a_wrong_setting_is_one_clear_line_and_exit_code_2(
    run: Run, arguments: tuple[str, ...], settings: dict[str, str], expected: str
) -> None:
    assert expected in one_line(run(*arguments, **settings), 2)


def test_an_unreadable_file_is_one_clear_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "recollect.toml").write_text("[server\nport = 1")
    assert "recollect.toml is not valid TOML" in one_line(run("config", "show"), 2)


def test_a_token_is_signed_with_the_configured_secret(run: Run) -> None:
    result = run(
        *("token", "ann", "--ttl", "1h", "--role", "ops", "--role", "qa"),
        AUTH__JWT_SECRET=SECRET,
        AUTH__ISSUER="https://id.example",
        AUTH__AUDIENCE="recollect",
    )
    claims = jwt.decode(
        result.stdout.strip(),
        SECRET,
        algorithms=["HS256"],
        audience="recollect",
        issuer="https://id.example",
    )
    assert (claims["sub"], claims["roles"]) == ("ann", ["ops", "qa"])
    assert claims["exp"] - claims["iat"] == 3600


def test_a_local_token_makes_a_private_key_file_once(run: Run, tmp_path: Path) -> None:
    run("token", "ann", "--database-url", "sqlite:///data/r.db")
    key = tmp_path / "data" / "recollect.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = key.read_bytes()
    run("token", "bob", "--database-url", "sqlite:///data/r.db")
    assert key.read_bytes() == before


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("token", "ann")])
def test_a_short_secret_refuses_the_start_without_telling_it(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    line = one_line(run(*command, AUTH__JWT_SECRET="hunter"), 2)
    assert "auth.jwt_secret (from RECOLLECT_AUTH__JWT_SECRET): should have at least 32" in line
    assert "hunter" not in line
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_one_clear_line_and_makes_no_database(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = one_line(run("serve", "--port", port), 7)
    assert f"can't listen on 127.0.0.1 port {port}" in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_answers_the_line_it_prints_and_stops_with_exit_code_0(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    server = start("serve", "--port", "0")
    answer = shell(server.wait_for_line("Try it: "), tmp_path, {})
    assert json.loads(answer)["data"] == []
    assert server.stop(number) == 0, server.stderr()
    assert "Traceback" not in server.stderr()


def test_serve_answers_the_line_it_prints_in_jwt_mode(start: Start, tmp_path: Path) -> None:
    settings = {"AUTH__MODE": "jwt", "AUTH__JWT_SECRET": SECRET}
    server = start("serve", "--port", "0", **settings)
    line = server.wait_for_line("Try it: ")
    assert "recollect token you" in line
    assert json.loads(shell(line, tmp_path, settings))["data"] == []


def test_a_local_token_of_the_printed_command_is_believed(start: Start, tmp_path: Path) -> None:
    server = start("serve", "--port", "0", "--database-url", "sqlite:///data/r.db")
    token = shell(server.wait_for_line("Token:  "), tmp_path, {}).strip()
    words = shlex.split(server.wait_for_line("Try it: "))
    line = shlex.join([*words[:3], f"Authorization: Bearer {token}", words[-1]])
    assert json.loads(shell(line, tmp_path, {}))["data"] == []


def test_migrate_says_from_where_to_where_and_changes_nothing_twice(run: Run) -> None:
    first, second = run("migrate"), run("migrate")
    assert re.search(r"from version 0 to [1-9]", first.stdout), first.stderr
    assert "up to date" in second.stdout


def test_doctor_finds_no_problems_in_a_fresh_database(run: Run) -> None:
    run("migrate")
    result = run("doctor", "--json")
    assert result.returncode == 0, result.stderr
    assert isinstance(json.loads(result.stdout), dict)


def test_housekeeping_says_what_it_would_do(run: Run) -> None:
    run("migrate")
    for command, count in (
        ("expire", "would_delete_count"),
        ("vacuum", "would_delete_count"),
        ("gc", "count"),
    ):
        result = run(command, "--dry-run", "--json")
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)[count] == 0
        assert run(command).returncode == 2
        both = run(command, "--dry-run", "--really")
        assert (both.returncode, both.stdout) == (2, "")


@pytest.mark.parametrize("command", ["doctor", "reindex"])
def test_a_mistyped_file_is_said_and_none_is_made(run: Run, tmp_path: Path, command: str) -> None:
    result = run(command, "--database-url", "sqlite:///typo.db")
    assert result.returncode == 2
    assert "no database at typo.db" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("migrate",), ("doctor",)])
def test_what_is_no_database_is_one_clear_line_and_stays_as_it_is(
    run: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    files = {"text": b"a shopping list", "half": b"SQLite format 3\x00" + b"x" * 90, "short": b"x"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    for name in (".", "folder", *files):
        line = one_line(run(*command, DATABASE__URL=f"sqlite:///{name}"), 2)
        assert line.startswith("recollect: database.url: "), line
    assert {one.name for one in tmp_path.rglob("*")} == {"folder", *files}
    assert {name: (tmp_path / name).read_bytes() for name in files} == files


def test_the_database_is_its_owners_alone(run: Run, tmp_path: Path) -> None:
    run("migrate")
    folder = tmp_path / "recollect-data"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "recollect.db").stat().st_mode) == 0o600


def test_a_missing_postgres_database_is_named(run: Run, postgres_url: str) -> None:
    url = urlunsplit(urlsplit(postgres_url)._replace(path="/no_such_database"))
    result = run("migrate", DATABASE__URL=url)
    assert result.returncode == 7
    assert "can't connect to PostgreSQL" in result.stderr
    assert "no_such_database" in result.stderr


def test_a_worker_stops_with_exit_code_0(start: Start, run: Run) -> None:
    run("migrate")
    worker = start("worker")
    worker.wait_for_line("Recollect works on jobs")
    assert worker.stop() == 0, worker.stderr()
