"""The services' side of what admins and auditors may do."""

from functools import partial

from recollect.audit.model import EventFilter, EventKind
from recollect.conversations.admin_service import AdminFilter, AdminService
from recollect.conversations.eviction import EvictionService
from recollect.conversations.model import ListMode
from recollect.conversations.render import (
    to_conversation,
    to_entry,
    to_event,
    to_fork,
    to_hit,
    to_membership,
    to_summary,
)
from recollect.doctor.health import StatusService
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.kernel.strict_json import dump
from recollect.search.entries.service import EntrySearchService
from recollect.text.dates.durations import CHARS_MAX as DURATION_CHARS_MAX
from recollect.text.dates.durations import Duration, parse_duration
from tests.support.services.arguments import CallArguments, Inexpressible, needed
from tests.support.services.calls import ServiceCall, entry_query, search_request


async def list_conversations(asked: CallArguments) -> bytes:
    """Anybody's conversations."""
    query = asked.query
    page = await asked.services[AdminService].list_conversations(
        asked.principal,
        AdminFilter(
            mode=query.word("mode", ListMode) or ListMode.LATEST_FORK,
            user_id=query.user("userId"),
            include_deleted=query.flag("includeDeleted", False),
            only_deleted=query.flag("onlyDeleted", False),
            deleted_after=query.instant("deletedAfter"),
            deleted_before=query.instant("deletedBefore"),
        ),
        justification=asked.justification,
        **asked.page(100),
    )
    return asked.to_page(map(partial(to_summary, admin=True), page.items), page.next_cursor)


async def search(asked: CallArguments) -> bytes:
    """Search everybody's trees."""
    request = search_request(asked.body)
    if not request.query.strip():
        raise Inexpressible
    page = await asked.services[EntrySearchService].search_all(
        asked.principal,
        request,
        user_id=asked.body.user("userId"),
        include_deleted=asked.body.flag("includeDeleted", False),
        justification=asked.justification,
    )
    items = map(partial(to_hit, admin=True), page.items)
    return asked.to_page(items, page.next_cursor, degraded=page.degraded)


async def get_conversation(asked: CallArguments) -> str:
    """Anybody's conversation."""
    seen = await asked.services[AdminService].get_conversation(
        asked.principal, asked.conversation_id, justification=asked.justification
    )
    return to_conversation(seen, admin=True)


async def delete_conversation(asked: CallArguments) -> None:
    """Soft-delete anybody's tree."""
    await asked.services[AdminService].delete_conversation(
        asked.principal, asked.conversation_id, justification=asked.justification
    )


async def restore_conversation(asked: CallArguments) -> str:
    """Bring a soft-deleted tree back."""
    seen = await asked.services[AdminService].restore_conversation(
        asked.principal, asked.conversation_id, justification=asked.justification
    )
    return to_conversation(seen, admin=True)


async def list_entries(asked: CallArguments) -> bytes:
    """The entries of every client."""
    page = await asked.services[AdminService].list_entries(
        asked.principal,
        asked.conversation_id,
        entry_query(asked, "all"),
        justification=asked.justification,
        **asked.page(50),
    )
    return asked.to_page(map(partial(to_entry, admin=True), page.items), page.next_cursor)


async def list_memberships(asked: CallArguments) -> bytes:
    """The members of anybody's tree."""
    conversation_id = asked.conversation_id
    page = await asked.services[AdminService].list_memberships(
        asked.principal, conversation_id, justification=asked.justification, **asked.page(None)
    )
    items = (to_membership(member, conversation_id) for member in page.items)
    return asked.to_page(items, page.next_cursor)


async def list_forks(asked: CallArguments) -> bytes:
    """The conversations of anybody's tree."""
    page = await asked.services[AdminService].list_forks(
        asked.principal,
        asked.conversation_id,
        justification=asked.justification,
        **asked.page(None),
    )
    return asked.to_page(map(to_fork, page.items), page.next_cursor)


async def list_events(asked: CallArguments) -> bytes:
    """The audit log."""
    query = asked.query
    page = await asked.services[AdminService].list_events(
        asked.principal,
        EventFilter(
            kind=query.word("kind", EventKind),
            action=query.text("action", 100),
            actor_user_id=query.text("actorUserId", USER_ID_CHARS_MAX),
            target_user_id=query.text("targetUserId", USER_ID_CHARS_MAX),
            conversation_id=query.uuid("conversationId"),
            since=query.instant("from"),
            until=query.instant("to"),
        ),
        justification=asked.justification,
        **asked.page(100),
    )
    return asked.to_page(map(to_event, page.items), page.next_cursor)


async def get_health(asked: CallArguments) -> str:
    """The state of the server in detail."""
    return dump(await asked.services[StatusService].report())


async def evict(asked: CallArguments) -> None:
    """Remove what was deleted long ago, and wait for the end."""
    removed = asked.body.items("resourceTypes", 1)
    if asked.query.flag("async", False) or removed != ["conversations"]:
        raise Inexpressible
    eviction = await asked.services[EvictionService].begin(
        asked.principal, _period(asked), justification=asked.justification
    )
    await eviction.wait()


def _period(asked: CallArguments) -> Duration:
    try:
        return parse_duration(needed(asked.body.text("retentionPeriod", DURATION_CHARS_MAX)))
    except ValueError:
        raise Inexpressible from None


ADMIN_CALLS: dict[str, ServiceCall] = {
    "adminListConversations": list_conversations,
    "adminSearchConversations": search,
    "adminGetConversation": get_conversation,
    "adminDeleteConversation": delete_conversation,
    "adminRestoreConversation": restore_conversation,
    "adminListEntries": list_entries,
    "adminListMemberships": list_memberships,
    "adminListForks": list_forks,
    "adminListEvents": list_events,
    "adminGetHealth": get_health,
    "adminEvict": evict,
}
