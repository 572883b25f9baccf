"""REST handlers of memberships."""

from recollect.conversations.bodies import MembershipPatch, NewMembership
from recollect.conversations.render import to_membership
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.sharing.service import SharingService
from recollect.http.call import Call, Handler
from recollect.kernel.ids import UserId


async def list_memberships(call: Call) -> bytes:
    """The members of the tree, each with the conversation id of the path."""
    conversation_id = path_conversation_id(call)
    page = await call.services[SharingService].list(
        call.principal, conversation_id, after=call.page.after, limit=call.page.limit
    )
    items = (to_membership(membership, conversation_id) for membership in page.items)
    return call.render_page(items, page.next_cursor)


async def share_conversation(call: Call) -> str:
    """Add a member, or replace a member's level."""
    body: NewMembership = call.body
    conversation_id = path_conversation_id(call)
    membership = await call.services[SharingService].share(
        call.principal, conversation_id, UserId(body.user_id), body.access_level
    )
    return to_membership(membership, conversation_id)


async def update_membership(call: Call) -> str:
    body: MembershipPatch = call.body
    conversation_id = path_conversation_id(call)
    membership = await call.services[SharingService].change(
        call.principal, conversation_id, _path_user_id(call), body.access_level
    )
    return to_membership(membership, conversation_id)


async def delete_membership(call: Call) -> None:
    """Remove a member, or leave."""
    await call.services[SharingService].remove(
        call.principal, path_conversation_id(call), _path_user_id(call)
    )


def _path_user_id(call: Call) -> UserId:
    return UserId(call.path["userId"])


HANDLERS: dict[str, Handler] = {
    "listMemberships": list_memberships,
    "shareConversation": share_conversation,
    "updateMembership": update_membership,
    "deleteMembership": delete_membership,
}
