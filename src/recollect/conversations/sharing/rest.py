"""The REST operations of memberships."""

from pydantic import Field

from recollect.conversations.requests import path_conversation_id
from recollect.conversations.sharing import requests
from recollect.conversations.sharing.membership import Membership
from recollect.http.call import Call, Handler
from recollect.http.examples import CONVERSATION_ID, OTHER_USER_ID
from recollect.http.operation import Envelope, Operation, Paging, conversation_operation
from recollect.http.resource import (
    IdText,
    InstantText,
    LevelName,
    SparseResource,
    resource_schemas,
)


class MembershipResource(SparseResource):
    """A membership, under the conversation that the caller named: it belongs to the whole tree."""

    conversation_id: IdText = Field(
        description="The conversation that was asked about; the membership is in its whole tree.",
        examples=[CONVERSATION_ID],
    )
    user_id: str = Field(description="The member.", examples=[OTHER_USER_ID])
    access_level: LevelName = Field(
        description="What they may do in the tree.", examples=["writer"]
    )
    created_at: InstantText = Field(description="Since when they are a member.")


RESOURCES = resource_schemas(MembershipResource)

_PATH = "/v1/conversations/{id}/memberships"
OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "listMemberships",
        f"GET {_PATH}",
        200,
        "List who belongs to the tree of a conversation.",
        response="Membership",
        paging=Paging(Envelope.B),
    ),
    conversation_operation(
        "shareConversation",
        f"POST {_PATH}",
        201,
        "Share the tree of a conversation. For a member the level is replaced.",
        response="Membership",
        body=requests.NewMembership,
        refusals=(409,),
    ),
    conversation_operation(
        "updateMembership",
        f"PATCH {_PATH}/{{userId}}",
        200,
        "Change a member's level.",
        response="Membership",
        body=requests.MembershipPatch,
        answered={"accessLevel": "manager"},
        refusals=(409,),
    ),
    conversation_operation(
        "deleteMembership",
        f"DELETE {_PATH}/{{userId}}",
        204,
        "Remove a member, or leave. Removing nobody succeeds too.",
        refusals=(400, 409),
    ),
)


def to_membership(call: Call, membership: Membership) -> str:
    """A membership, with the conversation id of the path."""
    return MembershipResource(
        conversation_id=path_conversation_id(call),
        user_id=membership.user_id,
        access_level=membership.level,
        created_at=membership.created_at,
    ).to_json()


async def list_memberships(call: Call) -> bytes:
    """The members of the tree."""
    page = await requests.list_memberships(call)
    items = (to_membership(call, membership) for membership in page.items)
    return call.render_page(items, page.next_cursor)


async def share_conversation(call: Call) -> str:
    return to_membership(call, await requests.share_conversation(call))


async def update_membership(call: Call) -> str:
    return to_membership(call, await requests.update_membership(call))


HANDLERS: dict[str, Handler] = {
    "listMemberships": list_memberships,
    "shareConversation": share_conversation,
    "updateMembership": update_membership,
    "deleteMembership": requests.delete_membership,
}
