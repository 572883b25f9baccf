"""Handlers of chats and participants, shared by REST and gRPC."""

from recollect.api.calls import Call, Handler, Reply
from recollect.api.handlers.paths import path_id
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.chats import ChatBody, ParticipantBody
from recollect.domain.chats import Chat
from recollect.domain.jsontext import dump
from recollect.domain.spaces import ChatId, to_chat_id
from recollect.services.chats import ChatDraft
from recollect.services.participants import NewParticipant
from recollect.services.stays import Participation


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
    chat, made = await call.services.chats.put(call.required_requester, draft)
    return Reply(201, chat_to_json(chat).encode()) if made else chat_to_json(chat)


async def list_chats(call: Call) -> bytes:
    page = await call.services.chats.list(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(chat_to_json, page.items), page.next_cursor)


async def get_chat(call: Call) -> str:
    return chat_to_json(await call.services.chats.get(call.required_requester, _chat_id(call)))


async def list_participants(call: Call) -> bytes:
    page = await call.services.participants.list(
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
    stay = await call.services.participants.add(call.required_requester, _chat_id(call), newcomer)
    return participant_to_json(stay)


async def delete_participant(call: Call) -> None:
    member_id = path_id(call, "member_id", "participant")
    await call.services.participants.remove(
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
