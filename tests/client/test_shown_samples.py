"""What the server shows to copy: the samples of the page at `/`, `/llms.txt` and the skill file,
run as they stand there."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from recollect.api.front.assets import FOLDER
from tests.client.conftest import server_url
from tests.support.engines import a_fast_folder, a_sqlite_database
from tests.support.hosting import a_world
from tests.support.snippets import code_of
from tests.support.world import World, a_token

ADDRESS = "http://127.0.0.1:8080"
USER = "ann"
# As a server has it that nobody set up otherwise.
BY_MEANING: dict[str, Any] = {"embedding.provider": "builtin"}
# The paths in links and in code.
SHOWN_PATH = re.compile(r"\]\((/[^)]+)\)|`(/(?:docs|llms\.txt|openapi[a-z-]*\.json))`")


@pytest.fixture(scope="module", params=["local", "jwt"])
def server(request: pytest.FixtureRequest) -> Iterator[World]:
    """A server on a file, in each mode."""
    with a_fast_folder() as folder:
        flags: dict[str, Any] = BY_MEANING | {"auth.mode": request.param}
        with a_world(a_sqlite_database(folder), flags) as world:
            yield world


def run(command: list[str], folder: Path, **more: str) -> str:
    """What the command prints, with no setting of ours in its environment."""
    clean = {name: value for name, value in os.environ.items() if "RECOLLECT" not in name}
    done = subprocess.run(
        command, cwd=folder, env=clean | more, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown_samples(world: World) -> Mapping[str, str]:
    page = world.api.http.get(server_url(world.api) + "/", headers={"accept": "text/html"}).text
    found = re.findall(r"<figcaption>(.*?)</figcaption><pre><code>(.*?)</code>", page, re.DOTALL)
    return {caption: unescape(code) for caption, code in found}


def test_the_samples_of_the_page_store_a_memory_and_recall_it(
    server: World, tmp_path: Path
) -> None:
    who = {"TOKEN": a_token(USER), "USER_ID": USER}
    for caption, code in shown_samples(server).items():
        interpreter = ["bash", "-e", "-c"] if "terminal" in caption else [sys.executable, "-c"]
        assert "I am vegetarian." in run([*interpreter, code], tmp_path, **who), caption


@pytest.mark.parametrize("name", ["SKILL.md", "llms.txt"])
def test_the_python_for_coding_agents_runs(name: str, tmp_path: Path) -> None:
    blocks = code_of((FOLDER / name).read_text("utf-8"), "python")
    assert blocks
    run([sys.executable, "-c", "\n".join(blocks)], tmp_path)


def test_the_calls_for_coding_agents_are_answered(tmp_path: Path) -> None:
    (calls,) = code_of((FOLDER / "llms.txt").read_text("utf-8"), "sh")
    with a_fast_folder() as folder:
        database = a_sqlite_database(folder)
        with a_world(database, BY_MEANING | {"auth.mode": "local"}) as world:
            script = calls.replace(ADDRESS, server_url(world.api))
            printed = run(["bash", "-e", "-c", script], tmp_path)
    assert '"status":"created"' in printed
    assert '"context":"[recollect:memory v1]' in printed


def test_the_skill_file_says_what_it_is_for() -> None:
    head = (FOLDER / "SKILL.md").read_text("utf-8").split("---\n")[1]
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == "recollect"
    assert 40 < len(fields["description"]) < 1024


@pytest.mark.parametrize("name", ["llms.txt", "SKILL.md"])
def test_every_path_for_coding_agents_is_there(name: str, server: World) -> None:
    text = (FOLDER / name).read_text("utf-8")
    for in_link, in_code in SHOWN_PATH.findall(text):
        one = in_link or in_code
        assert server.api.http.get(server_url(server.api) + one).status_code == 200, one
