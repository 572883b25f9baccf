"""The container image: its stages, its commands, what it sets."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from recollect.api.registry import CONVERSATION_OPERATIONS
from recollect.cli.main import app
from recollect.kernel.errors import InvalidInput
from tests.deploy.files import CONTAINERFILE, ROOT, image_environment, instructions, settings_of

HADOLINT = Path(sys.executable).with_name("hadolint")
LAST = max(one.stage for one in instructions())


def rests(word: str) -> list[str]:
    """What stands behind an instruction in the last stage."""
    return [one.rest for one in instructions() if one.word == word and one.stage == LAST]


def test_a_linter_has_nothing_to_say() -> None:
    done = subprocess.run([HADOLINT, CONTAINERFILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_is_copied_from_here_exists_and_reaches_the_build() -> None:
    sent = (ROOT / "deploy" / "Containerfile.dockerignore").read_text(encoding="utf-8")
    allowed = re.findall(r"^!(\S+)$", sent, re.MULTILINE)
    copied = [
        name
        for one in instructions()
        if one.word == "COPY" and not one.rest.startswith("--from=")
        for name in one.rest.split()[:-1]
    ]
    assert copied
    for name in copied:
        assert (ROOT / name).exists(), name
        assert any(Path(name).is_relative_to(one) for one in allowed), name


def test_what_comes_from_another_stage_is_made_there() -> None:
    stages = {one.rest.split(" AS ")[1]: one.stage for one in instructions() if " AS " in one.rest}
    for copy in [one for one in instructions() if one.rest.startswith("--from=")]:
        name, path = copy.rest.removeprefix("--from=").split()[:2]
        runs = [
            one.rest for one in instructions() if (one.stage, one.word) == (stages[name], "RUN")
        ]
        assert any(path in run for run in runs), copy


def test_what_is_installed_is_locked() -> None:
    runs = " && ".join(one.rest for one in instructions() if one.word == "RUN")
    installs = [part for part in runs.split("&&") if " pip " in part and " install " in part]
    ours = [part for part in installs if "dist/*.whl" in part]
    assert len(ours) == 1
    for install in installs:
        assert "--no-deps" in install or "--require-hashes --only-binary :all:" in install
    for name in re.findall(r"-r (\S+)", runs):
        assert "--hash=sha256:" in (ROOT / name).read_text(encoding="utf-8")


def test_the_lock_of_the_image_has_what_nodes_and_vector_databases_need() -> None:
    locked = (ROOT / "requirements" / "image.txt").read_text(encoding="utf-8")
    runtime = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    assert {*pins(runtime)} < {*pins(locked)}
    assert {"redis", "qdrant-client"} < {pin.partition("==")[0] for pin in pins(locked)}


def test_nobody_in_the_last_stage_is_root_or_has_a_compiler() -> None:
    assert rests("USER") == ["10001:10001"]
    assert "10001" in rests("RUN")[0]
    assert not re.search(r"apt-get|gcc|build-essential", " ".join(rests("RUN")))


def test_it_starts_a_command_that_exists_and_asks_an_operation_for_its_health() -> None:
    (entry,) = rests("ENTRYPOINT")
    (command,) = rests("CMD")
    assert json.loads(entry) == ["recollect"]
    commands = typer.main.get_command(app)
    assert json.loads(command)[0] in getattr(commands, "commands", {})
    (health,) = rests("HEALTHCHECK")
    asked = re.search(r"http://127\.0\.0\.1:(\d+)(/[\w/]+)", health)
    assert asked is not None
    assert asked[1] == rests("EXPOSE")[0] == image_environment()["RECOLLECT_SERVER__PORT"]
    assert asked[2] in {one.path for one in CONVERSATION_OPERATIONS if one.method == "GET"}


def test_what_is_stored_is_stored_on_the_volume() -> None:
    settings = settings_of({"RECOLLECT_AUTH__JWT_SECRET": "x" * 32})
    volume = Path(rests("VOLUME")[0])
    assert settings.database.sqlite_path is not None
    assert settings.database.sqlite_path.parent == volume
    # Folders that are named relatively begin here.
    assert rests("WORKDIR") == [str(volume)]


def test_without_a_secret_it_does_not_start() -> None:
    with pytest.raises(InvalidInput, match="jwt_secret"):
        settings_of({})


def pins(lock: str) -> list[str]:
    """`name==version` of each package."""
    return re.findall(r"^([\w.-]+==[\w.]+)", lock, re.MULTILINE)
