"""What a user of the client may import: it is whole, typed and described, in both distributions."""

import inspect
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import recollect
import recollect_client
from recollect_client import models
from tests.support.snippets import code_of

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guide/python.md").read_text("utf-8")
HANDLES = ("Recollect", "User", "Agent", "Chat", "Run", "Conversation")


def test_both_distributions_have_the_same_names() -> None:
    assert [*recollect.__all__] == ["__version__", *recollect_client.__all__]
    for name in recollect_client.__all__:
        assert getattr(recollect, name) is getattr(recollect_client, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = recollect.nonsense


def test_each_public_name_is_in_the_guide_and_has_a_docstring() -> None:
    for name in recollect_client.__all__:
        assert f"`{name}" in GUIDE, f"docs/guide/python.md does not name {name}"
        thing: Any = getattr(recollect_client, name)
        assert inspect.getdoc(thing), name


@pytest.mark.parametrize("name", HANDLES)
def test_each_verb_has_a_docstring_and_a_twin_to_await(name: str) -> None:
    verbs = _public(getattr(recollect_client, name))
    awaited = _public(getattr(recollect_client, f"Async{name}"))
    assert {verb.replace("aclose", "close") for verb in awaited} == verbs.keys()
    for verb, method in verbs.items():
        assert inspect.getdoc(method), f"{name}.{verb}"


def test_each_answer_is_exported() -> None:
    made = {
        name
        for name, one in vars(models).items()
        if inspect.isclass(one) and issubclass(one, models.Model)
    }
    assert made <= {*models.__all__}
    assert all(hasattr(models, name) for name in models.__all__)


def test_both_distributions_say_that_they_are_typed() -> None:
    for package in ("recollect", "recollect_client"):
        assert files(package).joinpath("py.typed").is_file()


def test_the_programs_of_the_guide_pass_strict_type_checks(tmp_path: Path) -> None:
    """As a user's own code, which knows the packages by what is installed."""
    programs = [text for text in code_of(GUIDE, "sh") if "cat > " in text]
    for program in programs:
        head, _, body = program.partition("\n")
        name = head.split()[2]
        (tmp_path / name).write_text(body.partition("\nEND\n")[0] + "\n")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) >= 3
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(ROOT / ".mypy_cache"),
            *names,
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    # One line shows what happens to an argument that there is not.
    wrong = [line for line in checked.stdout.splitlines() if ": error:" in line]
    assert [line.partition(":")[0] for line in wrong] == ["errors.py"], checked.stdout
    assert "sensitivty" in wrong[0]


def _public(handle: type) -> dict[str, Any]:
    return {
        name: one
        for name, one in inspect.getmembers(handle, inspect.isroutine)
        if not name.startswith("_")
    }
