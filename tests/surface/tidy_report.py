"""Where the tree breaks the house rules: `python -m tests.surface.tidy_report` prints each place.

Only rules that no linter has are here: names, the size of folders, files and functions, and the
glossary. Generated code is excepted.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.documents import ROOT, read

SOURCE = ROOT / "src" / "recollect"
RULES = (
    "banned names",
    "bare participles",
    "class names",
    "file size",
    "folder size",
    "function size",
    "glossary",
)
FOLDER_FILES_MAX = 30
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
GLOSSARY_WORDS_MAX = 40


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Private metaphors: no identifier has one of these among its words.
BANNED_WORDS = _words(
    """
    beings bystander bystanders commission crowding eyes hanging mender newcomer newcomers seat
    seated seats shelf sight sights stranger strangers tidied wish wished wishes
    """
)
# Words that are fine as a part of a name, but say nothing when they are the whole name.
BANNED_NAMES = _words(
    """
    around asked being beside bond chosen cleaning crowd crowds doomed fate governed held keeping
    look looking making mend mended met mine ours patience said saying sayings shown stay stays
    tell telling tempo theirs tie told
    """
)
PREPOSITIONS = _words(
    """
    about above across after against along among around at before behind below beneath beside
    between beyond by during for from in inside into near of off on onto out outside over past per
    since through till to toward under until up upon via with within without
    """
)
# Participles that end in neither -ed nor -ing; those that are also a verb's first form are absent.
IRREGULAR_PARTICIPLES = _words(
    """
    begun born bound broken brought built chosen done drawn driven fallen felt forgotten found given
    gone grown heard held hidden kept known led left lent lost made meant met paid said seen sent
    shown sold sought spent spoken stood sworn taken taught thought thrown told torn woken won worn
    written
    """
)
NOT_PARTICIPLES = _words(
    """
    bring embed exceed feed need ping proceed seed shed speed string succeed
    binding embedding encoding heading listing mapping meaning nothing setting spelling timing
    """
)


@dataclass(frozen=True, slots=True)
class Offender:
    """One place that breaks one rule."""

    rule: str
    path: str
    line: int
    what: str

    @property
    def package(self) -> str:
        parts = Path(self.path).parts
        return parts[2] if parts[:2] == ("src", "recollect") and len(parts) > 3 else parts[0]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}"


def offenders() -> list[Offender]:
    """Every place, in the order of rules and files."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in source_files()}
    found = [*_crowded_folders(), *_glossary_faults(trees), *_repeated_classes(trees)]
    for file, tree in trees.items():
        found += _file_faults(file, tree)
    return sorted(found, key=lambda one: (one.rule, one.path, one.line))


def source_files() -> list[Path]:
    return [file for file in sorted(SOURCE.rglob("*.py")) if "generated" not in file.parts]


def report(found: list[Offender]) -> str:
    """The offenders by package, and the count of each rule."""
    lines = [f"{rule}: {count}" for rule, count in sorted(Counter(o.rule for o in found).items())]
    by_package = defaultdict(list)
    for one in found:
        by_package[one.package].append(one)
    for package, places in sorted(by_package.items()):
        lines += ["", f"{package} ({len(places)})"]
        lines += [f"  {one.rule}: {one}" for one in places]
    return "\n".join(lines)


def glossary() -> list[str]:
    """The words that the glossary of the architecture explains."""
    section = read("ARCHITECTURE.md").partition("\n## Glossary\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| ([a-z][\w -]*) \|", section, re.MULTILINE)[1:]


def words_of(name: str) -> list[str]:
    """The words of an identifier, in lower case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def _crowded_folders() -> Iterator[Offender]:
    for folder, count in Counter(file.parent for file in source_files()).items():
        if count > FOLDER_FILES_MAX:
            yield Offender("folder size", _path(folder), 0, f"{count} files")


def _glossary_faults(trees: dict[Path, ast.Module]) -> Iterator[Offender]:
    words = glossary()
    if not 0 < len(words) <= GLOSSARY_WORDS_MAX:
        yield Offender("glossary", "ARCHITECTURE.md", 0, f"{len(words)} words")
    used = {
        word.rstrip("s")
        for tree in trees.values()
        for _, name in _names(tree)
        for word in words_of(name)
    }
    for word in words:
        if not all(part.rstrip("s") in used for part in re.split(r"[ -]", word)):
            yield Offender("glossary", "ARCHITECTURE.md", 0, f"{word} is not a name in the code")


def _repeated_classes(trees: dict[Path, ast.Module]) -> Iterator[Offender]:
    first: dict[str, str] = {}
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                if node.name in first:
                    what = f"class {node.name} is in {first[node.name]} too"
                    yield Offender("class names", _path(file), node.lineno, what)
                first.setdefault(node.name, _path(file))


def _file_faults(file: Path, tree: ast.Module) -> Iterator[Offender]:
    path, lines = _path(file), len(file.read_text(encoding="utf-8").splitlines())
    if lines > FILE_LINES_MAX:
        yield Offender("file size", path, lines, f"{lines} lines")
    for line, name in _names(tree):
        if name.strip("_").lower() in BANNED_NAMES or BANNED_WORDS & {*words_of(name)}:
            yield Offender("banned names", path, line, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield Offender("function size", path, node.lineno, f"{node.name}: {length} lines")
            if _is_bare(node.name) and not _is_property(node):
                yield Offender("bare participles", path, node.lineno, node.name)


def _names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name that the module binds: classes, functions, parameters, attributes, locals."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def _is_bare(name: str) -> bool:
    """True for a participle or a preposition alone, which says neither what acts nor what is."""
    word = name.strip("_")
    if word in NOT_PARTICIPLES or name.startswith("__"):
        return False
    return word in PREPOSITIONS | IRREGULAR_PARTICIPLES or bool(
        re.fullmatch(r"[a-z]{2,}(?:ed|ing)", word)
    )


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A property is read as an attribute: `agent.archived` is plain English."""
    return any(
        isinstance(decorator, ast.Name) and decorator.id in {"property", "cached_property"}
        for decorator in node.decorator_list
    )


def _path(file: Path) -> str:
    return str(file.relative_to(ROOT))


if __name__ == "__main__":
    sys.stdout.write(f"{report(offenders())}\n")
