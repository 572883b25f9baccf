"""The commands of the README and the guides, run for real, with what they say they print."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engines import a_postgres_database
from tests.support.snippets import run_document

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ADDRESS = "127.0.0.1:8080"
DATABASE = "postgresql://recollect:secret@db.example/recollect"
CHECKOUT = "path/to/recollect"
GUIDES = (
    "getting-started",
    "conversations",
    "responses",
    "memories",
    "people",
    "retention",
    "python",
    "command-line",
    "embedded",
    "search",
    "identity",
    "grpc",
    "operating",
    "runbooks",
)


@pytest.fixture
def port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        return number


@pytest.fixture
def database_url(postgres_url: str) -> Iterator[str]:
    """An empty PostgreSQL database."""
    with a_postgres_database(postgres_url) as database:
        yield database.url


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The tree as a fresh clone has it, with what is not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    folder = tmp_path / "clone"
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def run_page(page: Path, folder: Path, port: int, database_url: str, **environment: str) -> int:
    text = page.read_text(encoding="utf-8")
    replaced = {
        ADDRESS: f"127.0.0.1:{port}",
        DATABASE: database_url,
        CHECKOUT: str(ROOT),
        '"0.0.0.0"': '"127.0.0.1"',
    }
    return run_document(
        text,
        folder,
        replaced={old: new for old, new in replaced.items() if old in text},
        settings={"RECOLLECT_SERVER__PORT": str(port), **environment},
    )


def test_the_readme_does_what_it_says_from_a_fresh_clone(
    clone: Path, port: int, database_url: str
) -> None:
    """`make run` included: it installs everything into the clone's own environment."""
    assert run_page(clone / "README.md", clone, port, database_url) == 2


@pytest.mark.parametrize("name", GUIDES)
def test_the_guide_does_what_it_says(
    name: str, tmp_path: Path, port: int, database_url: str
) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    page = ROOT / "docs" / "guide" / f"{name}.md"
    assert run_page(page, tmp_path, port, database_url, PATH=path) > 2
