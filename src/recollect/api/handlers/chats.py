"""Handlers of chats and participants, shared by REST and gRPC."""

from recollect.api.calls import Call, Handler, Reply
from recollect.api.handlers.paths import path_id
from recollect.api.handlers.shapes import instant
from recollect.api.memory.chats import ChatBody, ParticipantBody
from recollect.domain.chats import Chat
from recollect.domain.jsontext import dump
from recollect.domain.spaces import ChatId, as_chat_id
from recollect.services.chats import ChatDraft
from recollect.services.participants import Newcomer
from recollect.services.stays import Stay


def to_chat(chat: Chat) -> str:
    return dump(
        {
            "id": chat.id,
            "kind": chat.kind,
            "title": chat.title,
            "provider": chat.provider,
            "tree": chat.tree,
            "created_by": chat.created_by.spelling,
            "created_at": instant(chat.created_at),
        }
    )


def to_participant(stay: Stay) -> str:
    return dump(
        {
            "person_id": stay.person_id,
            "user_id": stay.user_id,
            "agent_id": stay.agent_id,
            "joined_at": instant(stay.joined_at),
            "left_at": instant(stay.left_at),
        }
    )


async def put_chat(call: Call) -> str | Reply:
    body: ChatBody = call.body
    sent = {name: getattr(body, name) for name in body.model_fields_set - {"kind"}}
    # Without `path_id`, which answers 404 for an impossible id: here the id is to be created, so
    # the caller must learn what is wrong with it.
    draft = ChatDraft(id=as_chat_id(call.path["chat_id"]), kind=body.kind, members=sent)
    chat, made = await call.services.chats.put(call.asker, draft)
    return Reply(201, to_chat(chat).encode()) if made else to_chat(chat)


async def list_chats(call: Call) -> bytes:
    page = await call.services.chats.list(call.asker, after=call.page.after, limit=call.page.size)
    return call.to_page(map(to_chat, page.items), page.next_cursor)


async def get_chat(call: Call) -> str:
    return to_chat(await call.services.chats.get(call.asker, _chat_of(call)))


async def list_participants(call: Call) -> bytes:
    page = await call.services.participants.list(
        call.asker,
        _chat_of(call),
        include_left=call.query["include_left"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.to_page(map(to_participant, page.items), page.next_cursor)


async def put_participant(call: Call) -> str:
    body: ParticipantBody = call.body
    newcomer = Newcomer(body.kind, call.path["member_id"], body.joined_at)
    stay = await call.services.participants.add(call.asker, _chat_of(call), newcomer)
    return to_participant(stay)


async def delete_participant(call: Call) -> None:
    member_id = path_id(call, "member_id", "participant")
    await call.services.participants.remove(
        call.asker, _chat_of(call), member_id, kind=call.query["kind"]
    )


def _chat_of(call: Call) -> ChatId:
    return as_chat_id(path_id(call, "chat_id", "chat"))


HANDLERS: dict[str, Handler] = {
    "putChat": put_chat,
    "listChats": list_chats,
    "getChat": get_chat,
    "listParticipants": list_participants,
    "putParticipant": put_participant,
    "deleteParticipant": delete_participant,
}
