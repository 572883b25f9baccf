"""gRPC methods of memories. A request message becomes a REST-like request with the same fields, the
REST handler runs, and its JSON becomes the response message."""

from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message

from recollect.http import validation
from recollect.kernel.errors import ValidationFailed
from recollect.memories.commands import PatchMemory
from recollect.memories.filters import ALL_SPACES, MemoryFilters
from recollect.memories.model import IMMUTABLE_FIELDS
from recollect.rpc.generated import memories_pb2 as pb
from recollect.rpc.json_messages import fill_message, to_json_object
from recollect.rpc.method import GrpcRequest, MemoryGrpcMethod

JsonObject = dict[str, Any]
_CLEARABLE_FIELDS = sorted(PatchMemory.nullable - IMMUTABLE_FIELDS)
_HIT_FIELDS = ("score", "stages", "why")


def parse_create(message: pb.CreateMemoryRequest) -> GrpcRequest:
    return GrpcRequest(body=to_json_object(message))


def parse_batch(message: pb.BatchMemoriesRequest) -> GrpcRequest:
    items = [_batch_item(item, f"items[{index}].") for index, item in enumerate(message.items)]
    return GrpcRequest(body=to_json_object(message) | {"items": items})


def parse_search(message: pb.SearchMemoriesRequest) -> GrpcRequest:
    return GrpcRequest(body=_flatten_filters(to_json_object(message)))


def parse_recall(message: pb.RecallMemoriesRequest) -> GrpcRequest:
    return GrpcRequest(body=_flatten_filters(to_json_object(message)))


def parse_list(message: pb.ListMemoriesRequest) -> GrpcRequest:
    """The filters as query parameters, which is how REST takes them."""
    filters = _flatten_filters({"filters": to_json_object(message.filters)})
    query = {name: _query_values(name, value) for name, value in filters.items()}
    return GrpcRequest(query=query, after=message.after, limit=_limit(message))


def parse_get(message: pb.GetMemoryRequest) -> GrpcRequest:
    return _parse_by_id(message)


def parse_update(message: pb.UpdateMemoryRequest) -> GrpcRequest:
    members = _update_fields(message)
    return GrpcRequest(path=_path_params(members.pop("memory_id", "")), body=members)


def parse_delete(message: pb.DeleteMemoryRequest) -> GrpcRequest:
    return _parse_by_id(message)


def parse_move(message: pb.MoveMemoryRequest) -> GrpcRequest:
    members = to_json_object(message)
    return GrpcRequest(path=_path_params(members.pop("memory_id", "")), body=members)


def parse_history(message: pb.GetHistoryRequest) -> GrpcRequest:
    return GrpcRequest(
        path=_path_params(message.memory_id), after=message.after, limit=_limit(message)
    )


def parse_explain(message: pb.ExplainMemoryRequest) -> GrpcRequest:
    return _parse_by_id(message)


def update_response(result: JsonObject) -> pb.UpdateMemoryResponse:
    """The memory, or the id of the approval that the change waits for."""
    answer = pb.UpdateMemoryResponse()
    fill_message(answer, result if "approval_id" in result else {"memory": result})
    return answer


def search_response(result: JsonObject) -> pb.SearchMemoriesResponse:
    """REST puts the score into each memory; the message has it beside the memory."""
    answer = pb.SearchMemoriesResponse()
    fill_message(answer, result | {"hits": list(map(_hit_fields, result["data"]))})
    return answer


def recall_response(result: JsonObject) -> pb.RecallMemoriesResponse:
    answer = pb.RecallMemoriesResponse()
    fill_message(answer, result | {"items": list(map(_hit_fields, result["items"]))})
    return answer


def empty_response(_: Any) -> Empty:
    return Empty()


def _response_builder(kind: type[Message]) -> Callable[[JsonObject], Message]:
    def build(result: JsonObject) -> Message:
        answer = kind()
        fill_message(answer, result)
        return answer

    return build


def _page_builder(kind: type[Message], items: str) -> Callable[[JsonObject], Message]:
    build = _response_builder(kind)
    return lambda result: build(result | {items: result["data"]})


def _hit_fields(result: JsonObject) -> JsonObject:
    return {"memory": result} | {name: result[name] for name in _HIT_FIELDS}


def _batch_item(item: pb.BatchItem, where: str) -> JsonObject:
    match item.WhichOneof("op"):
        case "create":
            return {"op": "create"} | to_json_object(item.create)
        case "update":
            changes = _update_fields(item.update, where)
            return {"op": "update", "id": changes.pop("memory_id", "")} | changes
        case "delete":
            removal = to_json_object(item.delete)
            return {"op": "delete", "id": removal.pop("memory_id", "")} | removal
    return {}


def _update_fields(message: pb.UpdateMemoryRequest, where: str = "") -> JsonObject:
    """The fields of an update. Protobuf has no null, so `clear` lists the fields that REST would
    get as null. `where` is the prefix of field names in errors."""
    members = to_json_object(message)
    cleared = members.pop("clear", [])
    for name in cleared:
        if name not in PatchMemory.nullable:
            wanted = f"must name fields of {', '.join(_CLEARABLE_FIELDS)}"
            raise ValidationFailed.for_field(f"{where}clear", wanted, allowed=_CLEARABLE_FIELDS)
        if name in members:
            raise ValidationFailed.for_field(
                f"{where}clear", f"`{name}` is also set: set it or clear it"
            )
    return members | dict.fromkeys(cleared)


def _flatten_filters(members: JsonObject) -> JsonObject:
    """The fields with `filters` moved to the top level, where REST has them."""
    filters = members.pop("filters", {})
    if filters.pop("all_spaces", False):
        if "spaces" in filters:
            raise ValidationFailed.for_field("all_spaces", "must not be sent with `spaces`")
        filters["spaces"] = ALL_SPACES
    return {**members, **filters}


def _query_values(name: str, value: Any) -> list[str]:
    """A filter as the values of a query parameter."""
    # Checked before it becomes the text `kind:id`, in which a missing kind would not show.
    if name == "spaces" and value != ALL_SPACES:
        validation.validate_body({name: value}, MemoryFilters)
        return [":".join(space.values()) for space in value]
    if isinstance(value, list):
        return value
    return [str(value).lower() if isinstance(value, bool) else value]


def _parse_by_id(message: Message) -> GrpcRequest:
    """A request with the memory's id in its path, and all other fields as query parameters."""
    members = to_json_object(message)
    path = _path_params(members.pop("memory_id", ""))
    return GrpcRequest(path=path, query={n: _query_values(n, v) for n, v in members.items()})


def _path_params(memory_id: str) -> Mapping[str, str]:
    if not memory_id:
        raise ValidationFailed.for_field("memory_id", "must name a memory")
    return {"memory_id": memory_id}


def _limit(message: pb.ListMemoriesRequest | pb.GetHistoryRequest) -> int | None:
    return message.limit if message.HasField("limit") else None


def _method(
    name: str, ask: Callable[[Any], GrpcRequest], build: Callable[[Any], Message]
) -> MemoryGrpcMethod:
    return MemoryGrpcMethod(name, ask, build)


_WRITE_RESPONSE = _response_builder(pb.WriteResult)
MEMORY_METHODS: dict[str, MemoryGrpcMethod] = {
    "MemoriesService/CreateMemory": _method("createMemory", parse_create, _WRITE_RESPONSE),
    "MemoriesService/BatchMemories": _method(
        "batchMemories", parse_batch, _response_builder(pb.BatchMemoriesResponse)
    ),
    "MemoriesService/SearchMemories": _method("searchMemories", parse_search, search_response),
    "MemoriesService/RecallMemories": _method("recallMemories", parse_recall, recall_response),
    "MemoriesService/ListMemories": _method(
        "listMemories", parse_list, _page_builder(pb.ListMemoriesResponse, "memories")
    ),
    "MemoriesService/GetMemory": _method("getMemory", parse_get, _response_builder(pb.Memory)),
    "MemoriesService/UpdateMemory": _method("updateMemory", parse_update, update_response),
    "MemoriesService/DeleteMemory": _method("deleteMemory", parse_delete, empty_response),
    "MemoriesService/MoveMemory": _method("moveMemory", parse_move, _WRITE_RESPONSE),
    "MemoriesService/GetHistory": _method(
        "getHistory", parse_history, _page_builder(pb.GetHistoryResponse, "items")
    ),
    "MemoriesService/ExplainMemory": _method(
        "explainMemory", parse_explain, _response_builder(pb.Explanation)
    ),
}
