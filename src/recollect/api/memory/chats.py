"""Operations, request bodies and resources of chats and participants."""

from typing import Annotated, ClassVar

from pydantic import Field

from recollect.api.bodies import StrictBody, exact_word
from recollect.api.memory.rows import (
    ID,
    LIST,
    OWNER,
    Instant,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, enum_param, flag_param
from recollect.api.resources import INSTANT, TEXT
from recollect.domain.chats import ParticipantKind
from recollect.domain.conversations import TITLE_CHARS_MAX
from recollect.domain.disclosure import ChatKind
from recollect.domain.people import PROVIDER_CHARS_MAX


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
