"""gRPC methods of memories. A request message becomes a REST-like request with the same fields, the
REST handler runs, and its JSON becomes the response message."""

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from recollect.api import inputs
from recollect.api.grpc.dispatch import Asked, MemoryMethod
from recollect.api.grpc.generated import memories_pb2 as pb
from recollect.api.grpc.json_messages import fill, to_members
from recollect.api.handlers import MEMORY_HANDLERS
from recollect.api.memory import MEMORY_OPERATIONS
from recollect.api.memory.filters import FilterBody
from recollect.api.memory.memories import MemoryPatch
from recollect.domain.memories import IMMUTABLE_FIELDS
from recollect.errors import ValidationFailed
from recollect.services.filters import ALL

Members = dict[str, Any]
_CLEARABLE = sorted(MemoryPatch.nullable - IMMUTABLE_FIELDS)
_HIT = ("score", "stages", "why")


def ask_to_create(message: pb.CreateMemoryRequest) -> Asked:
    return Asked(body=to_members(message))


def ask_to_batch(message: pb.BatchMemoriesRequest) -> Asked:
    items = [_item(item, f"items[{index}].") for index, item in enumerate(message.items)]
    return Asked(body=to_members(message) | {"items": items})


def ask_to_search(message: pb.SearchMemoriesRequest) -> Asked:
    return Asked(body=_flat(to_members(message)))


def ask_to_recall(message: pb.RecallMemoriesRequest) -> Asked:
    return Asked(body=_flat(to_members(message)))


def ask_for_list(message: pb.ListMemoriesRequest) -> Asked:
    """The filters as query parameters, which is how REST takes them."""
    filters = _flat({"filters": to_members(message.filters)})
    query = {name: _parameter(name, value) for name, value in filters.items()}
    return Asked(query=query, after=message.after, limit=_limit(message))


def ask_for_one(message: pb.GetMemoryRequest) -> Asked:
    return _named(message)


def ask_to_update(message: pb.UpdateMemoryRequest) -> Asked:
    members = _changes(message)
    return Asked(path=_path(members.pop("memory_id", "")), body=members)


def ask_to_delete(message: pb.DeleteMemoryRequest) -> Asked:
    return _named(message)


def ask_to_move(message: pb.MoveMemoryRequest) -> Asked:
    members = to_members(message)
    return Asked(path=_path(members.pop("memory_id", "")), body=members)


def ask_for_history(message: pb.GetHistoryRequest) -> Asked:
    return Asked(path=_path(message.memory_id), after=message.after, limit=_limit(message))


def ask_to_explain(message: pb.ExplainMemoryRequest) -> Asked:
    return _named(message)


def tell_update(told: Members) -> pb.UpdateMemoryResponse:
    """The memory, or the id of the approval that the change waits for."""
    answer = pb.UpdateMemoryResponse()
    fill(answer, told if "approval_id" in told else {"memory": told})
    return answer


def tell_hits(told: Members) -> pb.SearchMemoriesResponse:
    """REST puts the score into each memory; the message has it beside the memory."""
    answer = pb.SearchMemoriesResponse()
    fill(answer, told | {"hits": list(map(_hit, told["data"]))})
    return answer


def tell_recall(told: Members) -> pb.RecallMemoriesResponse:
    answer = pb.RecallMemoriesResponse()
    fill(answer, told | {"items": list(map(_hit, told["items"]))})
    return answer


def tell_nothing(_: Any) -> Empty:
    return Empty()


def _tell(kind: type[Message]) -> Callable[[Members], Message]:
    def tell(told: Members) -> Message:
        answer = kind()
        fill(answer, told)
        return answer

    return tell


def _tell_page(kind: type[Message], items: str) -> Callable[[Members], Message]:
    tell = _tell(kind)
    return lambda told: tell(told | {items: told["data"]})


def _hit(told: Members) -> Members:
    return {"memory": told} | {name: told[name] for name in _HIT}


def _item(item: pb.BatchItem, where: str) -> Members:
    match item.WhichOneof("op"):
        case "create":
            return {"op": "create"} | to_members(item.create)
        case "update":
            changes = _changes(item.update, where)
            return {"op": "update", "id": changes.pop("memory_id", "")} | changes
        case "delete":
            removal = to_members(item.delete)
            return {"op": "delete", "id": removal.pop("memory_id", "")} | removal
    return {}


def _changes(message: pb.UpdateMemoryRequest, where: str = "") -> Members:
    """The fields of an update. Protobuf has no null, so `clear` lists the fields that REST would
    get as null. `where` is the prefix of field names in errors."""
    members = to_members(message)
    cleared = members.pop("clear", [])
    for name in cleared:
        if name not in MemoryPatch.nullable:
            wanted = f"must name fields of {', '.join(_CLEARABLE)}"
            raise ValidationFailed.of(f"{where}clear", wanted, allowed=_CLEARABLE)
        if name in members:
            raise ValidationFailed.of(f"{where}clear", f"`{name}` is also set: set it or clear it")
    return members | dict.fromkeys(cleared)


def _flat(members: Members) -> Members:
    """The fields with `filters` moved to the top level, where REST has them."""
    filters = members.pop("filters", {})
    if filters.pop("all_spaces", False):
        if "spaces" in filters:
            raise ValidationFailed.of("all_spaces", "must not be sent with `spaces`")
        filters["spaces"] = ALL
    return {**members, **filters}


def _parameter(name: str, value: Any) -> list[str]:
    """A filter as the values of a query parameter."""
    # Checked before it becomes the text `kind:id`, in which a missing kind would not show.
    if name == "spaces" and value != ALL:
        inputs.from_value({name: value}, FilterBody)
        return [":".join(space.values()) for space in value]
    if isinstance(value, list):
        return value
    return [str(value).lower() if isinstance(value, bool) else value]


def _named(message: Message) -> Asked:
    """A request with the memory's id in its path, and all other fields as query parameters."""
    members = to_members(message)
    path = _path(members.pop("memory_id", ""))
    return Asked(path=path, query={name: [value] for name, value in members.items()})


def _path(memory_id: str) -> Mapping[str, str]:
    if not memory_id:
        raise ValidationFailed.of("memory_id", "must name a memory")
    return {"memory_id": memory_id}


def _limit(message: pb.ListMemoriesRequest | pb.GetHistoryRequest) -> int | None:
    return message.limit if message.HasField("limit") else None


def _method(name: str, ask: Callable[[Any], Asked], tell: Callable[[Any], Message]) -> MemoryMethod:
    return MemoryMethod(_OPERATION_OF[name], MEMORY_HANDLERS[name], ask, tell)


_OPERATION_OF = {operation.name: operation for operation in MEMORY_OPERATIONS}
_WRITTEN = _tell(pb.WriteResult)
MEMORY_METHODS: dict[str, MemoryMethod] = {
    "MemoriesService/CreateMemory": _method("createMemory", ask_to_create, _WRITTEN),
    "MemoriesService/BatchMemories": _method(
        "batchMemories", ask_to_batch, _tell(pb.BatchMemoriesResponse)
    ),
    "MemoriesService/SearchMemories": _method("searchMemories", ask_to_search, tell_hits),
    "MemoriesService/RecallMemories": _method("recallMemories", ask_to_recall, tell_recall),
    "MemoriesService/ListMemories": _method(
        "listMemories", ask_for_list, _tell_page(pb.ListMemoriesResponse, "memories")
    ),
    "MemoriesService/GetMemory": _method("getMemory", ask_for_one, _tell(pb.Memory)),
    "MemoriesService/UpdateMemory": _method("updateMemory", ask_to_update, tell_update),
    "MemoriesService/DeleteMemory": _method("deleteMemory", ask_to_delete, tell_nothing),
    "MemoriesService/MoveMemory": _method("moveMemory", ask_to_move, _WRITTEN),
    "MemoriesService/GetHistory": _method(
        "getHistory", ask_for_history, _tell_page(pb.GetHistoryResponse, "items")
    ),
    "MemoriesService/ExplainMemory": _method(
        "explainMemory", ask_to_explain, _tell(pb.Explanation)
    ),
}
