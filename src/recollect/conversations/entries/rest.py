"""The REST operations of entries: append, list, sync."""

from json.encoder import encode_basestring

from recollect.conversations.entries import requests
from recollect.conversations.entries.append import SyncOutcome
from recollect.conversations.entries.entry import (
    Channel,
    Entry,
    EntryOrder,
    EpochFilter,
    ForkFilter,
)
from recollect.http import params
from recollect.http.call import Handler, respond_with, respond_with_page
from recollect.http.examples import CONVERSATION_ID, ENTRY_ID, INSTANT_EXAMPLE, NOTE_ID, USER_ID
from recollect.http.operation import Envelope, Operation, Paging, conversation_operation
from recollect.http.params import Param, Schema
from recollect.http.schemas import (
    BOOLEAN,
    INSTANT,
    INTEGER,
    TEXT,
    UNREADABLE,
    UUID,
    describe,
    nullable_schema,
    object_schema,
    schema_ref,
)
from recollect.identity.actions import Action
from recollect.kernel.clock import to_text
from recollect.kernel.errors import InvalidInput
from recollect.kernel.strict_json import dump

EPOCH_MAX = 2**63 - 1
_EPOCH: Schema = INTEGER | {"minimum": 1}


def entry_schema(**optional: Schema) -> Schema:
    """The schema of what `to_entry` renders, with these further optional fields."""
    return object_schema(
        {
            "id": describe(UUID, "The id of the entry.", ENTRY_ID),
            "conversationId": describe(
                UUID, "The conversation that it was written in.", CONVERSATION_ID
            ),
            "channel": describe(
                requests.CHANNEL, "`history` is for all members, `memory` for the client alone."
            ),
            "contentType": describe(
                TEXT,
                "What `content` is: `history` for messages, else a name of the client's.",
                "history",
            ),
            "content": describe(
                {"type": "array", "items": {}},
                "The messages, or the client's own items.",
                [{"role": "USER", "text": "Which documents do I need for Bern?"}],
            ),
            "createdAt": describe(INSTANT, "When it was written."),
        },
        {
            "userId": describe(TEXT, "Whose entry it is.", USER_ID),
            "epoch": describe(_EPOCH, "The epoch of a memory entry."),
            "removed": describe(BOOLEAN, "That the entry was deleted: `content` has only roles."),
            "unreadable": UNREADABLE,
        }
        | optional,
    )


_NOTE = {
    "id": NOTE_ID,
    "conversationId": CONVERSATION_ID,
    "channel": "memory",
    "epoch": 1,
    "contentType": "notes",
    "content": [{"note": "answers in German"}],
    "createdAt": INSTANT_EXAMPLE,
}
RESOURCES: dict[str, Schema] = {
    "Entry": entry_schema(),
    "SyncOutcome": object_schema(
        {
            "epoch": describe(nullable_schema(_EPOCH), "The epoch that is current now.", 1),
            "noOp": describe(BOOLEAN, "Whether nothing had to be stored."),
            "epochIncremented": describe(BOOLEAN, "Whether a new epoch began.", False),
            "entry": describe(
                nullable_schema(schema_ref("Entry")), "The entry that was stored.", _NOTE
            ),
        }
    ),
}


def entry_filters(epoch: EpochFilter) -> tuple[Param, ...]:
    """The filters and the order of a list of entries; `epoch` is the default of that filter."""
    number = {"type": "integer", "minimum": 1, "maximum": EPOCH_MAX}
    words = {"type": "string", "enum": ["latest", "all"]}
    schema = {"anyOf": [words, number], "default": epoch}
    return (
        params.enum_param("channel", Channel, "Only this channel."),
        Param("epoch", _read_epoch, schema, "Which epoch of memory entries to show.", epoch),
        params.enum_param("forks", ForkFilter, "One branch, or the whole tree.", ForkFilter.NONE),
        params.enum_param(
            "order",
            EntryOrder,
            "The oldest or the newest first; `asc` if absent. `after` follows it.",
        ),
        params.count_param(
            "tail",
            "The last so many, the oldest of them first. Not with `order`, `after` or `limit`.",
        ),
    )


def _read_epoch(value: str) -> EpochFilter:
    match value.lower():
        case "latest":
            return "latest"
        case "all":
            return "all"
    if not (value.isascii() and value.isdigit() and value.strip("0")):
        # The contract calls a bad epoch a broken rule, not bad syntax.
        raise InvalidInput("epoch must be latest, all or an integer from 1", field="epoch")
    if len(value) > len(str(EPOCH_MAX)) or int(value) > EPOCH_MAX:
        raise ValueError(f"must be at most {EPOCH_MAX}")
    return int(value)


_PATH = "/v1/conversations/{id}/entries"
OPERATIONS: tuple[Operation, ...] = (
    conversation_operation(
        "appendEntry",
        f"POST {_PATH}",
        201,
        "Append an entry. An unknown conversation id is created with this entry, owned by the "
        "caller; with `forkedAtConversationId` it becomes a fork.",
        response="Entry",
        body=requests.AppendBody,
    ),
    conversation_operation(
        "listEntries",
        f"GET {_PATH}",
        200,
        "List the entries of a conversation by position, inherited ones included. An unknown "
        "conversation id gives an empty page. Memory entries are shown to the client that wrote "
        "them.",
        response="Entry",
        query=entry_filters("latest"),
        paging=Paging(Envelope.A, 50),
    ),
    conversation_operation(
        "syncEntries",
        f"POST {_PATH}/sync",
        200,
        "Make a client's memory equal to a list. The answer says whether anything was stored and "
        "whether a new epoch began. Needs an API key.",
        response="SyncOutcome",
        action=Action.SYNC,
        body=requests.SyncBody,
    ),
    # Behind `sync`, which would be taken for an id: the first path that fits is the route.
    conversation_operation(
        "deleteEntry",
        f"DELETE {_PATH}/{{entryId}}",
        204,
        "Delete an entry of the history in all branches that show it. A marker with `removed` "
        "stays at its position; titles, previews, the index and memories made of it alone follow. "
        "One's own needs level writer, somebody else's level manager.",
    ),
)


def to_entry(entry: Entry, *, admin: bool = False) -> str:
    """An entry; admins see which client wrote it."""
    # Built by hand, because this is the hottest renderer. Ids, enums and times need no escaping,
    # the content is JSON text already, and `encode_basestring` escapes the rest.
    parts = [f'{{"id":"{entry.id}","conversationId":"{entry.conversation_id}"']
    if entry.user_id is not None:
        parts.append(f'"userId":{encode_basestring(entry.user_id)}')
    if admin and entry.client_id is not None:
        parts.append(f'"clientId":{encode_basestring(entry.client_id)}')
    parts.append(f'"channel":"{entry.channel}"')
    if entry.epoch is not None:
        parts.append(f'"epoch":{entry.epoch}')
    parts.append(f'"contentType":{encode_basestring(entry.content_type)}')
    parts.append(f'"content":{entry.content},"createdAt":"{to_text(entry.created_at)}"')
    if entry.unreadable:
        parts.append('"unreadable":true')
    if entry.removed_at is not None:
        parts.append('"removed":true')
    return ",".join(parts) + "}"


def to_sync_outcome(outcome: SyncOutcome) -> str:
    """What a sync did, always with all four fields."""
    entry = "null" if outcome.entry is None else to_entry(outcome.entry)
    return (
        f'{{"epoch":{dump(outcome.epoch)},"noOp":{dump(outcome.no_op)},'
        f'"epochIncremented":{dump(outcome.epoch_incremented)},"entry":{entry}}}'
    )


HANDLERS: dict[str, Handler] = {
    "appendEntry": respond_with(requests.append_entry, to_entry),
    "deleteEntry": requests.delete_entry,
    "listEntries": respond_with_page(requests.list_entries, to_entry),
    "syncEntries": respond_with(requests.sync_entries, to_sync_outcome),
}
