"""The programs in `examples/` print what the guide says, on a file and against a server."""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import environment, start_command
from tests.support.snippets import Block, blocks

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide" / "examples.md"
SHOWN = {
    found[1]: block
    for block in blocks(GUIDE.read_text(encoding="utf-8"))
    if (found := re.search(r"examples/(\w+)\.py", block.commands))
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server in local mode, on a file."""
    folder = tmp_path_factory.mktemp("server")
    with start_command(folder, "serve", SERVER__PORT=0) as process:
        yield "http" + process.wait_for_line("Recollect ").partition("http")[2]


def test_the_guide_shows_every_program() -> None:
    assert set(SHOWN) == {file.stem for file in (ROOT / "examples").glob("*.py")}


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_prints_on_a_file_what_the_guide_shows(name: str, tmp_path: Path) -> None:
    assert run(SHOWN[name], tmp_path) == words(SHOWN[name].output)
    assert [*tmp_path.glob("*.db")]


@pytest.mark.parametrize("name", SHOWN)
def test_an_example_prints_against_a_server_what_the_guide_shows(
    name: str, tmp_path: Path, server: str
) -> None:
    assert run(SHOWN[name], tmp_path, server) == words(SHOWN[name].output)
    assert not [*tmp_path.iterdir()]


def test_a_model_is_told_what_was_remembered(tmp_path: Path) -> None:
    with a_model() as (url, asked):
        settings = {"OPENAI_MODEL": "m", "OPENAI_BASE_URL": url}
        assert "bot: Soup." in run_commands(SHOWN["chat_bot"].commands, tmp_path, **settings)
    first, last = asked[0]["messages"], asked[2]["messages"]
    assert "vegetarian" not in first[0]["content"]
    assert "I'm vegetarian and allergic to nuts." in last[0]["content"]
    assert last[-1] == {"role": "user", "content": "What can I cook tonight?"}


@contextmanager
def a_model() -> Iterator[tuple[str, list[Any]]]:
    """An endpoint with OpenAI's chat protocol, and what it was asked."""
    asked: list[Any] = []

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = {"choices": [{"message": {"role": "assistant", "content": "Soup."}}]}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def run(block: Block, folder: Path, argument: str = "") -> list[str]:
    """The words that the command of the guide prints, in this folder."""
    return words(run_commands(f"{block.commands.rstrip()} {argument}", folder))


def run_commands(commands: str, folder: Path, **settings: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in environment({}).items() if "OPENAI" not in name}
    printed = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", commands.replace("path/to/recollect", str(ROOT))],
        cwd=folder,
        env=kept | settings | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert printed.returncode == 0, printed.stderr
    return printed.stdout


def words(text: str | None) -> list[str]:
    assert text
    return text.split()
