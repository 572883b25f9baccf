"""What `python -m build` makes: it holds all it needs, twice the same bytes, and it runs."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from recollect_client import Recollect
from tests.conftest import SoakSize
from tests.deploy.files import ROOT
from tests.support.processes import environment, start_command

pytestmark = pytest.mark.long

KINDS = (".sql", ".yaml", ".onnx", ".txt", ".css", ".js", ".svg", ".md", ".json", ".py")
CLIENT = "clients/python"
# The first screen of the README, and where the modules came from.
FIVE_LINES = """
import recollect, recollect_client
from recollect import Recollect

memory = Recollect.open()
ann = memory.user("ann")
ann.remember("I'm vegetarian and allergic to nuts.")
print(ann.recall("what can I cook for Ann?").context)
memory.close()
print(recollect.__file__, recollect_client.__file__)
"""


class Built(NamedTuple):
    """A source tree like a fresh clone, and what was built from it."""

    tree: Path
    wheel: Path
    sdist: Path
    client_wheel: Path


class Installed(NamedTuple):
    """An interpreter that has the wheels, and the folder of their modules."""

    python: tuple[str, ...]
    modules: Path


def build(tree: Path, *arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", *arguments, str(tree)],
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
    )


def copy_of_clone(folder: Path) -> Path:
    """The tree as a fresh clone has it: without the model, which is not in git."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """As `python -m build` does it: an sdist from the tree, then a wheel from the sdist."""
    tree = copy_of_clone(tmp_path_factory.mktemp("clone"))
    for folder in (tree, tree / CLIENT):
        done = build(folder)
        assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (tree / "dist").glob("*.whl")
    (sdist,) = (tree / "dist").glob("*.tar.gz")
    (client_wheel,) = (tree / CLIENT / "dist").glob("*.whl")
    return Built(tree, wheel, sdist, client_wheel)


@pytest.fixture(scope="module")
def installed(
    built: Built, soak_size: SoakSize, tmp_path_factory: pytest.TempPathFactory
) -> Installed:
    """The wheels beside the locked dependencies: those of this environment, or at full size those
    of a bare one, into which pip installs everything."""
    folder = tmp_path_factory.mktemp("installed")
    if soak_size(0, 1):
        return install_into_bare_environment(built, folder)
    return unpack(built, folder)


def unpack(built: Built, folder: Path) -> Installed:
    """The modules of the wheels come before the editable ones of this environment."""
    for wheel in (built.wheel, built.client_wheel):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return Installed(("env", f"PYTHONPATH={folder}", sys.executable), folder)


def install_into_bare_environment(built: Built, folder: Path) -> Installed:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    locked = ["--require-hashes", "-r", str(ROOT / "requirements" / "runtime.txt")]
    subprocess.run([*pip, *locked], check=True)
    subprocess.run([*pip, "--no-index", str(built.client_wheel), str(built.wheel)], check=True)
    (modules,) = (folder / "lib").glob("python3*/site-packages")
    return Installed((str(python),), modules)


def test_the_wheel_holds_the_model_the_migrations_and_every_other_file_of_the_package(
    built: Built,
) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        there = set(archive.namelist())
    package = built.tree / "src" / "recollect"
    files = [path for path in package.rglob("*") if path.suffix in KINDS]
    assert {path.suffix for path in files} == {*KINDS}
    wanted = {str(path.relative_to(package.parent)) for path in files}
    assert wanted - there == set()


def test_the_sdist_holds_what_the_model_is_made_of(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        there = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "hatch_build.py",
        "models/build_minilm.py",
        "requirements/minilm.txt",
        "requirements/model.txt",
        "src/recollect/embedding/model/manifest.json",
    } <= there


def test_a_second_build_makes_the_same_bytes(built: Built, tmp_path: Path) -> None:
    """The first wheel came from the sdist, this one comes from the tree."""
    for folder, first in ((built.tree, built.wheel), (built.tree / CLIENT, built.client_wheel)):
        done = build(folder, "--wheel", "--outdir", str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        assert (tmp_path / first.name).read_bytes() == first.read_bytes()


def test_without_model_and_package_index_nothing_is_built_and_the_way_out_is_said(
    built: Built, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(built.tree, bare, ignore=shutil.ignore_patterns("model", "dist"))
    nowhere = {"XDG_CACHE_HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    done = build(bare, "--wheel", **nowhere)
    assert done.returncode != 0
    assert "no embedding model" in done.stderr
    assert "make install" in done.stderr
    assert list(bare.glob("dist/*.whl")) == []


def test_five_lines_of_python_find_by_meaning(installed: Installed, tmp_path: Path) -> None:
    done = subprocess.run(
        [*installed.python, "-c", FIVE_LINES],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "vegetarian and allergic to nuts" in done.stdout
    *_, places = done.stdout.splitlines()
    assert all(place.startswith(str(installed.modules)) for place in places.split())


def test_the_server_starts_and_finds_by_meaning(installed: Installed, tmp_path: Path) -> None:
    program = (*installed.python, "-m", "recollect")
    with start_command(tmp_path, "serve", program=program, SERVER__PORT=0) as server:
        address = server.wait_for_line("Recollect ").rsplit(" ", 1)[1]
        with Recollect.connect(address) as memory:
            ann = memory.user("ann")
            ann.remember("Ann can't eat peanuts.", wait="indexed")
            (hit,) = ann.search("food allergies").data
            assert hit.content == "Ann can't eat peanuts."


def test_without_its_model_a_server_finds_by_words_and_says_what_to_do(
    built: Built, tmp_path: Path
) -> None:
    python, modules = unpack(built, tmp_path / "installed")
    model = modules / "recollect" / "embedding" / "model" / "minilm-l6-v2-int8.onnx"
    whole = model.read_bytes()
    model.unlink()
    program = (*python, "-m", "recollect")
    with start_command(tmp_path, "serve", program=program, SERVER__PORT=0) as server:
        address = server.wait_for_line("Recollect ").rsplit(" ", 1)[1]
        assert "the embedding model are missing" in server.stderr()
        missing = httpx2.get(f"{address}/v1/health").json()
        assert (missing["status"], missing["warnings"]) == ("degraded", ["embedding_model_missing"])
        assert "Install the recollect wheel again" in missing["advice"][0]
        with Recollect.connect(address) as memory:
            memory.user("ann").remember("Ann can't eat peanuts.")
            found = memory.user("ann").search("peanuts")
            assert [hit.content for hit in found.data] == ["Ann can't eat peanuts."]
            assert found.degraded
        model.write_bytes(whole[:-1])
        damaged = httpx2.get(f"{address}/v1/health").json()
        assert damaged["warnings"] == ["embedding_model_damaged"]
    doctor = subprocess.run(
        [*program, "doctor", "--json"],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(doctor.stdout)
    assert (doctor.returncode, report["problems"]) == (1, 1)
    assert "not what the build made" in report["embedding_model"]
