"""The REST operations of conversations and forks."""

from typing import Annotated, Any

from pydantic import Field, PlainSerializer, WithJsonSchema

from recollect.conversations import requests
from recollect.conversations.model import ListMode
from recollect.http import params
from recollect.http.call import Handler, respond_with, respond_with_page
from recollect.http.examples import CONVERSATION_ID, FORK_ID, USER_ID
from recollect.http.operation import Envelope, Operation, Paging, conversation_operation
from recollect.http.resource import (
    IdText,
    InstantText,
    LevelName,
    SparseResource,
    UnreadableFlag,
    attribute,
    optional_attribute,
    resource_schemas,
)
from recollect.http.schemas import OBJECT

NonEmptyObject = Annotated[
    dict[str, Any], PlainSerializer(lambda value: value or None), WithJsonSchema(OBJECT)
]


class ConversationSummaryResource(SparseResource):
    """A conversation in a list."""

    id: IdText = attribute(
        "conversation.id", description="The id of the conversation.", examples=[CONVERSATION_ID]
    )
    title: str | None = optional_attribute(
        "conversation.title", description="What it is called.", examples=["Move to Bern"]
    )
    owner_user_id: str = attribute(
        "conversation.owner_user_id", description="The user who owns its tree.", examples=[USER_ID]
    )
    created_at: InstantText = attribute(
        "conversation.created_at", description="When it was created."
    )
    updated_at: InstantText = attribute(
        "conversation.updated_at", description="When something in it last changed."
    )
    last_message_preview: str | None = optional_attribute(
        "conversation.last_message_preview", description="The beginning of its last message."
    )
    access_level: LevelName = attribute(
        "level", description="What the caller may do in its tree.", examples=["owner"]
    )
    metadata: NonEmptyObject | None = optional_attribute(
        "conversation.metadata",
        description="Your own data.",
        examples=[{"team": "relocation"}],
    )
    unreadable: UnreadableFlag | None = optional_attribute("conversation.unreadable")


class ForkPointFields(SparseResource):
    """Where a conversation begins, if it is a fork."""

    forked_at_entry_id: IdText | None = optional_attribute(
        "conversation.forked_at_entry_id",
        description="The last entry that a fork shares with its parent; absent if it shares none.",
    )
    forked_at_conversation_id: IdText | None = optional_attribute(
        "conversation.forked_at_conversation_id",
        description="The conversation that a fork branches off.",
    )


class ConversationResource(ForkPointFields, ConversationSummaryResource):
    """A conversation alone."""


class ForkResource(SparseResource):
    """A conversation in a list of forks."""

    conversation_id: IdText = attribute(
        "id", description="The id of the conversation.", examples=[CONVERSATION_ID]
    )
    forked_at_entry_id: IdText | None = Field(
        default=None,
        description="The last entry that it shares with its parent; absent if it shares none.",
    )
    forked_at_conversation_id: IdText | None = Field(
        default=None, description="The conversation that it branches off; the root has none."
    )
    title: str | None = Field(
        default=None, description="What it is called.", examples=["Move to Bern"]
    )
    created_at: InstantText = Field(description="When it was created.")
    unreadable: UnreadableFlag | None = None


RESOURCES = resource_schemas(ConversationSummaryResource, ConversationResource, ForkResource)

MODE_PARAM = params.enum_param(
    "mode", ListMode, "Which conversations of each tree to show.", ListMode.LATEST_FORK
)
_PATH = "/v1/conversations/{id}"
OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "listConversations",
        "GET /v1/conversations",
        200,
        "List the caller's conversations, the most recently updated first.",
        response="ConversationSummary",
        query=(
            MODE_PARAM,
            params.query_param("Part of the title or of a metadata string, any letter case."),
        ),
        paging=Paging(Envelope.A, 20),
    ),
    conversation_operation(
        "createConversation",
        "POST /v1/conversations",
        201,
        "Create a conversation owned by the caller.",
        response="Conversation",
        body=requests.NewConversation,
    ),
    conversation_operation(
        "getConversation",
        f"GET {_PATH}",
        200,
        "Get a conversation.",
        response="Conversation",
    ),
    conversation_operation(
        "updateConversation",
        f"PATCH {_PATH}",
        200,
        "Change title and metadata of a conversation. What is absent stays. A null clears the "
        "title, `{}` the metadata, which are replaced as a whole.",
        response="Conversation",
        body=requests.ConversationPatch,
        answered={"title": "Documents"},
    ),
    conversation_operation(
        "deleteConversation",
        f"DELETE {_PATH}",
        204,
        "Soft-delete the whole tree of a conversation. Needs level owner.",
    ),
    conversation_operation(
        "forkConversation",
        f"POST {_PATH}/entries/{{entryId}}/fork",
        201,
        "Fork a conversation at an entry. The fork shows what comes before that entry.",
        response="Conversation",
        body=requests.NewFork,
        answered={
            "id": FORK_ID,
            "title": "Another answer",
            "forkedAtConversationId": CONVERSATION_ID,
        },
    ),
    conversation_operation(
        "listForks",
        f"GET {_PATH}/forks",
        200,
        "List every conversation of the tree, the root first.",
        response="Fork",
        paging=Paging(Envelope.B),
    ),
)

HANDLERS: dict[str, Handler] = {
    "listConversations": respond_with_page(
        requests.list_conversations, ConversationSummaryResource.render
    ),
    "createConversation": respond_with(requests.create_conversation, ConversationResource.render),
    "getConversation": respond_with(requests.get_conversation, ConversationResource.render),
    "updateConversation": respond_with(requests.update_conversation, ConversationResource.render),
    "deleteConversation": requests.delete_conversation,
    "forkConversation": respond_with(requests.fork_conversation, ConversationResource.render),
    "listForks": respond_with_page(requests.list_forks, ForkResource.render),
}
