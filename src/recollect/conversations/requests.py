"""Request bodies of conversations, and the call of the service that each request makes.

REST and gRPC both parse a request into a `Call`, which the functions here take. The bodies check
syntax and limits only; the services check everything else.
"""

from collections.abc import Awaitable
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from recollect.conversations.commands import (
    CreateConversation,
    ForkConversation,
    UpdateConversation,
)
from recollect.conversations.model import (
    TITLE_CHARS_MAX,
    Conversation,
    ConversationWithLevel,
    Keep,
)
from recollect.conversations.service import ConversationService
from recollect.http.bodies import NO_CONTROL, Body
from recollect.http.call import Call
from recollect.kernel.ids import ConversationId, EntryId
from recollect.kernel.pages import Page
from recollect.kernel.strict_json import dump
from recollect.kernel.validation import METADATA_BYTES_MAX


def _check_object_size(value: dict[str, Any]) -> dict[str, Any]:
    if len(dump(value).encode()) > METADATA_BYTES_MAX:
        raise ValueError(f"must have at most {METADATA_BYTES_MAX} bytes as compact JSON")
    return value


_METADATA = f"Your own data: at most {METADATA_BYTES_MAX} bytes as compact JSON in UTF-8."
Title = Annotated[str, Field(max_length=TITLE_CHARS_MAX, pattern=NO_CONTROL)]
Metadata = Annotated[
    dict[str, Any],
    AfterValidator(_check_object_size),
]


class NewConversation(Body):
    """A conversation to create."""

    optional: ClassVar[bool] = True
    title: Title | None = Field(
        default=None, description="What the conversation is called.", examples=["Move to Bern"]
    )
    metadata: Metadata | None = Field(
        default=None, description=_METADATA, examples=[{"team": "relocation"}]
    )


class ConversationPatch(Body):
    """Changes of a conversation: what is absent stays. A null clears the title, `{}` the metadata,
    which are replaced as a whole."""

    nullable: ClassVar[frozenset[str]] = frozenset({"title"})
    title: Title | None = Field(
        default=None, description="The new title; null clears it.", examples=["Documents"]
    )
    metadata: Metadata | None = Field(default=None, description=_METADATA)


class NewFork(Body):
    """A fork to create; without a title it has its parent's."""

    optional: ClassVar[bool] = True
    title: Title | None = Field(
        default=None,
        description="The title of the fork; its parent's if absent.",
        examples=["Another answer"],
    )


def path_conversation_id(call: Call) -> ConversationId:
    """The conversation id from the path."""
    return ConversationId(call.path["id"])


def list_conversations(call: Call) -> Awaitable[Page[ConversationWithLevel]]:
    """A page of the caller's conversations."""
    return call.services[ConversationService].list(
        call.principal,
        mode=call.query["mode"],
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )


def create_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    body: NewConversation = call.body
    command = CreateConversation(body.title, body.metadata or {})
    return call.services[ConversationService].create(
        call.principal, command, reserved_id=call.reserved_id
    )


def get_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    return call.services[ConversationService].get(call.principal, path_conversation_id(call))


def update_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    """Change title and metadata of a conversation."""
    body: ConversationPatch = call.body
    command = UpdateConversation(
        path_conversation_id(call),
        title=body.title if "title" in body.model_fields_set else Keep.KEEP,
        metadata=Keep.KEEP if body.metadata is None else body.metadata,
    )
    return call.services[ConversationService].update(call.principal, command)


def delete_conversation(call: Call) -> Awaitable[None]:
    """Soft-delete a tree."""
    return call.services[ConversationService].delete(call.principal, path_conversation_id(call))


def fork_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    body: NewFork = call.body
    entry_id = EntryId(call.path["entryId"])
    command = ForkConversation(path_conversation_id(call), entry_id, body.title)
    return call.services[ConversationService].fork(
        call.principal, command, reserved_id=call.reserved_id
    )


def list_forks(call: Call) -> Awaitable[Page[Conversation]]:
    """The conversations of a tree."""
    return call.services[ConversationService].list_forks(
        call.principal, path_conversation_id(call), after=call.page.after, limit=call.page.limit
    )
