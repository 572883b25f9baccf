"""The memory family over gRPC behind the calls of REST: bodies and queries become messages, answers
become the JSON of REST. Nothing of the way in which the server reads them takes part."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from recollect.kernel.space import SpaceKind
from tests.support.api import Credentials, Reply
from tests.support.grpc.api import STATUS, TIMEOUT_SECONDS, GrpcApi, bytes_of, metadata_of
from tests.support.grpc.messages import Inexpressible, fill_value, struct_of
from tests.support.grpc.protocol import is_struct, new_request, path_of, protocol

SERVICE = "MemoriesService"
PATCH = "UpdateMemory"
# What REST takes as null in a change.
CLEARABLE = {
    "expires_at",
    "retention_policy",
    "sensitivity",
    "ttl_seconds",
    "valid_from",
    "valid_until",
}
# Messages that stand for a list, and answers that are one.
LISTS = {"TextList": "values", "MemoryMessages": "items"}
PAGES = {
    "ListMemoriesResponse": "memories",
    "SearchMemoriesResponse": "hits",
    "GetHistoryResponse": "items",
}
# Members that REST leaves out where there is nothing to say.
LEFT_OUT = {
    "Memory": {"embedding", "unreadable"},
    "HistoryItem": {"content", "value", "unreadable"},
    "Explanation": {"score"},
    "SearchMemoriesResponse": {"withheld"},
    "BatchItemResult": {"id", "error", "warnings"},
}
NOT_SYNTAX = {"requester_required", "requester_invalid"}
_PYTHON = {
    FieldDescriptor.CPPTYPE_STRING: (str,),
    FieldDescriptor.CPPTYPE_BOOL: (bool,),
    FieldDescriptor.CPPTYPE_DOUBLE: (int, float),
    FieldDescriptor.CPPTYPE_INT32: (int,),
    FieldDescriptor.CPPTYPE_INT64: (int,),
}


@dataclass(frozen=True, slots=True)
class Route:
    """A method, and the status of its success over REST."""

    method: str
    status: int = 200


ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "/memories"): Route("CreateMemory", 201),
    ("POST", "/memories/batch"): Route("BatchMemories"),
    ("POST", "/memories/search"): Route("SearchMemories"),
    ("POST", "/memories/recall"): Route("RecallMemories"),
    ("GET", "/memories"): Route("ListMemories"),
    ("GET", "/memories/{}"): Route("GetMemory"),
    ("PATCH", "/memories/{}"): Route(PATCH),
    ("DELETE", "/memories/{}"): Route("DeleteMemory", 204),
    ("POST", "/memories/{}/move"): Route("MoveMemory", 201),
    ("GET", "/memories/{}/history"): Route("GetHistory"),
    ("GET", "/memories/{}/explain"): Route("ExplainMemory"),
}


class MemoriesApi(GrpcApi):
    """Both families over gRPC. REST is called for operations without a method and for what no
    message says: unknown members, values of another type, aliases."""

    def request(
        self,
        method: str,
        path: str,
        credentials: Credentials,
        ids: tuple[str, ...] = (),
        *,
        query: Mapping[str, Any],
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Call the method that is the other way to this path."""
        route = ROUTES.get((method, path))
        try:
            if route is None:
                raise Inexpressible
            message = request_of(route, ids, query, body=body)
            metadata = metadata_of(credentials) + _key(headers or {})
        except Inexpressible:
            return super().request(
                method, path, credentials, ids, query=query, body=body, headers=headers
            )
        return self.ask(route, message, metadata)

    def ask(self, route: Route, message: Message, metadata: Any) -> Reply:
        """Send a message; the answer, or the refusal, as REST shows it."""
        method = protocol().methods[f"{SERVICE}/{route.method}"]
        answer_of = GetMessageClass(method.output_type).FromString
        call: Any = self.channel.unary_unary(path_of(method), bytes_of, answer_of)
        try:
            answer = call(message, timeout=TIMEOUT_SECONDS, metadata=metadata)
        except grpc.RpcError as error:
            return refusal_of(error)
        return reply_of(route, answer)


def request_of(route: Route, ids: tuple[str, ...], query: Mapping[str, Any], *, body: Any) -> Any:
    """The message of a call, or `Inexpressible`."""
    message = new_request(protocol().methods[f"{SERVICE}/{route.method}"])
    members = dict(body if body is not None else _read(query))
    if route.method == PATCH:
        members = _changes(members)
    if route.method == "BatchMemories":
        members |= {"items": [_item(item) for item in members.get("items", ())]}
    if ids:
        if "memory_id" in members:
            raise Inexpressible
        members["memory_id"] = ids[0]
    put(message, _with_filters(message, members))
    try:
        message.SerializeToString()
    except (EncodeError, ValueError):
        raise Inexpressible from None
    return message


def put(message: Any, members: Any) -> None:
    """Put the members of a JSON object into the fields of their names; null is absent."""
    if not isinstance(members, Mapping):
        raise Inexpressible
    for name, value in members.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise Inexpressible
        if value is not None:
            _put_field(message, field, value)


def json_of(message: Any) -> Any:
    """A message as REST shows it."""
    kind = message.DESCRIPTOR.name
    members = {field.name: _member(message, field) for field in message.DESCRIPTOR.fields}
    left_out = LEFT_OUT.get(kind, ())
    members = {n: v for n, v in members.items() if n not in left_out or not _says_nothing(v)}
    if kind == "MemoryHit":
        return members.pop("memory") | members
    if kind in PAGES:
        members["data"] = members.pop(PAGES[kind])
        members["next_cursor"] = members["next_cursor"] or None
    return members


def _says_nothing(value: Any) -> bool:
    return value is None or value is False or value == []


def reply_of(route: Route, answer: Message) -> Reply:
    """An answer with the status of REST."""
    if route.status == 204:
        return Reply(204, None, {})
    shown = json_of(answer)
    if route.method != PATCH:
        return Reply(route.status, shown, {})
    return Reply(202, shown, {}) if shown["approval_id"] else Reply(200, shown["memory"], {})


def refusal_of(error: Any) -> Reply:
    """A refusal with the status of REST."""
    trailers = {name: str(value) for name, value in error.trailing_metadata() or ()}
    code = trailers["error-code"]
    status = STATUS[error.code()]
    if status == 400 and code not in NOT_SYNTAX:
        status = 422
    details = json.loads(trailers["error-details"])
    return Reply(status, {"error": error.details(), "code": code, "details": details}, trailers)


def _key(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if headers.keys() - {"Idempotency-Key"} or not all(v.isascii() for v in headers.values()):
        raise Inexpressible
    return tuple((name.lower(), value) for name, value in headers.items())


def _read(query: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as members. A space that is none is told of by another name than over REST."""
    members = dict(query)
    for name in ("tags", "types", "subjects"):
        if isinstance(members.get(name), str):
            members[name] = [members[name]]
    if members.get("spaces", "all") != "all":
        asked = members["spaces"]
        members["spaces"] = [_space(one) for one in ([asked] if isinstance(asked, str) else asked)]
    return members


def _space(word: str) -> dict[str, str]:
    kind, colon, space_id = word.partition(":")
    if kind not in list(SpaceKind) or (colon and not space_id):
        raise Inexpressible
    return {"kind": kind} | ({"id": space_id} if colon else {})


def _with_filters(message: Any, members: dict[str, Any]) -> dict[str, Any]:
    """Filters in a message of their own."""
    described = message.DESCRIPTOR.fields_by_name.get("filters")
    if described is None:
        return members
    names = described.message_type.fields_by_name.keys()
    filters = {name: value for name, value in members.items() if name in names}
    if filters.get("spaces") == "all":
        filters = filters | {"spaces": None, "all_spaces": True}
    rest = {name: value for name, value in members.items() if name not in names}
    return rest | {"filters": filters}


def _changes(members: dict[str, Any]) -> dict[str, Any]:
    cleared = [name for name, value in members.items() if value is None and name in CLEARABLE]
    return {n: v for n, v in members.items() if n not in cleared} | {"clear": cleared}


def _item(item: Any) -> dict[str, Any]:
    members = dict(item) if isinstance(item, Mapping) else {}
    op = members.pop("op", None)
    if op not in ("create", "update", "delete"):
        raise Inexpressible
    if op == "update":
        members = _changes(members)
    if op != "create" and "id" in members:
        members["memory_id"] = members.pop("id")
    return {op: members}


def _put_field(message: Any, field: FieldDescriptor, value: Any) -> None:
    target = getattr(message, field.name)
    kind = field.message_type
    if is_struct(field):
        _put_struct(target, value)
    elif kind is not None and kind.name in LISTS:
        target.SetInParent()
        put(target, {LISTS[kind.name]: value})
    elif field.is_repeated:
        for item in _items(value):
            target.append(_scalar(field, item)) if kind is None else put(target.add(), item)
    elif kind is not None:
        target.SetInParent()
        put(target, value)
    else:
        _set(message, field, value)


def _set(message: Any, field: FieldDescriptor, value: Any) -> None:
    try:
        setattr(message, field.name, _scalar(field, value))
    except ValueError:  # an integer that the field has no room for
        raise Inexpressible from None


def _put_struct(target: Any, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise Inexpressible
    target.SetInParent()
    for name, member in value.items():
        fill_value(target.fields[name], member)


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Inexpressible
    return value


def _scalar(field: FieldDescriptor, value: Any) -> Any:
    kinds = _PYTHON[field.cpp_type]
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise Inexpressible
    return value


def _member(message: Any, field: FieldDescriptor) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [json_of(one) for one in value] if field.message_type else list(value)
    if field.has_presence and not message.HasField(field.name):
        return None
    if field.message_type is None:
        return value
    return struct_of(value) if is_struct(field) else json_of(value)
