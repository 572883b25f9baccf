"""The gRPC surface behind the same calls as REST: requests become messages, messages answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from tests.support.api import Credentials, Reply, RestApi, headers_of
from tests.support.grpc.messages import Inexpressible, fill, members_of
from tests.support.grpc.protocol import new_request, path_of, protocol

TIMEOUT_SECONDS = 60
STATUS = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 413,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
}

_PAGE = {"after": "page_token", "limit": "page_size"}
_RENAMED = {"epoch": "epoch_filter"}
Metadata = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Route:
    """How an operation is called: its method, the fields of its ids, the field of its body, the
    status of its success over REST. Of a list: the field of its items, the name of its cursor, and
    whether that is there on the last page too."""

    method: str
    ids: tuple[str, ...] = ()
    body: str = ""
    status: int = 200
    items: str = ""
    cursor: str = "nextCursor"
    always: bool = True


_CONVERSATIONS, _ENTRIES, _SEARCH = "ConversationsService", "EntriesService", "SearchService"
_MEMBERSHIPS, _TRANSFERS = "ConversationMembershipsService", "OwnershipTransfersService"
_ONE, _MEMBER = ("conversation_id",), ("conversation_id", "member_user_id")
ROUTES: dict[str, Route] = {
    "health": Route("SystemService/GetHealth"),
    "list_conversations": Route(f"{_CONVERSATIONS}/ListConversations", items="conversations"),
    "create_conversation": Route(f"{_CONVERSATIONS}/CreateConversation", status=201),
    "get_conversation": Route(f"{_CONVERSATIONS}/GetConversation", _ONE),
    "update_conversation": Route(f"{_CONVERSATIONS}/UpdateConversation", _ONE),
    "delete_conversation": Route(f"{_CONVERSATIONS}/DeleteConversation", _ONE, status=204),
    "fork": Route(
        f"{_CONVERSATIONS}/ForkConversation", ("conversation_id", "entry_id"), status=201
    ),
    "list_forks": Route(f"{_CONVERSATIONS}/ListForks", _ONE, items="forks", always=False),
    "list_entries": Route(f"{_ENTRIES}/ListEntries", _ONE, items="entries"),
    "append": Route(f"{_ENTRIES}/AppendEntry", _ONE, body="entry", status=201),
    "sync": Route(f"{_ENTRIES}/SyncEntries", _ONE, body="entry"),
    "delete_entry": Route(f"{_ENTRIES}/DeleteEntry", ("conversation_id", "entry_id"), status=204),
    "search": Route(f"{_SEARCH}/SearchConversations", items="results"),
    "index": Route(f"{_SEARCH}/IndexConversations", body="entries"),
    "unindexed": Route(f"{_SEARCH}/ListUnindexedEntries", items="entries", cursor="cursor"),
    "list_memberships": Route(
        f"{_MEMBERSHIPS}/ListMemberships", _ONE, items="memberships", always=False
    ),
    "share": Route(f"{_MEMBERSHIPS}/ShareConversation", _ONE, status=201),
    "change_membership": Route(f"{_MEMBERSHIPS}/UpdateMembership", _MEMBER),
    "remove_membership": Route(f"{_MEMBERSHIPS}/DeleteMembership", _MEMBER, status=204),
    "list_transfers": Route(
        f"{_TRANSFERS}/ListOwnershipTransfers", items="transfers", always=False
    ),
    "create_transfer": Route(f"{_TRANSFERS}/CreateOwnershipTransfer", status=201),
    "get_transfer": Route(f"{_TRANSFERS}/GetOwnershipTransfer", ("transfer_id",)),
    "accept_transfer": Route(f"{_TRANSFERS}/AcceptOwnershipTransfer", ("transfer_id",), status=204),
    "delete_transfer": Route(f"{_TRANSFERS}/DeleteOwnershipTransfer", ("transfer_id",), status=204),
}


class Untold:
    """What gRPC does not tell: `details` of an error. Every question about it is answered with yes,
    since REST alone can prove them."""

    # Without it Python would ask for items by number, and never be told to stop.
    __iter__ = None

    def __getitem__(self, _: object) -> "Untold":
        return self

    def keys(self) -> "Untold":
        """Which members: any."""
        return self

    def __contains__(self, _: object) -> bool:
        return True

    def __eq__(self, _: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class GrpcReply(Reply):
    """An answer that came over gRPC, with trailing metadata as its headers."""

    def refused(self, status: int, code: str) -> Any:
        """The same status and code as over REST; nothing is told beside them."""
        Reply.refused(self, status, code)
        return Untold()


class GrpcApi(RestApi):
    """gRPC on the port of REST. REST itself is called for what gRPC has not: operations without a
    method, requests that no message can hold (a limit of 0, an id that is none, integers beyond
    doubles), and appends without an API key, which the method always needs."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        # A page may have any size; grpcio's clients take 4 MiB unless told otherwise.
        options = [("grpc.max_receive_message_length", -1)]
        self.channel = grpc.insecure_channel(url.removeprefix("http://"), options=options)

    def call(
        self,
        operation: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> Reply:
        """Call one operation by its method."""
        route = ROUTES.get(operation)
        if route is None or (operation == "append" and credentials.api_key is None):
            return super().call(operation, credentials, ids, query=query, body=body)
        try:
            message = request_of(route, ids, query or {}, body=body)
            metadata = metadata_of(credentials)
        except Inexpressible:
            return super().call(operation, credentials, ids, query=query, body=body)
        return self.send(route, message, metadata)

    def send(self, route: Route, message: Message | bytes, metadata: Metadata = ()) -> GrpcReply:
        """Call the method with a message, or with the bytes of something that is none."""
        method = protocol().methods[route.method]
        answer_of = GetMessageClass(method.output_type).FromString
        call = self.channel.unary_unary(path_of(method), bytes_of, answer_of)
        try:
            answer, told = call.with_call(message, timeout=TIMEOUT_SECONDS, metadata=metadata)
        except grpc.RpcError as error:
            return refusal_of(error)
        trailers = {name: str(value) for name, value in told.trailing_metadata()}
        return GrpcReply(route.status, body_of(route, answer, trailers), trailers)

    def close(self) -> None:
        """Close all connections."""
        self.channel.close()
        super().close()


def request_of(route: Route, ids: Sequence[str], query: Mapping[str, Any], *, body: Any) -> Message:
    """The message of a call, or `Inexpressible`."""
    message: Message = new_request(protocol().methods[route.method])
    fill(message, dict(zip(route.ids, ids, strict=True)))
    if isinstance(body, list) or (route.body and body is not None):
        fill(message, {route.body or "body": body})
    else:
        fill(message, body)
    fill(message, _in_message(message, query))
    try:
        message.SerializeToString()
    except (EncodeError, ValueError):
        raise Inexpressible from None
    return message


def metadata_of(credentials: Credentials) -> Metadata:
    """The metadata that carry the credentials."""
    pairs = tuple((name.lower(), value) for name, value in headers_of(credentials).items())
    if not all(value.isascii() for _, value in pairs):
        raise Inexpressible
    return pairs


def body_of(route: Route, answer: Message, trailers: Mapping[str, str]) -> Any:
    """The answer as REST shows it."""
    members = members_of(answer)
    if route.status == 204:
        return None
    if route.method.endswith("/SyncEntries"):
        return {"epoch": None, "entry": None} | members
    if not route.items:
        return members
    page = {"data": members.get(route.items, [])}
    cursor = members.get("pageInfo", members).get(_cursor_name(route, answer))
    page |= {route.cursor: cursor} if cursor or route.always else {}
    return page | ({"degraded": trailers["degraded"].split(",")} if "degraded" in trailers else {})


def refusal_of(error: Any) -> GrpcReply:
    """An error as REST shows it, without details."""
    trailers = dict(error.trailing_metadata() or ())
    code = trailers.get("error-code")
    body: dict[str, Any] = {"error": error.details(), "code": code}
    if code == "search_type_unavailable":
        body = {"error": code, "message": error.details(), "availableTypes": Untold()}
    if "existing-transfer-id" in trailers:
        body["existingTransferId"] = trailers["existing-transfer-id"]
    return GrpcReply(STATUS[error.code()], body, trailers)


def bytes_of(message: Message | bytes) -> bytes:
    """What is sent."""
    return message if isinstance(message, bytes) else message.SerializeToString()


def _in_message(message: Message, query: Mapping[str, Any]) -> dict[str, Any]:
    """Query parameters under the names of fields."""
    if "page" not in message.DESCRIPTOR.fields_by_name:
        return dict(query)
    page = {_PAGE[name]: value for name, value in query.items() if name in _PAGE}
    rest = {_RENAMED.get(n, n): value for n, value in query.items() if n not in _PAGE}
    return rest | ({"page": page} if page else {})


def _cursor_name(route: Route, answer: Message) -> str:
    if "page_info" in answer.DESCRIPTOR.fields_by_name:
        return "nextPageToken"
    return route.cursor
