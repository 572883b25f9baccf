"""Ids in paths: UUIDs in the conversation API, any text in the memory API."""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.http.call import Call
from recollect.http.examples import (
    AGENT_ID,
    API_KEY_ID,
    APPROVAL_ID,
    CHAT_ID,
    CLAIM_ID,
    CONVERSATION_ID,
    ENTITY_ID,
    ENTRY_ID,
    ERASURE_ID,
    MEMORY_ID,
    OTHER_USER_ID,
    PERSON_ID,
    ROLLBACK_ID,
    RUN_ID,
    TRANSFER_ID,
)
from recollect.kernel import strict_json
from recollect.kernel.errors import NotFound, ValidationFailed
from recollect.kernel.ids import USER_ID_CHARS_MAX, UUID_RULE, parse_uuid
from recollect.kernel.validation import NAME_CHARS_MAX


@dataclass(frozen=True, slots=True)
class PathId:
    """An id in paths, for the API documents."""

    description: str
    example: str


PATH_IDS: Mapping[str, PathId] = {
    "agent_id": PathId("The agent.", AGENT_ID),
    "approval_id": PathId("The request for approval.", APPROVAL_ID),
    "asset": PathId("The name of a file that the pages use.", "style.css"),
    "chat_id": PathId("The chat, or the root of a tree of conversations.", CHAT_ID),
    "claim_id": PathId("The claim: the id of the relationship.", CLAIM_ID),
    "entity_id": PathId("The entity; for a person the person's id.", ENTITY_ID),
    "entryId": PathId("The entry.", ENTRY_ID),
    "erasure_id": PathId("The erasure.", ERASURE_ID),
    "id": PathId("The conversation.", CONVERSATION_ID),
    "keyId": PathId("The API key: its id, not the key itself.", API_KEY_ID),
    "member_id": PathId("The user, person or agent.", OTHER_USER_ID),
    "memory_id": PathId("The memory.", MEMORY_ID),
    "person_id": PathId("The person.", PERSON_ID),
    "rollback_id": PathId("The rollback.", ROLLBACK_ID),
    "run_id": PathId("The run.", RUN_ID),
    "transferId": PathId("The ownership transfer.", TRANSFER_ID),
    "userId": PathId("The member, by the user's id.", OTHER_USER_ID),
    "value": PathId("The name or the handle.", "Caro"),
}
_RESOURCES = {
    "id": "conversation",
    "entryId": "entry",
    "transferId": "transfer",
    "keyId": "api_key",
}
_RESOURCE_ALIASES = {"member_id": "participant", "claim_id": "claim", "value": "claim"}


def parse_path_ids(path: Mapping[str, str]) -> dict[str, str]:
    """The path's ids as canonical UUIDs. One that is no UUID raises NotFound."""
    return {name: _parse_segment(name, text) for name, text in path.items()}


def check_path(path: Mapping[str, str], *, new: str | None) -> None:
    """Raise NotFound for an id that no stored text can be (NUL, lone surrogates).

    `new` is the parameter with the id of something new; the service checks that one.
    """
    for name, text in path.items():
        if name != new and strict_json.text_problem(text):
            raise NotFound(_RESOURCE_ALIASES.get(name) or name.removesuffix("_id"), text)


def check_user(path: Mapping[str, str]) -> None:
    """Check a user id in the path: unlike the other ids it may be any text within its limits."""
    user_id = path.get("userId")
    if user_id is None:
        return
    if len(user_id) > USER_ID_CHARS_MAX:
        raise ValidationFailed.for_field("userId", f"must have 1 to {USER_ID_CHARS_MAX} characters")
    strict_json.check_text(user_id, "userId")


def _parse_segment(name: str, text: str) -> str:
    resource = _RESOURCES.get(name)
    if resource is None:
        return text
    canonical = parse_uuid(text)
    if canonical is None:
        raise NotFound(resource, text, why=f"its id {UUID_RULE}")
    return canonical


def path_id(call: Call, name: str, resource: str) -> str:
    """The id in the path. NotFound if it is longer than any stored id can be."""
    text = call.path[name]
    if len(text) > NAME_CHARS_MAX:
        raise NotFound(resource, text)
    return text
