"""Request bodies of memberships and ownership transfers, and the call of the service that each
request makes, for REST and gRPC."""

from collections.abc import Awaitable
from typing import Annotated

from pydantic import Field, WithJsonSchema

from recollect.conversations.commands import (
    ChangeMembership,
    OfferOwnership,
    ShareConversation,
)
from recollect.conversations.requests import path_conversation_id
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.service import SharingService
from recollect.conversations.sharing.transfer import Transfer
from recollect.conversations.sharing.transfer_service import TransferService
from recollect.http.bodies import Body, OffByDefault, UserIdText, UuidText, word_validator
from recollect.http.call import Call
from recollect.http.examples import CONVERSATION_ID, OTHER_USER_ID
from recollect.http.schemas import LEVEL
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, TransferId, UserId
from recollect.kernel.pages import Page

LevelWord = Annotated[
    Level, word_validator({level.word: level for level in Level}), WithJsonSchema(LEVEL)
]


class NewMembership(Body):
    """Somebody to share with."""

    user_id: UserIdText = Field(description="Who is to be a member.", examples=[OTHER_USER_ID])
    access_level: LevelWord = Field(
        description="What they may do in the tree.", examples=["writer"]
    )
    confirmed: OffByDefault = Field(
        default=False,
        description="Whether they have agreed to take part. Only an admin or a trusted client "
        "may say so.",
    )


class MembershipPatch(Body):
    """A member's new level."""

    access_level: LevelWord = Field(
        description="What they may do from now on.", examples=["manager"]
    )


class NewTransfer(Body):
    """An offer to hand over a conversation's tree."""

    conversation_id: UuidText = Field(
        description="A conversation of the tree.", examples=[CONVERSATION_ID]
    )
    new_owner_user_id: UserIdText = Field(
        description="The member who is to own it.", examples=[OTHER_USER_ID]
    )


def list_memberships(call: Call) -> Awaitable[Page[Membership]]:
    return call.services[SharingService].list(
        call.principal, path_conversation_id(call), after=call.page.after, limit=call.page.limit
    )


def share_conversation(call: Call) -> Awaitable[Membership]:
    """Add a member, or replace a member's level."""
    body: NewMembership = call.body
    command = ShareConversation(
        path_conversation_id(call), UserId(body.user_id), body.access_level, body.confirmed
    )
    return call.services[SharingService].share(
        call.principal, command, reserved_id=call.reserved_id
    )


def update_membership(call: Call) -> Awaitable[Membership]:
    body: MembershipPatch = call.body
    command = ChangeMembership(path_conversation_id(call), _path_user_id(call), body.access_level)
    return call.services[SharingService].change(call.principal, command)


def delete_membership(call: Call) -> Awaitable[None]:
    """Remove a member, or leave."""
    return call.services[SharingService].remove(
        call.principal, path_conversation_id(call), _path_user_id(call)
    )


def list_transfers(call: Call) -> Awaitable[Page[Transfer]]:
    return call.services[TransferService].list(
        call.principal, role=call.query["role"], after=call.page.after, limit=call.page.limit
    )


def create_transfer(call: Call) -> Awaitable[Transfer]:
    """Offer a tree to a member."""
    body: NewTransfer = call.body
    command = OfferOwnership(ConversationId(body.conversation_id), UserId(body.new_owner_user_id))
    return call.services[TransferService].create(
        call.principal, command, reserved_id=call.reserved_id
    )


def get_transfer(call: Call) -> Awaitable[Transfer]:
    return call.services[TransferService].get(call.principal, _path_transfer_id(call))


def accept_transfer(call: Call) -> Awaitable[None]:
    """Become the owner."""
    return call.services[TransferService].accept(
        call.principal, _path_transfer_id(call), reserved_id=call.reserved_id
    )


def delete_transfer(call: Call) -> Awaitable[None]:
    """Cancel or reject."""
    return call.services[TransferService].delete(call.principal, _path_transfer_id(call))


def _path_user_id(call: Call) -> UserId:
    return UserId(call.path["userId"])


def _path_transfer_id(call: Call) -> TransferId:
    return TransferId(call.path["transferId"])
