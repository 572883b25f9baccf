"""Every command exists, calls what the table says, and works on a file and on a server."""

from collections.abc import Iterator

import pytest
import typer

from recollect.cli.main import app
from recollect_client._sync.call import Caller
from recollect_client.table import OPERATIONS
from tests.cli.commands import TABLE, WITHOUT_OPERATION, Row
from tests.cli.conftest import CommandLine
from tests.support.world import ADMIN

STREAMED = {"exportMemories", "importMemories", "adminEvict"}


def names_of(group: object, before: str = "") -> Iterator[str]:
    commands = getattr(group, "commands", None)
    if commands is None:
        yield before.strip()
        return
    for name, command in commands.items():
        yield from names_of(command, f"{before} {name}")


def test_the_table_has_every_command() -> None:
    listed = set(names_of(typer.main.get_command(app)))
    assert {row.name for row in TABLE} | WITHOUT_OPERATION == listed


def test_the_table_names_operations_that_exist() -> None:
    named = {operation for row in TABLE for operation in row.operations}
    assert named <= {*OPERATIONS} | STREAMED


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that were called."""
    seen: list[str] = []
    request = Caller.request

    def spy(self: Caller, operation: object, *others: object, **named: object) -> object:
        seen.append(operation.id)  # type: ignore[attr-defined]
        return request(self, operation, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Caller, "request", spy)
    return seen


def test_every_command_calls_its_operations(recollect: CommandLine, called: list[str]) -> None:
    """The rows run in their order: later ones use what earlier ones made."""
    recollect.names["asker"] = ADMIN
    for row in TABLE:
        called.clear()
        ended = recollect.line(row.example).ok()
        assert {*row.operations} == {*called}, row.example
        assert ended.out + ended.err, f"{row.example} says what it did"
        if row.makes:
            recollect.names[row.makes] = _id_made(row, ended.out, recollect)
        if row.name == "export":
            lines = recollect.folder / "export.jsonl"
            lines.write_text(ended.out)
            recollect.names["lines"] = str(lines)


def _id_made(row: Row, printed: str, recollect: CommandLine) -> str:
    ids = [word for word in printed.replace(",", " ").replace(":", " ").split() if _is_id(word)]
    if row.name == "conversations tail":
        return recollect.line(f"{row.example} -q").ok().lines[-1]
    return ids[0]


def _is_id(word: str) -> bool:
    return len(word) == 36 and word.count("-") == 4


_READS = ("list", "search", "stats", "recall")
READS = [row for row in TABLE if row.name.split()[-1] in _READS]


def test_json_is_one_document(recollect: CommandLine) -> None:
    recollect("remember", "There is something to print.").ok()
    for row in READS:
        assert isinstance(recollect.line(f"{row.example} --json").ok().json, row.json_kind), (
            row.name
        )
