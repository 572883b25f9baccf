"""REST handlers of admin operations. The service methods write the audit events."""

from functools import partial

from recollect.audit.model import EventFilter
from recollect.conversations.admin_service import AdminFilter, AdminService
from recollect.conversations.render import (
    to_conversation,
    to_entry,
    to_event,
    to_fork,
    to_membership,
    to_summary,
)
from recollect.conversations.requests import entry_query, path_conversation_id
from recollect.http.call import Call, Handler


async def list_conversations(call: Call) -> bytes:
    """A page of all users' conversations."""
    page = await call.services[AdminService].list_conversations(
        call.principal,
        _conversation_filter(call),
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )
    return call.render_page(map(partial(to_summary, admin=True), page.items), page.next_cursor)


async def get_conversation(call: Call) -> str:
    """One conversation of any user."""
    seen = await call.services[AdminService].get_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )
    return to_conversation(seen, admin=True)


async def delete_conversation(call: Call) -> None:
    """Soft-delete the tree of any user."""
    await call.services[AdminService].delete_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )


async def restore_conversation(call: Call) -> str:
    """Restore a soft-deleted tree."""
    seen = await call.services[AdminService].restore_conversation(
        call.principal, path_conversation_id(call), justification=call.justification
    )
    return to_conversation(seen, admin=True)


async def list_entries(call: Call) -> bytes:
    """A page of entries, with the memory of every client."""
    page = await call.services[AdminService].list_entries(
        call.principal,
        path_conversation_id(call),
        entry_query(call),
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )
    return call.render_page(map(partial(to_entry, admin=True), page.items), page.next_cursor)


async def list_memberships(call: Call) -> bytes:
    """The members of any tree."""
    conversation_id = path_conversation_id(call)
    page = await call.services[AdminService].list_memberships(
        call.principal,
        conversation_id,
        after=call.page.after,
        limit=call.page.limit,
        justification=call.justification,
    )
    items = (to_membership(membership, conversation_id) for membership in page.items)
    return call.render_page(items, page.next_cursor)


async def list_forks(call: Call) -> bytes:
    """The conversations of any tree."""
    page = await call.services[AdminService].list_forks(
        call.principal,
        path_conversation_id(call),
        after=call.page.after,
        limit=call.page.limit,
        justification=call.justification,
    )
    return call.render_page(map(to_fork, page.items), page.next_cursor)


async def list_events(call: Call) -> bytes:
    page = await call.services[AdminService].list_events(
        call.principal,
        _event_filter(call),
        after=call.page.after,
        limit=call.page.size,
        justification=call.justification,
    )
    return call.render_page(map(to_event, page.items), page.next_cursor)


def _conversation_filter(call: Call) -> AdminFilter:
    query = call.query
    return AdminFilter(
        mode=query["mode"],
        user_id=query["userId"],
        include_deleted=query["includeDeleted"],
        only_deleted=query["onlyDeleted"],
        deleted_after=query["deletedAfter"],
        deleted_before=query["deletedBefore"],
    )


def _event_filter(call: Call) -> EventFilter:
    query = call.query
    return EventFilter(
        kind=query["kind"],
        action=query["action"],
        actor_user_id=query["actorUserId"],
        target_user_id=query["targetUserId"],
        conversation_id=query["conversationId"],
        since=query["from"],
        until=query["to"],
    )


HANDLERS: dict[str, Handler] = {
    "adminListConversations": list_conversations,
    "adminGetConversation": get_conversation,
    "adminDeleteConversation": delete_conversation,
    "adminRestoreConversation": restore_conversation,
    "adminListEntries": list_entries,
    "adminListMemberships": list_memberships,
    "adminListForks": list_forks,
    "adminListEvents": list_events,
}
