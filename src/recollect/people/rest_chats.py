"""Operations and resources of chats and participants."""

from pydantic import Field

from recollect.http.call import Call, Handler, Reply
from recollect.http.examples import CHAT_ID, OTHER_PERSON_ID, OTHER_USER_ID, USER_ID
from recollect.http.operation import LIST, Operation, memory_operation
from recollect.http.params import enum_param, flag_param
from recollect.http.paths import path_id
from recollect.http.resource import (
    InstantText,
    MarkedResource,
    OwnerText,
    Resource,
    resource_schemas,
)
from recollect.kernel.ids import ChatId
from recollect.kernel.space import to_chat_id
from recollect.people.chat import ChatKind, ParticipantKind
from recollect.people.chats_service import ChatService
from recollect.people.commands import PutChat, PutParticipant
from recollect.people.participants_service import ParticipantService


class ChatResource(MarkedResource):
    """A chat."""

    id: str = Field(
        description="The id of the chat in the outside system, or of a conversation.",
        examples=[CHAT_ID],
    )
    kind: ChatKind = Field(
        description="Whether it has one human or may have several.", examples=["group"]
    )
    title: str | None = Field(description="What it is called.", examples=["Team"])
    provider: str | None = Field(description="The outside system.")
    tree: bool = Field(description="Whether it is a conversation of this server.", examples=[False])
    created_by: OwnerText = Field(description="Who made it.", examples=[USER_ID])
    created_at: InstantText = Field(description="When it was made.")


class ParticipantResource(Resource):
    """Somebody who takes part in a chat, or took part."""

    person_id: str | None = Field(
        description="The person, if the caller may know.", examples=[OTHER_PERSON_ID]
    )
    user_id: str | None = Field(description="The user, for a user.", examples=[OTHER_USER_ID])
    agent_id: str | None = Field(description="The agent, for an agent.")
    joined_at: InstantText = Field(description="Since when they take part.")
    left_at: InstantText | None = Field(
        description="Until when they took part; null while they do."
    )
    confirmed_at: InstantText | None = Field(
        description="When they agreed to take part; null for who is only invited."
    )


RESOURCES = resource_schemas(ChatResource, ParticipantResource)

_CHAT_PATH = "/v1/chats/{chat_id}"
_PARTICIPANT_PATH = f"{_CHAT_PATH}/participants/{{member_id}}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "putChat",
        f"PUT {_CHAT_PATH}",
        200,
        "Make a chat (201) or change it (200). The id is that of the outside system; who makes a "
        "chat takes part in it. A conversation is a chat under its own id and is changed there.",
        response="Chat",
        also={201: "Chat"},
        body=PutChat,
    ),
    memory_operation(
        "listChats",
        "GET /v1/chats",
        200,
        "List the chats where the caller takes part, conversations among them, the newest first.",
        response="Chat",
        paging=LIST,
    ),
    memory_operation(
        "getChat",
        f"GET {_CHAT_PATH}",
        200,
        "Get a chat where the caller takes part.",
        response="Chat",
    ),
    memory_operation(
        "listParticipants",
        f"GET {_CHAT_PATH}/participants",
        200,
        "List who takes part, by when they joined. Who has no `confirmed_at` is only invited.",
        response="Participant",
        query=(flag_param("include_left", "Show also the stays that have ended."),),
        paging=LIST,
    ),
    memory_operation(
        "putParticipant",
        f"PUT {_PARTICIPANT_PATH}",
        200,
        "Bring a user, person or agent in; who takes part already stays as is. Needs somebody "
        "who takes part, or the creator. Only the creator or a trusted client may set "
        "`joined_at`. A private chat has one human. Who is brought in by somebody else is invited "
        "until they write there or put themself in, or until an admin or a trusted client sends "
        "`confirmed`.",
        response="Participant",
        body=PutParticipant,
    ),
    memory_operation(
        "deleteParticipant",
        f"DELETE {_PARTICIPANT_PATH}",
        204,
        "End a stay: one's own, or as the creator or an admin anybody's.",
        query=(enum_param("kind", ParticipantKind, "Tells namesakes apart."),),
    ),
)


async def put_chat(call: Call) -> str | Reply:
    # Without `path_id`, which answers 404 for an impossible id: here the id is to be created, so
    # the caller must learn what is wrong with it.
    chat_id = to_chat_id(call.path["chat_id"])
    chat, is_new = await call.services[ChatService].put(call.required_requester, chat_id, call.body)
    body = ChatResource.render(chat)
    return Reply(201, body.encode()) if is_new else body


async def list_chats(call: Call) -> bytes:
    page = await call.services[ChatService].list(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(ChatResource.render, page.items), page.next_cursor)


async def get_chat(call: Call) -> str:
    return ChatResource.render(
        await call.services[ChatService].get(call.required_requester, _chat_id(call))
    )


async def list_participants(call: Call) -> bytes:
    page = await call.services[ParticipantService].list(
        call.required_requester,
        _chat_id(call),
        include_left=call.query["include_left"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(ParticipantResource.render, page.items), page.next_cursor)


async def put_participant(call: Call) -> str:
    participation = await call.services[ParticipantService].add(
        call.required_requester, _chat_id(call), call.path["member_id"], call.body
    )
    return ParticipantResource.render(participation)


async def delete_participant(call: Call) -> None:
    member_id = path_id(call, "member_id", "participant")
    await call.services[ParticipantService].remove(
        call.required_requester, _chat_id(call), member_id, kind=call.query["kind"]
    )


def _chat_id(call: Call) -> ChatId:
    return to_chat_id(path_id(call, "chat_id", "chat"))


HANDLERS: dict[str, Handler] = {
    "putChat": put_chat,
    "listChats": list_chats,
    "getChat": get_chat,
    "listParticipants": list_participants,
    "putParticipant": put_participant,
    "deleteParticipant": delete_participant,
}
