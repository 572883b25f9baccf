"""The files of deploy/, read."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from recollect.settings import Settings
from recollect.settings.load import load

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = DEPLOY / "Containerfile"
COMPOSE = DEPLOY / "compose" / "compose.yaml"
PROXY = DEPLOY / "compose" / "haproxy.cfg"
KUBERNETES = DEPLOY / "kubernetes"

_VARIABLE = re.compile(r"\$\{(\w+)(?:(?::\?|:-)([^}]*))?\}")


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line of the Containerfile, and the number of the stage that it is in."""

    stage: int
    word: str
    rest: str


def instructions() -> list[Instruction]:
    """All of them; continued lines are one."""
    text = re.sub(r"^#.*\n", "", CONTAINERFILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    found: list[Instruction] = []
    stage = -1
    for line in lines:
        word, _, rest = line.partition(" ")
        stage += word == "FROM"
        found.append(Instruction(stage, word, " ".join(rest.split())))
    return found


def image_environment() -> dict[str, str]:
    """What the image sets for every process."""
    (rest,) = (one.rest for one in instructions() if one.word == "ENV")
    return dict(cast("tuple[str, str]", pair.split("=", 1)) for pair in shlex.split(rest))


def compose() -> dict[str, Any]:
    """The compose file, with the variables of the example filled in."""
    example = dict(
        line.split("=", 1)
        for line in (DEPLOY / "compose" / "env.example").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    )
    filled = _VARIABLE.sub(
        lambda found: example.get(found[1], found[2] or ""), COMPOSE.read_text(encoding="utf-8")
    )
    document: dict[str, Any] = yaml.safe_load(filled)
    return document


def ours() -> dict[str, dict[str, Any]]:
    """The services of the compose file that run our image, by name."""
    services: dict[str, dict[str, Any]] = compose()["services"]
    return {name: one for name, one in services.items() if one["image"] == "recollect"}


def manifests(*names: str) -> list[dict[str, Any]]:
    """The Kubernetes objects of these files, or of all that are applied together."""
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8"))
    return [
        one
        for name in names or kustomization["resources"]
        for one in yaml.safe_load_all((KUBERNETES / name).read_text(encoding="utf-8"))
    ]


def pods() -> dict[str, dict[str, Any]]:
    """What the Kubernetes objects run: specifications of pods, by the name of the object."""
    return {
        one["metadata"]["name"]: one["spec"]["template"]["spec"]
        for one in manifests()
        if one["kind"] in ("Deployment", "Job")
    }


def settings_of(environ: Mapping[str, str], config: Path | None = None) -> Settings:
    """As the server reads them, on top of what the image sets."""
    given = image_environment() | {name: str(value) for name, value in environ.items()}
    return load(environ=given, config_path=config).settings


def proxy_sections() -> dict[str, list[list[str]]]:
    """The lines of the proxy's configuration as words, by the head of their section."""
    sections: dict[str, list[list[str]]] = {}
    for words in _proxy_lines():
        if words[0] in ("global", "defaults", "resolvers", "frontend", "backend"):
            current = sections.setdefault(" ".join(words), [])
        else:
            current.append(words)
    return sections


def _proxy_lines() -> Iterator[list[str]]:
    for line in PROXY.read_text(encoding="utf-8").splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words
