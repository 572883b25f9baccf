"""Tables of the guide against the source: jobs, events, roles; and how its pages begin."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from recollect.api.registry import CONVERSATION_OPERATIONS, OPERATIONS
from recollect.audit.model import EventKind
from recollect.identity.actions import NEEDS_ROLE
from recollect.kernel.retention_rules import AuditAlert, AuditRules
from tests.support.documents import ROOT, read, rows
from tests.support.snippets import blocks

OPERATING, IDENTITY = "docs/guide/operating.md", "docs/guide/identity.md"
SOURCE = ROOT / "src" / "recollect"
FOLLOWED = sorted(
    str(page.relative_to(ROOT))
    for page in ROOT.glob("docs/guide/*.md")
    if blocks(page.read_text(encoding="utf-8"))
)
HANDLERS = "Mapping[str, JobHandler]"
# The name of a list, in its cursors.
NO_EVENTS = {"person.memories"}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for file in sorted(SOURCE.rglob("*.py")):
        yield file, ast.parse(file.read_text(encoding="utf-8"))


def job_types() -> set[str]:
    """The keys of every mapping of job types to their handlers."""
    found = set()
    for file, tree in trees():
        parts = file.relative_to(ROOT / "src").with_suffix("").parts
        functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.returns]
        handlers = [f for f in functions if ast.unparse(f.returns or f) == HANDLERS]
        for node in [inner for function in handlers for inner in ast.walk(function)]:
            for key in node.keys if isinstance(node, ast.Dict) else []:
                assert isinstance(key, ast.Name), file
                found.add(getattr(importlib.import_module(".".join(parts)), key.id))
    return found


def event_types() -> set[str]:
    """Every text of the code that is a kind, a dot and an action, and every alert."""
    form = re.compile(rf"(?:{'|'.join(EventKind)})\.[a-z_]+")
    nodes = [node for file, tree in trees() if not is_elsewhere(file) for node in ast.walk(tree)]
    texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    alerts = {f"alert.{field.name}" for field in fields(AuditRules) if field.type is AuditAlert}
    return {text for text in texts if form.fullmatch(text)} - NO_EVENTS | alerts


def is_elsewhere(file: Path) -> bool:
    """Actions of conversations, attributes of resources and names of settings have the form of an
    event, too."""
    is_rest = file.name.startswith("rest")
    return is_rest or file.name == "actions.py" or file.parent.name == "settings"


def section(name: str, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    return read(name).split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_guide_names_every_job() -> None:
    named = re.findall(r"^\| `(\w+)` \|", section(OPERATING, "Jobs"), re.MULTILINE)
    assert sorted(named) == sorted(job_types())
    assert len(named) > 10


def test_the_guide_names_every_event_of_memories() -> None:
    table = re.findall(r"^\| (`.+`) \| (`.+) \|$", section(OPERATING, "Events of memories"), re.M)
    named = {
        f"{kind}.{action}"
        for kinds, actions in table
        for kind in re.findall(r"`(\w+)`", kinds)
        for action in re.findall(r"`(\w+)`", actions)
    }
    assert named == event_types()
    assert len(named) > 30


def test_the_guide_names_what_only_a_role_opens() -> None:
    """Under `/v1/admin` conversations are named as a whole, memories one by one."""
    of_role = {cells[0].strip("`"): cells[1] for cells in rows(IDENTITY, 2)}
    for operation in OPERATIONS:
        role = NEEDS_ROLE.get(operation.action) if operation.action else None
        whole = operation in CONVERSATION_OPERATIONS and operation.path.startswith("/v1/admin")
        if role is not None and not whole:
            assert f"`{operation.method} {operation.path}`" in of_role[role], operation.path


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_page_that_is_followed_begins_in_an_empty_folder(name: str) -> None:
    before = read(name).split("\n```sh\n")[0]
    assert re.search(r"\bempty\s+folder\b", before)
