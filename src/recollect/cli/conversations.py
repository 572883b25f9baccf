"""`recollect conversations`: what was said, and its forks."""

import json
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.connection import Session, Target, connect
from recollect.cli.options import Limit, with_groups
from recollect.cli.output import (
    File,
    Output,
    apply_style,
    new_file,
    one_line,
    read_text,
    to_json,
    to_text,
    visible,
    visible_json,
    write,
    write_fields,
    write_json,
    write_json_line,
)

if TYPE_CHECKING:
    from recollect_client import models

_LIMIT = 20
_PAGE = 200
_TAIL = 10
_FOLLOW_SECONDS = 1.0
_ROLES = {"user": "USER", "assistant": "AI"}

ConversationId = Annotated[str, typer.Argument(metavar="ID", help="The conversation.")]

app = typer.Typer(no_args_is_help=True, help="List, show, fork, follow and export conversations.")


@app.command("list")
@with_groups
def list_conversations(
    target: Target,
    output: Output,
    query: Annotated[str | None, typer.Option(help="A part of the title.")] = None,
    mode: Annotated[
        str, typer.Option(help="all, roots, or latest-fork of each tree.")
    ] = "latest-fork",
    limit: Limit = _LIMIT,
) -> None:
    """List your conversations, the latest first."""
    sent: Any = {} if query is None else {"query": query}
    with connect(target) as session:
        found = session.operations.iterate_list_conversations(
            **sent, mode=mode, limit=min(limit, _PAGE)
        )
        output.table(islice(found, limit), _COLUMNS)


_COLUMNS = {
    "id": lambda one: one.id,
    "title": lambda one: one.title,
    "last said": lambda one: one.last_message_preview,
    "changed": lambda one: one.updated_at,
    "you": lambda one: one.access_level,
}


@app.command("show")
@with_groups
def show_conversation(conversation: ConversationId, target: Target, output: Output) -> None:
    """Show a conversation: its owner, its members, and the tree of its forks."""
    with connect(target) as session:
        found = session.operations.get_conversation(conversation)
        forks = list(session.operations.iterate_list_forks(conversation))
        members = list(session.operations.iterate_list_memberships(conversation))
    if output.as_json:
        more = {"forks": [*map(to_json, forks)], "memberships": [*map(to_json, members)]}
        write_json(to_json(found) | more)
        return
    output.item(found, _write_conversation)
    if output.quiet:
        return
    write_fields({"members": [f"{one.user_id} ({one.access_level})" for one in members]})
    write("")
    for line in draw_forks(forks, found.id):
        write(line)


def _write_conversation(found: "models.Conversation") -> None:
    write_fields(
        {
            "id": found.id,
            "title": found.title,
            "owner": found.owner_user_id,
            "last said": found.last_message_preview,
            "created": found.created_at,
            "changed": found.updated_at,
            "forked from": found.forked_at_conversation_id,
            "metadata": found.metadata,
        }
    )


@app.command()
@with_groups
def say(
    text: Annotated[str, typer.Argument(help="What is said; - reads it from stdin.")],
    target: Target,
    output: Output,
    conversation: Annotated[
        str | None, typer.Option("--in", metavar="ID", help="Where; otherwise in a new one.")
    ] = None,
    role: Annotated[str, typer.Option(help="user or assistant.")] = "user",
) -> None:
    """Append a message. Without --in it begins a new conversation."""
    place = conversation or str(uuid.uuid4())
    with connect(target, creates=True) as session:
        entry = session.operations.append_entry(
            place,
            content=[{"role": _ROLES.get(role, role), "text": read_text(text)}],
            channel="history",
            content_type="history",
        )
    output.item(
        entry,
        lambda _: write(f"Said in {entry.conversation_id}, message {entry.id}"),
        id_name="conversation_id",
    )


@app.command()
@with_groups
def fork(
    conversation: ConversationId,
    entry: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="The fork has all before this message.")
    ],
    target: Target,
    output: Output,
    title: Annotated[str | None, typer.Option(help="The title of the fork.")] = None,
) -> None:
    """Make a branch that has all before a message; nothing is copied."""
    sent: Any = {} if title is None else {"title": title}
    with connect(target) as session:
        made = session.operations.fork_conversation(conversation, entry, **sent)
    output.item(made, lambda _: write(f"Forked as {made.id}"))


@app.command()
@with_groups
def tail(
    conversation: ConversationId,
    target: Target,
    output: Output,
    count: Annotated[int, typer.Option("--lines", "-n", min=1, help="The last so many.")] = _TAIL,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new messages until Ctrl-C.")
    ] = False,
) -> None:
    """Print the last messages; with --json one document a line."""
    with connect(target) as session:
        entries = session.operations.list_entries(conversation, channel="history", tail=count).data
        for entry in entries:
            _write_entry(entry, output)
        if follow:
            last = entries[-1].id if entries else None
            for entry in _follow(session, conversation, last):
                _write_entry(entry, output)


def _follow(session: Session, conversation: str, last: str | None) -> "Iterator[models.Entry]":
    """New messages as they come, without an end."""
    while True:
        time.sleep(_FOLLOW_SECONDS)
        after: Any = {} if last is None else {"after": last}
        for entry in session.operations.iterate_list_entries(
            conversation, channel="history", **after
        ):
            last = entry.id
            yield entry


def _write_entry(entry: "models.Entry", output: Output) -> None:
    if output.as_json:
        write_json_line(to_json(entry))
    elif output.quiet:
        write(visible(entry.id))
    else:
        said_at = apply_style(to_text(entry.created_at), "dim")
        write(
            f"{said_at}  {apply_style(one_line(_speaker(entry)), 'bold')}: {visible(_text(entry))}"
        )


@app.command()
@with_groups
def export(conversation: ConversationId, target: Target, output: Output, file: File = None) -> None:
    """Print a whole conversation as a text, or with --json as one message a line."""
    with connect(target) as session, new_file(file) as put:
        for entry in session.operations.iterate_list_entries(
            conversation, channel="history", limit=_PAGE
        ):
            if output.as_json:
                put(visible_json(json.dumps(to_json(entry), ensure_ascii=False)))
            else:
                put(visible(f"{_speaker(entry)}: {_text(entry)}"))


@app.command()
@with_groups
def search(
    query: Annotated[str, typer.Argument(help="What was said, in your own words.")],
    target: Target,
    output: Output,
    limit: Limit = _LIMIT,
) -> None:
    """Search what was said in your conversations. The best come first."""
    with connect(target) as session:
        hits = session.operations.search_conversations(query=query, limit=limit)
    output.table(hits.data, _HIT_COLUMNS, id_name="conversation_id")


_HIT_COLUMNS = {
    "conversation id": lambda hit: hit.conversation_id,
    "score": lambda hit: f"{hit.score:.2f}",
    "title": lambda hit: hit.conversation_title,
    "message": lambda hit: hit.highlights or (hit.entry and _text(hit.entry)),
    "message id": lambda hit: hit.entry_id,
}


def _speaker(entry: "models.Entry") -> str:
    first = entry.content[0] if entry.content and isinstance(entry.content[0], dict) else {}
    role = str(first.get("role", ""))
    return "assistant" if role == "AI" else entry.user_id or role.lower() or "?"


def _text(entry: "models.Entry") -> str:
    """The texts of a message; of anything else its JSON."""
    parts = [
        str(part["text"]) if isinstance(part, dict) and "text" in part else json.dumps(part)
        for part in entry.content
    ]
    return "(deleted)" if entry.removed else "\n".join(parts)


def draw_forks(forks: Sequence["models.Fork"], shown_id: str) -> Iterator[str]:
    """The lines of the tree, the root first; the conversation that is shown has a mark.

    A fork whose parent is not in the list, because the caller may not see it, is a root too.
    """
    known = {fork.conversation_id for fork in forks}
    children: dict[str | None, list[models.Fork]] = defaultdict(list)
    for fork in forks:
        parent = fork.forked_at_conversation_id
        children[parent if parent in known else None].append(fork)
    # A stack and not a recursion: a chain of forks may be longer than the interpreter's stack.
    stack = [(root, "", "", "") for root in reversed(children[None])]
    while stack:
        fork, lead, branch, below = stack.pop()
        yield lead + branch + _label(fork, shown_id)
        inner = children[fork.conversation_id]
        for at, child in reversed(list(enumerate(inner))):
            is_last = at == len(inner) - 1
            turn, rest = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            stack.append((child, lead + below, turn, rest))


def _label(fork: "models.Fork", shown_id: str) -> str:
    is_shown = fork.conversation_id == shown_id
    parts = [apply_style(one_line(fork.conversation_id), "bold cyan" if is_shown else "cyan")]
    if fork.title:
        parts.append(one_line(fork.title))
    parts.append(to_text(fork.created_at))
    return "  ".join(parts) + ("  ← this one" if is_shown else "")
