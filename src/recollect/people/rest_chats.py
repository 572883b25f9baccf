"""Operations, request bodies and resources of chats and participants."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.http.bodies import StrictBody, exact_word
from recollect.http.call import Call, Handler, Reply
from recollect.http.operation import (
    ID,
    LIST,
    OWNER,
    Instant,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, enum_param, flag_param
from recollect.http.paths import path_id
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, TEXT
from recollect.kernel.ids import ChatId
from recollect.kernel.space import to_chat_id
from recollect.kernel.strict_json import dump
from recollect.people.chat import Chat, ChatKind, ParticipantKind
from recollect.people.chats_service import ChatDraft, ChatService
from recollect.people.model import PROVIDER_CHARS_MAX
from recollect.people.participants_service import NewParticipant, ParticipantService
from recollect.people.participations import Participation


class ChatBody(StrictBody):
    """A chat to make or to change; what is not sent stays, null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"title", "provider"})
    kind: Annotated[ChatKind, exact_word(ChatKind)]
    title: Annotated[str, Field(max_length=TITLE_CHARS_MAX)] | None = None
    provider: Annotated[str, Field(max_length=PROVIDER_CHARS_MAX)] | None = None


class ParticipantBody(StrictBody):
    """Somebody to bring in; without `joined_at` from now on."""

    kind: Annotated[ParticipantKind, exact_word(ParticipantKind)]
    joined_at: Instant | None = None


RESOURCES: dict[str, Schema] = {
    "Chat": resource(
        {
            "id": ID,
            "kind": {"type": "string", "enum": [str(kind) for kind in ChatKind]},
            "title": nullable_field(TEXT),
            "provider": nullable_field(TEXT),
            "tree": {"type": "boolean"},
            "created_by": OWNER,
            "created_at": INSTANT,
        }
    ),
    "Participant": resource(
        {
            "person_id": nullable_field(ID),
            "user_id": nullable_field(TEXT),
            "agent_id": nullable_field(ID),
            "joined_at": INSTANT,
            "left_at": nullable_field(INSTANT),
        }
    ),
}

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
        body=ChatBody,
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
        "List who takes part, by when they joined.",
        response="Participant",
        query=(flag_param("include_left", "Show also the stays that have ended."),),
        paging=LIST,
    ),
    memory_operation(
        "putParticipant",
        f"PUT {_PARTICIPANT_PATH}",
        200,
        "Bring a user, person or agent in; who takes part already stays as is. Needs somebody "
        "who takes part, or the creator. Only the creator, an agent or a trusted client may set "
        "`joined_at`. A private chat has one human.",
        response="Participant",
        body=ParticipantBody,
    ),
    memory_operation(
        "deleteParticipant",
        f"DELETE {_PARTICIPANT_PATH}",
        204,
        "End a stay: one's own, or as the creator or an admin anybody's.",
        query=(enum_param("kind", ParticipantKind, "Tells namesakes apart."),),
    ),
)


def chat_to_json(chat: Chat) -> str:
    return dump(
        {
            "id": chat.id,
            "kind": chat.kind,
            "title": chat.title,
            "provider": chat.provider,
            "tree": chat.tree,
            "created_by": chat.created_by.spelling,
            "created_at": instant_text(chat.created_at),
        }
    )


def participant_to_json(stay: Participation) -> str:
    return dump(
        {
            "person_id": stay.person_id,
            "user_id": stay.user_id,
            "agent_id": stay.agent_id,
            "joined_at": instant_text(stay.joined_at),
            "left_at": instant_text(stay.left_at),
        }
    )


async def put_chat(call: Call) -> str | Reply:
    body: ChatBody = call.body
    sent = {name: getattr(body, name) for name in body.model_fields_set - {"kind"}}
    # Without `path_id`, which answers 404 for an impossible id: here the id is to be created, so
    # the caller must learn what is wrong with it.
    draft = ChatDraft(id=to_chat_id(call.path["chat_id"]), kind=body.kind, members=sent)
    chat, made = await call.services[ChatService].put(call.required_requester, draft)
    return Reply(201, chat_to_json(chat).encode()) if made else chat_to_json(chat)


async def list_chats(call: Call) -> bytes:
    page = await call.services[ChatService].list(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(chat_to_json, page.items), page.next_cursor)


async def get_chat(call: Call) -> str:
    return chat_to_json(
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
    return call.render_page(map(participant_to_json, page.items), page.next_cursor)


async def put_participant(call: Call) -> str:
    body: ParticipantBody = call.body
    newcomer = NewParticipant(body.kind, call.path["member_id"], body.joined_at)
    stay = await call.services[ParticipantService].add(
        call.required_requester, _chat_id(call), newcomer
    )
    return participant_to_json(stay)


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
