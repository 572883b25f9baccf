"""`recollect remember`, `recall`, `search` and `forget`: what is done most."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.failures import CommandFailed, report_failure
from recollect.cli.options import Limit
from recollect.cli.output import (
    Output,
    note,
    read_text,
    read_words,
    visible,
    write,
    write_json,
    write_json_line,
)
from recollect.cli.places import Everywhere, Place, Which, search_arguments
from recollect.cli.tokens import parse_ttl
from recollect.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 10

Text = Annotated[
    str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from stdin.")
]
Query = Annotated[str, typer.Argument(help="What to look for, in your own words.")]
Question = Annotated[
    str | None,
    typer.Argument(metavar="[QUERY]", help="What it is about; without it the newest."),
]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="The ids; - reads them from stdin.")
]


@dataclass(frozen=True)
class Facts:
    """What may be said of a new memory."""

    type: Annotated[
        str | None,
        typer.Option(help="preference, identity, relationship, knowledge, context, event, task …"),
    ] = None
    tags: Annotated[list[str] | None, typer.Option("--tag", help="May be repeated.")] = None
    about: Annotated[
        list[str] | None,
        typer.Option(help="A person whom it is about; may be repeated."),
    ] = None
    sensitivity: Annotated[str | None, typer.Option(help="public, personal or sensitive.")] = None
    ttl: Annotated[str | None, typer.Option(help="How long to keep it: 30m, 24h, 7d.")] = None
    key: Annotated[
        str | None,
        typer.Option(help="Store a record: TEXT is a JSON object, in place of an earlier one."),
    ] = None

    def members(self, text: str) -> dict[str, Any]:
        """The members of the new memory, by the names of the API."""
        given: dict[str, Any] = {
            "type": self.type,
            "tags": self.tags,
            "subjects": self.about,
            "sensitivity": self.sensitivity,
            "ttl_seconds": None if self.ttl is None else int(parse_ttl(self.ttl).total_seconds()),
        }
        if self.key is None:
            given["content"] = text
        else:
            given |= {"key": self.key, "value": _read_record(text), "on_conflict": "supersede"}
        return {name: value for name, value in given.items() if value is not None}


def remember(text: Text, facts: Facts, place: Place, target: Target, output: Output) -> None:
    """Remember a text. It is stored as it is, and found by its words and its meaning."""
    members = facts.members(read_text(text))
    with connect(target, creates=True) as session:
        done = session.operations.create_memory(**place.write_arguments(session), **members)
        output.item(
            done,
            lambda _: write(
                f"{_WRITTEN.get(done.status, done.status)} {done.id} in "
                f"{visible(place.title(session))}, {visible(session.where)}"
            ),
        )
    for warning in done.warnings:
        output.note(f"warning: {warning.message}")


_WRITTEN = {
    "created": "Remembered",
    "duplicate": "Known already:",
    "quarantined": "Quarantined, since it looks like an order to an assistant:",
    "queued": "Queued",
}


def recall(
    target: Target,
    output: Output,
    place: Place,
    which: Which,
    query: Question = None,
    everywhere: Everywhere = False,
    tokens: Annotated[
        int | None, typer.Option("--tokens", min=1, help="At most so many tokens.")
    ] = None,
) -> None:
    """Print what an agent should be told now, as a block of text for its prompt."""
    sent: dict[str, Any] = {} if query is None else {"query": query}
    if tokens is not None:
        sent["token_budget"] = tokens
    with connect(target) as session:
        where = search_arguments(session, place, which, everywhere=everywhere)
        found = session.operations.recall_memories(**where, **sent)
    if output.as_json:
        write_json(found.model_dump(mode="json", by_alias=True, exclude_unset=True))
    elif output.quiet:
        for item in found.items:
            write(visible(item.id))
    elif found.context:
        write(visible(found.context))
    else:
        note(f"nothing is known in {place.title(session)}, {session.where}")
    _note_degraded(found.degraded, output)


def search(
    query: Query,
    target: Target,
    output: Output,
    place: Place,
    which: Which,
    everywhere: Everywhere = False,
    limit: Limit = _LIMIT,
) -> None:
    """Search memories by words, by meaning, by people and times. The best come first."""
    with connect(target) as session:
        where = search_arguments(session, place, which, everywhere=everywhere)
        hits = session.operations.search_memories(**where, query=query, limit=limit)
    columns = _HIT_COLUMNS | (SPACE_COLUMN if everywhere or place.chat else {})
    output.table(hits.data, columns)
    _note_degraded(hits.degraded, output)


_HIT_COLUMNS = {
    "id": lambda hit: hit.id,
    "score": lambda hit: f"{hit.score:.2f}",
    "memory": lambda hit: hit.content,
}
# Only where memories of several spaces are found: ids and texts need the width.
SPACE_COLUMN = {"space": lambda memory: space_name(memory.space)}


def forget(ids: Ids, target: Target, output: Output) -> None:
    """Delete memories with all their versions. The other ids are deleted if one is not found."""
    exit_code = 0
    with connect(target) as session:
        for memory_id in read_words(ids):
            failed = _forget_one(session, memory_id, target)
            exit_code = exit_code or failed
            if failed:
                continue
            if output.as_json:
                write_json_line({"id": memory_id, "forgotten": True})
            elif not output.quiet:
                write(f"Forgot {visible(memory_id)}")
    if exit_code:
        raise typer.Exit(exit_code)


def _forget_one(session: Session, memory_id: str, target: Target) -> int:
    """The exit code of one id: the others go on."""
    from recollect.cli.connection import failing_clearly

    try:
        with failing_clearly(session.where, is_server=session.is_server):
            session.operations.delete_memory(memory_id)
    except (CommandFailed, InvalidInput) as error:
        return report_failure(error)
    return 0


def space_name(space: "models.Space") -> str:
    """A space for a table."""
    return f"{space.kind.replace('_', ' ')} {space.id}"


def _read_record(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"with --key the text must be a JSON object: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInput("with --key the text must be a JSON object")
    return value


def _note_degraded(stages: list[str], output: Output) -> None:
    if stages:
        output.note(f"without {', '.join(stages)}: see `recollect doctor`")
