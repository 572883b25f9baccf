"""The REST operations of admins over everybody's conversations. The service methods write the
audit events."""

from collections.abc import Awaitable
from functools import partial
from typing import Annotated

from pydantic import Field, WithJsonSchema

from recollect.audit.model import AuditOutcome, Event, EventFilter, EventKind
from recollect.conversations.admin_service import AdminFilter, AdminService
from recollect.conversations.entries.requests import entry_query
from recollect.conversations.entries.rest import entry_filters, entry_schema, to_entry
from recollect.conversations.model import Conversation, ConversationWithLevel
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.rest import (
    MODE_PARAM,
    ConversationSummaryResource,
    ForkPointFields,
    ForkResource,
)
from recollect.conversations.sharing.rest import to_membership
from recollect.http import params
from recollect.http.call import Call, Handler, respond_with, respond_with_page
from recollect.http.examples import EVENT_ID
from recollect.http.operation import Envelope, Operation, Paging, admin_operation
from recollect.http.resource import (
    IdText,
    InstantText,
    JsonObject,
    SparseResource,
    optional_attribute,
    resource_schemas,
)
from recollect.http.schemas import LEVEL, TEXT, describe
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.kernel.pages import Page

# The log has the words of the levels, as they were then.
LevelWord = Annotated[str, WithJsonSchema(LEVEL)]


class AdminConversationSummaryResource(ConversationSummaryResource):
    """A conversation in an admin's list."""

    deleted_at: InstantText | None = optional_attribute(
        "conversation.deleted_at", description="When its tree was deleted; absent while it is not."
    )


class AdminConversationResource(ForkPointFields, AdminConversationSummaryResource):
    """A conversation as an admin sees it."""


class EventResource(SparseResource):
    """An event of the audit log."""

    id: IdText = Field(description="The id of the event.", examples=[EVENT_ID])
    at: InstantText = Field(description="When it happened.")
    kind: EventKind = Field(description="What sort of event it is.", examples=["admin_read"])
    action: str = Field(description="What was done.", examples=["listConversations"])
    outcome: AuditOutcome = Field(description="Whether it was allowed.")
    actor_user_id: str | None = Field(
        default=None, description="The user who did it.", examples=["root"]
    )
    actor_client_id: str | None = Field(
        default=None, description="The client that called for them."
    )
    role: str | None = Field(default=None, description="The role by which it was allowed.")
    conversation_id: str | None = Field(
        default=None, description="The conversation that it was done to."
    )
    target_user_id: str | None = Field(default=None, description="The user that it was done to.")
    from_level: LevelWord | None = Field(default=None, description="The level before.")
    to_level: LevelWord | None = Field(default=None, description="The level after.")
    transfer_id: IdText | None = Field(
        default=None, description="The ownership transfer that it belongs to."
    )
    params: JsonObject | None = optional_attribute("details", description="What was asked for.")
    count: int | None = Field(default=None, description="How many rows it was about.")
    justification: str | None = Field(default=None, description="The reason that was given.")


RESOURCES = {
    **resource_schemas(AdminConversationSummaryResource, AdminConversationResource, EventResource),
    "AdminEntry": entry_schema(clientId=describe(TEXT, "The client that wrote it.")),
}

_PATH = "/v1/admin/conversations/{id}"
OPERATIONS: tuple[Operation, ...] = (
    admin_operation(
        "adminListConversations",
        "GET /v1/admin/conversations",
        200,
        "List anybody's conversations, soft-deleted ones on request.",
        response="AdminConversationSummary",
        audit="listConversations",
        query=(
            MODE_PARAM,
            params.text_param("userId", "Owner of the conversation.", chars_max=USER_ID_CHARS_MAX),
            params.flag_param("includeDeleted", "Show soft-deleted trees too."),
            params.flag_param("onlyDeleted", "Show soft-deleted trees alone."),
            params.instant_param(
                "deletedAfter", "Deleted at or after this instant; implies onlyDeleted."
            ),
            params.instant_param(
                "deletedBefore", "Deleted before this instant; implies onlyDeleted."
            ),
        ),
        paging=Paging(Envelope.B, 100),
    ),
    admin_operation(
        "adminGetConversation",
        f"GET {_PATH}",
        200,
        "Get anybody's conversation, a soft-deleted one too.",
        response="AdminConversation",
        audit="getConversation",
    ),
    admin_operation(
        "adminDeleteConversation",
        f"DELETE {_PATH}",
        204,
        "Soft-delete the whole tree of a conversation.",
        audit="deleteConversation",
    ),
    admin_operation(
        "adminRestoreConversation",
        f"POST {_PATH}/restore",
        200,
        "Restore a soft-deleted tree. The owner's membership comes back, others don't.",
        response="AdminConversation",
        audit="restoreConversation",
        refusals=(409,),
    ),
    admin_operation(
        "adminListEntries",
        f"GET {_PATH}/entries",
        200,
        "List the entries of a conversation, every client's memory included.",
        response="AdminEntry",
        audit="listEntries",
        query=entry_filters("all"),
        paging=Paging(Envelope.A, 50),
    ),
    admin_operation(
        "adminListMemberships",
        f"GET {_PATH}/memberships",
        200,
        "List who belongs to the tree of a conversation.",
        response="Membership",
        audit="listMemberships",
        paging=Paging(Envelope.B),
    ),
    admin_operation(
        "adminListForks",
        f"GET {_PATH}/forks",
        200,
        "List every conversation of a tree, soft-deleted ones too.",
        response="Fork",
        audit="listForks",
        paging=Paging(Envelope.B),
    ),
    admin_operation(
        "adminListEvents",
        "GET /v1/admin/events",
        200,
        "List the audit log, the newest event first.",
        response="Event",
        audit="listEvents",
        query=(
            params.enum_param("kind", EventKind, "Only this kind."),
            params.text_param("action", "Only this action.", chars_max=100),
            params.text_param("actorUserId", "Who did it.", chars_max=USER_ID_CHARS_MAX),
            params.text_param("targetUserId", "To whom.", chars_max=USER_ID_CHARS_MAX),
            params.uuid_param("conversationId", "Where."),
            params.instant_param("from", "Not before this instant."),
            params.instant_param("to", "Before this instant."),
        ),
        paging=Paging(Envelope.A, 100),
    ),
)


def _list_conversations(call: Call) -> Awaitable[Page[ConversationWithLevel]]:
    query = call.query
    filters = AdminFilter(
        mode=query["mode"],
        user_id=query["userId"],
        include_deleted=query["includeDeleted"],
        only_deleted=query["onlyDeleted"],
        deleted_after=query["deletedAfter"],
        deleted_before=query["deletedBefore"],
    )
    return call.services[AdminService].list_conversations(
        call.principal,
        filters,
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )


def _get_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    return call.services[AdminService].get_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )


def _delete_conversation(call: Call) -> Awaitable[None]:
    return call.services[AdminService].delete_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )


def _restore_conversation(call: Call) -> Awaitable[ConversationWithLevel]:
    return call.services[AdminService].restore_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )


async def _list_entries(call: Call) -> bytes:
    page = await call.services[AdminService].list_entries(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )
    return call.render_page(map(partial(to_entry, admin=True), page.items), page.next_cursor)


async def _list_memberships(call: Call) -> bytes:
    page = await call.services[AdminService].list_memberships(
        call.principal,
        path_conversation_id(call),
        after=call.page.after,
        limit=call.page.limit,
        justification=call.justification,
    )
    items = (to_membership(call, membership) for membership in page.items)
    return call.render_page(items, page.next_cursor)


def _list_forks(call: Call) -> Awaitable[Page[Conversation]]:
    return call.services[AdminService].list_forks(
        call.principal,
        path_conversation_id(call),
        after=call.page.after,
        limit=call.page.limit,
        justification=call.justification,
    )


def _list_events(call: Call) -> Awaitable[Page[Event]]:
    query = call.query
    filters = EventFilter(
        kind=query["kind"],
        action=query["action"],
        actor_user_id=query["actorUserId"],
        target_user_id=query["targetUserId"],
        conversation_id=query["conversationId"],
        since=query["from"],
        until=query["to"],
    )
    return call.services[AdminService].list_events(
        call.principal,
        filters,
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )


HANDLERS: dict[str, Handler] = {
    "adminListConversations": respond_with_page(
        _list_conversations, AdminConversationSummaryResource.render
    ),
    "adminGetConversation": respond_with(_get_conversation, AdminConversationResource.render),
    "adminDeleteConversation": _delete_conversation,
    "adminRestoreConversation": respond_with(
        _restore_conversation, AdminConversationResource.render
    ),
    "adminListEntries": _list_entries,
    "adminListMemberships": _list_memberships,
    "adminListForks": respond_with_page(_list_forks, ForkResource.render),
    "adminListEvents": respond_with_page(_list_events, EventResource.render),
}
