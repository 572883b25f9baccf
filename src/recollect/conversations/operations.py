"""The table of operations of the conversation, admin and system families.

A row describes an operation completely, except for the code that runs it. REST and gRPC use the
table for routing, for checks and for the OpenAPI documents. A test fails if an adapter and the
table differ.
"""

from typing import Any

from recollect.audit.model import EventKind
from recollect.conversations import bodies
from recollect.conversations.entries.entry import Channel, EpochFilter, ForkFilter
from recollect.conversations.entries.params import epoch_param
from recollect.conversations.model import ListMode
from recollect.conversations.sharing.transfer import TransferRole
from recollect.http import params
from recollect.http.operation import (
    PLAIN_TEXT,
    Envelope,
    Operation,
    OperationFamily,
    Paging,
)
from recollect.http.params import Param
from recollect.identity.actions import Action
from recollect.kernel.ids import USER_ID_CHARS_MAX

_MODE_PARAM = params.enum_param(
    "mode", ListMode, "Which conversations of each tree to show.", ListMode.LATEST_FORK
)
_OWNER_PARAM = params.text_param(
    "userId", "Owner of the conversation.", chars_max=USER_ID_CHARS_MAX
)


def _entry_filters(epoch: EpochFilter) -> tuple[Param, ...]:
    return (
        params.enum_param("channel", Channel, "Only this channel."),
        epoch_param(epoch),
        params.enum_param("forks", ForkFilter, "One branch, or the whole tree.", ForkFilter.NONE),
    )


_EVENT_FILTERS = (
    params.enum_param("kind", EventKind, "Only this kind."),
    params.text_param("action", "Only this action.", chars_max=100),
    params.text_param("actorUserId", "Who did it.", chars_max=USER_ID_CHARS_MAX),
    params.text_param("targetUserId", "To whom.", chars_max=USER_ID_CHARS_MAX),
    params.uuid_param("conversationId", "Where."),
    params.instant_param("from", "Not before this instant."),
    params.instant_param("to", "Before this instant."),
)
_DELETION_FILTERS = (
    params.flag_param("includeDeleted", "Show soft-deleted trees too."),
    params.flag_param("onlyDeleted", "Show soft-deleted trees alone."),
    params.instant_param("deletedAfter", "Deleted at or after this instant; implies onlyDeleted."),
    params.instant_param("deletedBefore", "Deleted before this instant; implies onlyDeleted."),
)

_A, _B, _C = Envelope.A, Envelope.B, Envelope.C
_CONVERSATION_PATH = "/v1/conversations/{id}"
_TRANSFER_PATH = "/v1/ownership-transfers/{transferId}"
_ADMIN_CONVERSATION_PATH = "/v1/admin/conversations/{id}"


def _user_operation(name: str, call: str, success: int, description: str, **rest: Any) -> Operation:
    method, path = call.split(" ")
    return Operation(
        name, OperationFamily.CONVERSATIONS, method, path, description, success, **rest
    )


def _admin_operation(
    name: str, call: str, success: int, description: str, **rest: Any
) -> Operation:
    method, path = call.split(" ")
    rest.setdefault("action", Action.ADMIN_READ if method == "GET" else Action.ADMIN_WRITE)
    rest.setdefault("body", bodies.Justified)
    return Operation(name, OperationFamily.ADMIN, method, path, description, success, **rest)


def _system_operation(name: str, call: str, description: str, **rest: Any) -> Operation:
    method, path = call.split(" ")
    return Operation(
        name, OperationFamily.SYSTEM, method, path, description, 200, open=True, **rest
    )


# The entry rows come first: routes are tried in this order, and appends are the most frequent.
_ENTRIES = (
    _user_operation(
        "appendEntry",
        f"POST {_CONVERSATION_PATH}/entries",
        201,
        "Append an entry. An unknown conversation id is created with this entry, owned by the "
        "caller; with `forkedAtConversationId` it becomes a fork.",
        response="Entry",
        body=bodies.AppendBody,
    ),
    _user_operation(
        "listEntries",
        f"GET {_CONVERSATION_PATH}/entries",
        200,
        "List the entries of a conversation in order, inherited ones included. An unknown "
        "conversation id gives an empty page. Memory entries are shown to the client that wrote "
        "them.",
        response="Entry",
        query=_entry_filters("latest"),
        paging=Paging(_A, 50),
    ),
    _user_operation(
        "syncEntries",
        f"POST {_CONVERSATION_PATH}/entries/sync",
        200,
        "Make a client's memory equal to a list. The answer says whether anything was stored and "
        "whether a new epoch began. Needs an API key.",
        response="SyncOutcome",
        action=Action.SYNC,
        body=bodies.SyncBody,
    ),
    _user_operation(
        "forkConversation",
        f"POST {_CONVERSATION_PATH}/entries/{{entryId}}/fork",
        201,
        "Fork a conversation at an entry. The fork shows what comes before that entry.",
        response="Conversation",
        body=bodies.NewFork,
    ),
)

# These must come before the rows with `{id}` in the same position, which would match them too.
_SEARCH = (
    _user_operation(
        "searchConversations",
        "POST /v1/conversations/search",
        200,
        "Search the history of the caller's conversations, by words, by meaning or by both. "
        "A blank query finds nothing. `degraded` names the stages that failed, if any.",
        response="SearchResult",
        body=bodies.SearchBody,
        paging=Paging(_A, search=True),
        refusals=(501,),
    ),
    _user_operation(
        "indexEntries",
        "POST /v1/conversations/index",
        200,
        "Give history entries the texts that search shall find them by. All are stored, or none. "
        "Needs the role indexer.",
        response="IndexOutcome",
        action=Action.INDEX,
        body=bodies.IndexBatch,
        refusals=(404,),
    ),
    _user_operation(
        "listUnindexed",
        "GET /v1/conversations/unindexed",
        200,
        "List history entries that have no text to be found by, the oldest first. Needs the role "
        "indexer.",
        response="UnindexedEntry",
        action=Action.INDEX,
        paging=Paging(_C, 100),
    ),
)

_CONVERSATIONS = (
    _user_operation(
        "listConversations",
        "GET /v1/conversations",
        200,
        "List the caller's conversations, the most recently updated first.",
        response="ConversationSummary",
        query=(
            _MODE_PARAM,
            params.query_param("Part of the title or of a metadata string, any letter case."),
        ),
        paging=Paging(_A, 20),
    ),
    _user_operation(
        "createConversation",
        "POST /v1/conversations",
        201,
        "Create a conversation owned by the caller.",
        response="Conversation",
        body=bodies.NewConversation,
    ),
    _user_operation(
        "getConversation",
        f"GET {_CONVERSATION_PATH}",
        200,
        "Get a conversation.",
        response="Conversation",
    ),
    _user_operation(
        "updateConversation",
        f"PATCH {_CONVERSATION_PATH}",
        200,
        "Rename a conversation. An absent title stays, null clears it.",
        response="Conversation",
        body=bodies.ConversationPatch,
    ),
    _user_operation(
        "deleteConversation",
        f"DELETE {_CONVERSATION_PATH}",
        204,
        "Soft-delete the whole tree of a conversation. Needs level owner.",
    ),
    _user_operation(
        "listForks",
        f"GET {_CONVERSATION_PATH}/forks",
        200,
        "List every conversation of the tree, the root first.",
        response="Fork",
        paging=Paging(_B),
    ),
)

_SHARING = (
    _user_operation(
        "listMemberships",
        f"GET {_CONVERSATION_PATH}/memberships",
        200,
        "List who belongs to the tree of a conversation.",
        response="Membership",
        paging=Paging(_B),
    ),
    _user_operation(
        "shareConversation",
        f"POST {_CONVERSATION_PATH}/memberships",
        201,
        "Share the tree of a conversation. For a member the level is replaced.",
        response="Membership",
        body=bodies.NewMembership,
        refusals=(409,),
    ),
    _user_operation(
        "updateMembership",
        f"PATCH {_CONVERSATION_PATH}/memberships/{{userId}}",
        200,
        "Change a member's level.",
        response="Membership",
        body=bodies.MembershipPatch,
        refusals=(409,),
    ),
    _user_operation(
        "deleteMembership",
        f"DELETE {_CONVERSATION_PATH}/memberships/{{userId}}",
        204,
        "Remove a member, or leave. Removing nobody succeeds too.",
        refusals=(400, 409),
    ),
    _user_operation(
        "listOwnershipTransfers",
        "GET /v1/ownership-transfers",
        200,
        "List the pending transfers that the caller takes part in, the newest first.",
        response="OwnershipTransfer",
        query=(
            params.lenient_enum_param(
                "role",
                TransferRole,
                "The caller's side: all, sender or recipient. Any other word means all.",
                TransferRole.ALL,
            ),
        ),
        paging=Paging(_B),
    ),
    _user_operation(
        "createOwnershipTransfer",
        "POST /v1/ownership-transfers",
        201,
        "Offer the ownership of a tree to one of its members.",
        response="OwnershipTransfer",
        body=bodies.NewTransfer,
        refusals=(404, 409),
    ),
    _user_operation(
        "getOwnershipTransfer",
        f"GET {_TRANSFER_PATH}",
        200,
        "Get a pending transfer. Only its two sides see it.",
        response="OwnershipTransfer",
    ),
    _user_operation(
        "acceptOwnershipTransfer",
        f"POST {_TRANSFER_PATH}/accept",
        204,
        "Accept a transfer. The recipient becomes owner, the former owner manager.",
    ),
    _user_operation(
        "deleteOwnershipTransfer",
        f"DELETE {_TRANSFER_PATH}",
        204,
        "Cancel or reject a transfer.",
    ),
)

_RESPONSES = (
    _user_operation(
        "recordResponse",
        f"POST {_CONVERSATION_PATH}/response",
        200,
        "Record a response while it is being made: the body is its text, sent as it comes. Answers "
        "at the end, with how it ended. Needs level writer.",
        response="RecordOutcome",
        takes=PLAIN_TEXT,
        refusals=(400, 409, 413, 415),
    ),
    _user_operation(
        "replayResponse",
        f"GET {_CONVERSATION_PATH}/response",
        200,
        "Follow a response that is being recorded, from its beginning or from behind the place "
        "that `Last-Event-ID` names, as server-sent events. 204 if there is nothing to follow.",
        media="text/event-stream",
        refusals=(400, 502),
    ),
    _user_operation(
        "cancelResponse",
        f"DELETE {_CONVERSATION_PATH}/response",
        200,
        "End the recording of a response. Answers once it is closed, also if there was none. Needs "
        "level writer.",
        media=PLAIN_TEXT,
        refusals=(409, 502),
    ),
)

_ADMIN = (
    _admin_operation(
        "adminListConversations",
        "GET /v1/admin/conversations",
        200,
        "List anybody's conversations, soft-deleted ones on request.",
        response="AdminConversationSummary",
        audit="listConversations",
        query=(_MODE_PARAM, _OWNER_PARAM, *_DELETION_FILTERS),
        paging=Paging(_B, 100),
    ),
    _admin_operation(
        "adminSearchConversations",
        "POST /v1/admin/conversations/search",
        200,
        "Search anybody's conversations, soft-deleted ones on request.",
        response="AdminSearchResult",
        action=Action.ADMIN_READ,
        audit="searchConversations",
        body=bodies.AdminSearchBody,
        paging=Paging(_A, search=True),
        refusals=(501,),
    ),
    _admin_operation(
        "adminGetConversation",
        f"GET {_ADMIN_CONVERSATION_PATH}",
        200,
        "Get anybody's conversation, a soft-deleted one too.",
        response="AdminConversation",
        audit="getConversation",
    ),
    _admin_operation(
        "adminDeleteConversation",
        f"DELETE {_ADMIN_CONVERSATION_PATH}",
        204,
        "Soft-delete the whole tree of a conversation.",
        audit="deleteConversation",
    ),
    _admin_operation(
        "adminRestoreConversation",
        f"POST {_ADMIN_CONVERSATION_PATH}/restore",
        200,
        "Restore a soft-deleted tree. The owner's membership comes back, others don't.",
        response="AdminConversation",
        audit="restoreConversation",
        refusals=(409,),
    ),
    _admin_operation(
        "adminListEntries",
        f"GET {_ADMIN_CONVERSATION_PATH}/entries",
        200,
        "List the entries of a conversation, every client's memory included.",
        response="AdminEntry",
        audit="listEntries",
        query=_entry_filters("all"),
        paging=Paging(_A, 50),
    ),
    _admin_operation(
        "adminListMemberships",
        f"GET {_ADMIN_CONVERSATION_PATH}/memberships",
        200,
        "List who belongs to the tree of a conversation.",
        response="Membership",
        audit="listMemberships",
        paging=Paging(_B),
    ),
    _admin_operation(
        "adminListForks",
        f"GET {_ADMIN_CONVERSATION_PATH}/forks",
        200,
        "List every conversation of a tree, soft-deleted ones too.",
        response="Fork",
        audit="listForks",
        paging=Paging(_B),
    ),
    _admin_operation(
        "adminEvict",
        "POST /v1/admin/evict",
        204,
        "Remove for good what was soft-deleted longer ago than a period. Answers when done, or "
        "with a stream of progress when asked by `async` or by `Accept: text/event-stream`; the "
        "run goes on when the caller hangs up.",
        audit="evict",
        body=bodies.Evict,
        query=(params.flag_param("async", "Answer with a stream of progress."),),
    ),
    _admin_operation(
        "adminListEvents",
        "GET /v1/admin/events",
        200,
        "List the audit log, the newest event first.",
        response="Event",
        audit="listEvents",
        query=_EVENT_FILTERS,
        paging=Paging(_A, 100),
    ),
    _admin_operation(
        "adminGetHealth",
        "GET /v1/admin/health",
        200,
        "Get the state of the server in detail.",
        response="HealthReport",
    ),
)

_SYSTEM = (
    _system_operation(
        "getHealth",
        "GET /v1/health",
        "Say whether the server and its database answer. Needs no credentials.",
        response="Health",
        refusals=(503,),
    ),
    _system_operation(
        "getMetrics",
        "GET /metrics",
        "Get counters in the Prometheus text format. They hold no content and no ids, and need "
        "no credentials: keep the path off the public network.",
        media="text/plain",
    ),
    _system_operation(
        "getOpenapi",
        "GET /openapi.json",
        "Get the description of the user operations.",
        response="Document",
    ),
    _system_operation(
        "getAdminOpenapi",
        "GET /openapi-admin.json",
        "Get the description of the admin operations.",
        response="Document",
    ),
    _system_operation(
        "getMemoriesOpenapi",
        "GET /openapi-memories.json",
        "Get the description of the memory operations.",
        response="Document",
    ),
)

OPERATIONS: tuple[Operation, ...] = (
    *_ENTRIES,
    *_SEARCH,
    *_CONVERSATIONS,
    *_SHARING,
    *_RESPONSES,
    *_ADMIN,
    *_SYSTEM,
)
