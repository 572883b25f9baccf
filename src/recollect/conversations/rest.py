"""REST handlers of conversations and forks."""

from recollect.conversations.bodies import (
    ConversationPatch,
    NewConversation,
    NewFork,
)
from recollect.conversations.render import to_conversation, to_fork, to_summary
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.service import ConversationService
from recollect.http.call import Call, Handler
from recollect.kernel.ids import EntryId


async def list_conversations(call: Call) -> bytes:
    """A page of the caller's conversations."""
    page = await call.services[ConversationService].list(
        call.principal,
        mode=call.query["mode"],
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(to_summary, page.items), page.next_cursor)


async def create_conversation(call: Call) -> str:
    body: NewConversation = call.body
    seen = await call.services[ConversationService].create(
        call.principal, title=body.title, metadata=body.metadata or {}
    )
    return to_conversation(seen)


async def get_conversation(call: Call) -> str:
    seen = await call.services[ConversationService].get(call.principal, path_conversation_id(call))
    return to_conversation(seen)


async def update_conversation(call: Call) -> str:
    """Rename a conversation."""
    body: ConversationPatch = call.body
    seen = await call.services[ConversationService].rename(
        call.principal, path_conversation_id(call), body.new_title
    )
    return to_conversation(seen)


async def delete_conversation(call: Call) -> None:
    """Soft-delete a tree."""
    await call.services[ConversationService].delete(call.principal, path_conversation_id(call))


async def fork_conversation(call: Call) -> str:
    body: NewFork = call.body
    seen = await call.services[ConversationService].fork(
        call.principal, path_conversation_id(call), EntryId(call.path["entryId"]), title=body.title
    )
    return to_conversation(seen)


async def list_forks(call: Call) -> bytes:
    """The conversations of a tree."""
    page = await call.services[ConversationService].list_forks(
        call.principal, path_conversation_id(call), after=call.page.after, limit=call.page.limit
    )
    return call.render_page(map(to_fork, page.items), page.next_cursor)


HANDLERS: dict[str, Handler] = {
    "listConversations": list_conversations,
    "createConversation": create_conversation,
    "getConversation": get_conversation,
    "updateConversation": update_conversation,
    "deleteConversation": delete_conversation,
    "forkConversation": fork_conversation,
    "listForks": list_forks,
}
