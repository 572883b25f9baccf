"""What the documents say against what there is: links, settings, commands, paths, names, codes."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import typer
from bench.harness import stage

from recollect import __version__
from recollect.api.openapi.errors import (
    CONFLICT_REASONS,
    MEMORY_PROBLEMS,
    MEMORY_STATUSES,
)
from recollect.api.registry import OPERATIONS
from recollect.cli.failures import EXIT_CODES
from recollect.cli.main import app
from recollect.cli.options import INTERRUPTED_EXIT
from recollect.cli.output import PIPE_CLOSED_EXIT
from recollect.doctor.model import SEVERITIES
from recollect.http import errors as api_errors
from recollect.http.errors import CLI_EXIT, HTTP_STATUS
from recollect.identity.model import ServerRole
from recollect.kernel import errors
from recollect.kernel.errors import RecollectError
from recollect.observability.prometheus import PrometheusMetrics
from recollect.settings import Settings
from recollect.settings.load import (
    ALIASES,
    CLIENT_VARIABLES,
    CONFIG_VARIABLE,
    env_name,
    fields,
    load,
)
from tests.support.documents import FENCED, ROOT, code, inline_code, read, rows
from tests.support.engines import POSTGRES_URL_VARIABLE
from tests.support.snippets import code_of

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
SOURCES = (ROOT, ROOT / "src" / "recollect")

_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
_PATH = re.compile(
    r"(?:(GET|POST|PATCH|DELETE|PUT) )?((?<!memory)/v1/[^\s\"'`?]*|/metrics|/openapi[\w-]*\.json)"
)
_CURL = re.compile(r"(?:\$API|http://127\.0\.0\.1:8080)(/[^\s\"'?|]*)")
_SETTING = re.compile(rf"(?:{'|'.join(Settings.model_fields)})\.(?!py\b)[a-z_]+")
_COMMAND = re.compile(r"(?<![\w-])(?<!from )recollect((?: +[^\s|;)\"]+)+)")


def slug(heading: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def matches(path: str, template: str) -> bool:
    """A part of the template in braces stands for a variable or a name of the example."""
    parts, wanted = path.strip("/").split("/"), template.strip("/").split("/")
    return len(parts) == len(wanted) and all(
        part == right or (right.startswith("{") and not part.startswith("{"))
        for part, right in zip(parts, wanted, strict=True)
    )


def mentioned_paths(name: str) -> Iterator[tuple[str | None, str]]:
    for text in code(name):
        yield from ((method or None, path) for method, path in _PATH.findall(text))
        for path in _CURL.findall(text):
            yield None, path if "127.0.0.1" in text else f"/v1{path}"


def test_there_are_pages_to_check() -> None:
    assert {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "docs/guide/operating.md"} <= {*NAMES}
    assert len([name for name in NAMES if name.startswith("docs/adr/0")]) >= 9


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name: str) -> None:
    for target in _LINK.findall(FENCED.sub("", read(name))):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        page = (ROOT / name).parent / path if path else ROOT / name
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), target


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_that_is_named_exists(name: str) -> None:
    for text in inline_code(name):
        for key in _SETTING.findall(text) if _SETTING.fullmatch(text) else []:
            assert key in fields() or key in ALIASES, key
    ours = {CONFIG_VARIABLE, POSTGRES_URL_VARIABLE, stage.POSTGRES_URL_VARIABLE}
    known = ours | {env_name(key) for key in fields()} | CLIENT_VARIABLES
    for variable in re.findall(r"\bRECOLLECT_[A-Z]\w*", read(name)):
        assert variable in known, variable


@pytest.mark.parametrize("name", NAMES)
def test_every_example_of_a_settings_file_loads(name: str, tmp_path: Path) -> None:
    for number, text in enumerate(code_of(read(name), "toml")):
        file = tmp_path / f"{number}.toml"
        file.write_text(text, encoding="utf-8")
        assert load(environ={}, config_path=file).settings


@pytest.mark.parametrize("name", NAMES)
def test_every_command_that_is_named_exists(name: str) -> None:
    for text in code(name):
        for words in _COMMAND.findall(text):
            command, rest = find_command(words.split())
            assert not (rest and subcommands(command)), text
            known = {option for param in command.params for option in param.opts}
            assert {word for word in rest if word.startswith("--")} <= known, text


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that the words begin with, and the words after it."""
    command: Any = typer.main.get_command(app)
    while words and words[0] in subcommands(command):
        command, words = subcommands(command)[words[0]], words[1:]
    return command, words


def subcommands(command: Any) -> dict[str, Any]:
    """What a group holds; a command holds nothing."""
    return getattr(command, "commands", {})


@pytest.mark.parametrize("name", NAMES)
def test_every_make_target_that_is_named_exists(name: str) -> None:
    targets = set(re.findall(r"^(\w+):", read("Makefile"), re.MULTILINE))
    for text in code(name):
        for target in re.findall(r"\bmake ([a-z]+)\b", text):
            assert target in targets, target


@pytest.mark.parametrize("name", NAMES)
def test_every_rest_path_that_is_named_is_an_operation(name: str) -> None:
    operations = OPERATIONS
    for method, path in mentioned_paths(name):
        found = [o for o in operations if matches(path, o.path)]
        prefix = any(o.path.startswith(f"{path.rstrip('/')}/") for o in operations)
        assert found or (method is None and prefix), path
        assert method is None or method in {o.method for o in found}, f"{method} {path}"


@pytest.mark.parametrize("name", NAMES)
def test_every_source_file_that_is_named_exists(name: str) -> None:
    for text in inline_code(name):
        if re.fullmatch(r"[\w./-]+(?:\.(?:py|md|txt|toml|json)|/)", text) and "/" in text[:-1]:
            written_by_users = text.startswith(("recollect-data", "/"))
            assert written_by_users or any((base / text).exists() for base in SOURCES), text


def test_every_module_that_a_docstring_or_a_comment_names_exists() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        for path in re.findall(r"`([\w/]+\.(?:py|sql))`", file.read_text(encoding="utf-8")):
            bases = (*SOURCES, file.parent)
            assert any((base / path).exists() for base in bases), f"{file}: {path}"


@pytest.mark.parametrize("name", NAMES)
def test_every_class_that_is_named_exists(name: str) -> None:
    known = source_words()
    for text in inline_code(name):
        for identifier in re.findall(r"(?<![\w-])[A-Z][a-z]+(?:[A-Z][a-z]+)+(?![\w-])", text):
            assert identifier in known, text


def test_the_architecture_names_every_package() -> None:
    folders = [file.parent.name for file in (ROOT / "src" / "recollect").glob("*/__init__.py")]
    mapped = {
        name for cells in rows("ARCHITECTURE.md", 2) for name in re.findall(r"`(\w+)`", cells[0])
    }
    assert set(folders) <= mapped


@cache
def source_words() -> set[str]:
    """Every word of the code, of the protocol and of the files for deployment."""
    suffixes = {".py", ".proto", ".sql", ".toml", ".yaml", ".yml", ".cfg"}
    folders = ("src", "clients", "contracts", "deploy", "bench", "models")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*")]
    texts = (file.read_text(encoding="utf-8") for file in files if file.suffix in suffixes)
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/guide/")])
def test_every_module_of_ours_that_is_named_can_be_imported(name: str) -> None:
    for module in re.findall(r"\brecollect(?:\.[a-z_]+)+\b(?![.@/])", read(name)):
        assert find_spec(module) or find_spec(module.rpartition(".")[0]), module


def test_the_guide_names_every_metric() -> None:
    shown = PrometheusMetrics().render()[0].decode()
    there = set(re.findall(r"^# TYPE (\w+) (?:counter|histogram|gauge)$", shown, re.MULTILINE))
    named = {cells[0].strip("`") for cells in rows("docs/guide/operating.md", 3)}
    metrics = {metric for metric in there if not metric.endswith("_created")}
    assert {name for name in named if re.match(r"recollect_\w+$", name)} == metrics


def test_the_guide_names_every_error_code_and_its_status() -> None:
    kinds = [kind for module in (errors, api_errors) for kind in vars(module).values()]
    there = {
        (str(status_of(kind)), f"`{kind.default_code}`")
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, RecollectError) and kind != RecollectError
    }
    assert codes_in_tables(4) == there


def test_the_guide_names_every_code_of_the_memory_family_and_its_status() -> None:
    there = {
        (str(status), f"`{code}`")
        for status, (_, names) in MEMORY_STATUSES.items()
        for name in names
        for code in codes_of(MEMORY_PROBLEMS[name])
    }
    assert codes_in_tables(3) == there
    named = {cells[0].strip("`") for cells in rows("docs/guide/errors.md", 2)}
    assert {*CONFLICT_REASONS} <= named


def codes_in_tables(columns: int) -> set[tuple[str, str]]:
    """Status and code of each row of the tables of so many columns."""
    named = {(cells[0], cells[1]) for cells in rows("docs/guide/errors.md", columns)}
    return named - {("status", "`code`"), ("---", "---")}


def codes_of(problem: dict[str, Any]) -> list[str]:
    code: dict[str, Any] = problem["properties"]["code"]
    return [code["const"]] if "const" in code else list(code["enum"])


def status_of(kind: type[RecollectError]) -> int:
    return next(HTTP_STATUS[one] for one in kind.__mro__ if one in HTTP_STATUS)


def test_the_guide_names_every_exit_code() -> None:
    named = {cells[0] for cells in rows("docs/guide/errors.md", 2) if cells[0].isdigit()}
    assert named == {str(code) for code in EXIT_CODES}
    assert {*EXIT_CODES} == {0, INTERRUPTED_EXIT, PIPE_CLOSED_EXIT, *CLI_EXIT.values()}


def test_the_guides_name_every_command_and_every_role() -> None:
    pages = ("docs/guide/operating.md", "docs/reference/commands.md")
    texts = [text for page in pages for text in inline_code(page)]
    for name in subcommands(typer.main.get_command(app)):
        assert any(text.startswith(f"recollect {name}") for text in texts), name
    named = {cells[0].strip("`") for cells in rows("docs/guide/identity.md", 2)}
    assert {role.value for role in ServerRole} <= named


def test_the_guide_names_every_check_of_the_doctor_with_its_severity() -> None:
    named = {
        (cells[0], check)
        for cells in rows("docs/guide/retention.md", 2)
        for check in re.findall(r"`(\w+)`", cells[1])
    }
    assert {(str(severity), str(check)) for check, severity in SEVERITIES.items()} <= named


def test_the_changelog_has_an_entry_for_this_version() -> None:
    assert f"\n## [{__version__}]" in read("CHANGELOG.md")


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("docs/adr/0")])
def test_a_decision_record_is_whole_and_listed(name: str) -> None:
    text = read(name)
    for heading in ("## Context", "## Decision", "## Consequences"):
        assert f"\n{heading}\n" in text
    assert re.search(r"^## (Measured|Rejected)", text, re.MULTILINE)
    assert Path(name).name in read("docs/adr/README.md")
    assert text.startswith(f"# {Path(name).name[:4]} ")
