"""The version has one place, and whatever else names it agrees."""

import re
import tomllib
from importlib.metadata import requires, version

import yaml

from recollect import __version__ as of_server
from recollect_client.version import __version__
from tests.deploy.files import KUBERNETES, ROOT


def test_both_distributions_have_the_version_of_its_one_place() -> None:
    assert version("recollect") == version("recollect-client") == of_server == __version__
    for folder in (ROOT, ROOT / "clients" / "python"):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        assert project["project"]["dynamic"] == ["version"]


def test_the_server_asks_for_the_client_of_its_version() -> None:
    assert f"recollect-client=={__version__}" in (requires("recollect") or [])


def test_the_changelog_begins_with_it() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^]]+)\]", text, re.MULTILINE)[0] == __version__


def test_the_kubernetes_example_runs_its_image() -> None:
    text = (KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["images"][0]["newTag"] == __version__
