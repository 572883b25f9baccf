"""Request bodies of entries, and the call of the service that each request makes, for both APIs."""

from collections.abc import Awaitable
from typing import Annotated, Any, TypeVar

from pydantic import Field, PlainValidator, WithJsonSchema

from recollect.conversations.commands import AppendEntry, SyncEntries, WriteEntry
from recollect.conversations.entries.append import SyncOutcome
from recollect.conversations.entries.entry import (
    CONTENT_ITEMS_MAX,
    CONTENT_TYPE_CHARS_MAX,
    INDEXED_CHARS_MAX,
    SYNC_ITEMS_MAX,
    Channel,
    Entry,
    EntryOrder,
)
from recollect.conversations.entries.service import EntryQuery, EntryService
from recollect.conversations.requests import path_conversation_id
from recollect.http.bodies import Body, UserIdText, UuidText, example_config, word_validator
from recollect.http.call import Call
from recollect.http.params import Schema
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import ConversationId, EntryId, UserId
from recollect.kernel.pages import Page

W = TypeVar("W", bound=WriteEntry)


def _list_validator(most: int, *, text_too: bool) -> PlainValidator:
    wanted = "a list or a string" if text_too else "a list"

    def check(value: Any) -> Any:
        if not (isinstance(value, list) or (text_too and isinstance(value, str))):
            raise ValueError(f"must be {wanted}")
        if isinstance(value, list) and len(value) > most:
            raise ValueError(f"must have at most {most} items")
        return value

    return PlainValidator(check)


CHANNEL: Schema = {"type": "string", "enum": [str(channel) for channel in Channel]}
_LIST: Schema = {"type": "array", "items": {}}
ChannelWord = Annotated[
    Channel,
    word_validator({str(channel): channel for channel in Channel}),
    WithJsonSchema(CHANNEL),
]
ContentType = Annotated[str, Field(min_length=1, max_length=CONTENT_TYPE_CHARS_MAX)]
IndexedText = Annotated[str, Field(min_length=1, max_length=INDEXED_CHARS_MAX)]


class EntryBody(Body):
    """What append and sync have in common."""

    user_id: UserIdText | None = Field(
        default=None, description="Whose entry it is; the caller's if absent."
    )
    channel: ChannelWord | None = Field(
        default=None, description="`history` is for all members, `memory` for the client alone."
    )
    content_type: ContentType | None = Field(
        default=None,
        description="What `content` is: `history` for messages, else a name of the client's.",
    )
    indexed_content: IndexedText | None = Field(
        default=None, description="The text that search finds the entry by."
    )
    forked_at_conversation_id: UuidText | None = Field(
        default=None,
        description="To create the conversation as a fork: the one that it branches off.",
    )
    forked_at_entry_id: UuidText | None = Field(
        default=None,
        description="To create the conversation as a fork: the entry that it begins at.",
    )


class AppendBody(EntryBody):
    """An entry to append."""

    # It is right with an API key and without: with one, `contentType` is needed.
    model_config = example_config(
        {
            "contentType": "history",
            "content": [{"role": "USER", "text": "Which documents do I need for Bern?"}],
        }
    )
    content: Annotated[
        Any,
        _list_validator(CONTENT_ITEMS_MAX, text_too=True),
        WithJsonSchema({"anyOf": [_LIST | {"maxItems": CONTENT_ITEMS_MAX}, {"type": "string"}]}),
    ] = Field(description="A text, or a list of messages or of the client's own items.")

    role: Annotated[
        str | None,
        Field(
            description="Whose message it is, where `content` does not say so: user, human, "
            "assistant, ai or model. For callers without an API key who name no channel."
        ),
    ] = None


class SyncBody(EntryBody):
    """A client's whole memory."""

    model_config = example_config(
        {"contentType": "notes", "content": [{"note": "answers in German"}]}
    )
    content_type: ContentType = Field(description="What `content` is, as the client names it.")
    content: Annotated[
        Any,
        _list_validator(SYNC_ITEMS_MAX, text_too=False),
        WithJsonSchema(_LIST | {"maxItems": SYNC_ITEMS_MAX}),
    ] = Field(description="Everything that the client remembers here, as a list.")


def append_entry(call: Call) -> Awaitable[Entry]:
    command = _write_command(AppendEntry, call, role=call.body.role)
    return call.services[EntryService].append(call.principal, command, reserved_id=call.reserved_id)


def sync_entries(call: Call) -> Awaitable[SyncOutcome]:
    """Make the client's memory equal to the list."""
    command = _write_command(SyncEntries, call)
    return call.services[EntryService].sync(call.principal, command, reserved_id=call.reserved_id)


def delete_entry(call: Call) -> Awaitable[None]:
    """Delete an entry of the history."""
    return call.services[EntryService].delete(
        call.principal, path_conversation_id(call), EntryId(call.path["entryId"])
    )


def list_entries(call: Call) -> Awaitable[Page[Entry]]:
    """A page of the visible path, or of the whole tree."""
    return call.services[EntryService].list(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
    )


def entry_query(call: Call) -> EntryQuery:
    """The filters of an entry list, and its order. Raises ValidationFailed for a tail that is also
    to be a page."""
    query, page = call.query, call.page
    if query["tail"] is not None and (query["order"] or page.after or page.limit_sent):
        message = "must not be sent together with order, after or limit"
        raise ValidationFailed.for_field("tail", message)
    return EntryQuery(
        channel=query["channel"],
        epoch=query["epoch"],
        forks=query["forks"],
        order=query["order"] or EntryOrder.ASC,
        tail=query["tail"],
    )


def _write_command(kind: type[W], call: Call, **more: str | None) -> W:
    body: AppendBody | SyncBody = call.body
    parent_id, entry_id = body.forked_at_conversation_id, body.forked_at_entry_id
    return kind(
        conversation_id=path_conversation_id(call),
        content=body.content,
        content_type=body.content_type,
        channel=body.channel,
        user_id=UserId(body.user_id) if body.user_id else None,
        indexed_content=body.indexed_content,
        forked_at_conversation_id=ConversationId(parent_id) if parent_id else None,
        forked_at_entry_id=EntryId(entry_id) if entry_id else None,
        **more,
    )
