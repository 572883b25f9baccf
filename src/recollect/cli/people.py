"""`recollect people`: who is known, and what is known about them."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.memory_verbs import space_name
from recollect.cli.options import Limit, with_groups
from recollect.cli.output import Output, visible, write, write_fields
from recollect.kernel.errors import Conflict, NotFound
from recollect.kernel.ids import parse_uuid

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 20
_PAGE = 200

PersonId = Annotated[str, typer.Argument(metavar="PERSON", help="An id or a name.")]

app = typer.Typer(no_args_is_help=True, help="List, show and add people.")


@app.command("list")
@with_groups
def list_people(
    target: Target,
    output: Output,
    query: Annotated[str | None, typer.Option(help="A part of a name or an alias.")] = None,
    limit: Limit = _LIMIT,
) -> None:
    """List the people whom you know, the newest first."""
    sent: Any = {} if query is None else {"query": query}
    with connect(target) as session:
        found = session.operations.iterate_list_people(**sent, limit=min(limit, _PAGE))
        output.table(islice(found, limit), _COLUMNS)


_COLUMNS = {
    "id": lambda person: person.id,
    "name": lambda person: person.name,
    "also": lambda person: [alias.value for alias in person.aliases],
    "user": lambda person: person.user_id,
}


@app.command("show")
@with_groups
def show_person(person: PersonId, target: Target, output: Output) -> None:
    """Show a person: names, aliases, relationships."""
    with connect(target) as session:
        found = session.operations.get_person(find_person(session, person))
    output.item(found, _write_person)


def _write_person(person: "models.Person") -> None:
    write_fields(
        {
            "name": person.name,
            "id": person.id,
            "user": person.user_id,
            "also": [alias.value for alias in person.aliases],
            "relationships": [
                f"{one.relationship} of {one.to_person_id or one.stated_by}"
                for one in person.relationships
            ],
            "time zone": person.time_zone,
            "known since": person.created_at,
            "merged into": person.merged_into,
            "metadata": person.metadata,
        }
    )


@app.command()
@with_groups
def add(
    name: Annotated[str, typer.Argument(help="The person's name.")],
    target: Target,
    output: Output,
    alias: Annotated[list[str] | None, typer.Option(help="Another name; may be repeated.")] = None,
    relationship: Annotated[
        list[str] | None, typer.Option(help="What they are to you; may be repeated.")
    ] = None,
) -> None:
    """Make somebody known."""
    with connect(target, creates=True) as session:
        made = session.operations.create_person(
            name=name,
            aliases=[{"value": value} for value in alias or ()],
            relationships=[{"relationship": word} for word in relationship or ()],
        )
    output.item(made, lambda _: write(f"Added {visible(made.name)}: {made.id}"))


@app.command("memories")
@with_groups
def list_memories(person: PersonId, target: Target, output: Output, limit: Limit = _LIMIT) -> None:
    """List what is known about a person, as far as you may be told, the newest first."""
    with connect(target) as session:
        found = session.operations.iterate_list_person_memories(
            find_person(session, person), limit=min(limit, _PAGE)
        )
        output.table(islice(found, limit), _MEMORY_COLUMNS)


_MEMORY_COLUMNS = {
    "id": lambda memory: memory.id,
    "memory": lambda memory: memory.content,
    "space": lambda memory: space_name(memory.space),
    "written": lambda memory: memory.created_at,
}


@app.command()
@with_groups
def remove(person: PersonId, target: Target, output: Output) -> None:
    """Remove a person who is no user and whom no memory of others refers to."""
    with connect(target) as session:
        person_id = find_person(session, person)
        session.operations.delete_person(person_id)
    output.report_done("Removed", person_id)


def find_person(session: Session, person: str) -> str:
    """The id that a name means; an id is taken as it is."""
    if parse_uuid(person) is not None:
        return person
    meant = session.operations.resolve_person(name=person)
    if meant.ambiguous:
        ids = ", ".join(one.id for one in meant.candidates)
        raise Conflict(f"{person!r} may be one of several people: say which id of {ids}")
    if meant.person is None:
        raise NotFound("person", person, why=f"nobody here is called {person!r}")
    return meant.person.id
