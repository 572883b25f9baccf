"""Word lists and phrases of the detectors, which are text files in `data/`.

A line `[name]` begins a section, `#` a comment. Each file says where its lines come from. A file is
read when a detector first needs it, so starting a command doesn't wait for it.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def load_sections(name: str) -> Mapping[str, tuple[str, ...]]:
    """The lines of each section of a data file, without comments and blank lines."""
    text = files("recollect.screening").joinpath("data", name).read_text(encoding="utf-8")
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            lines = sections.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return {section: tuple(kept) for section, kept in sections.items()}


@cache
def load_words(name: str, section: str) -> frozenset[str]:
    """The words of a section; a line may hold several."""
    return frozenset(" ".join(load_sections(name).get(section, ())).split())


def data_files(prefix: str) -> tuple[str, ...]:
    """The names of the data files that begin so, in alphabetical order."""
    folder = files("recollect.screening").joinpath("data")
    return tuple(sorted(one.name for one in folder.iterdir() if one.name.startswith(prefix)))
