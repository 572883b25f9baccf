"""The messages of `MemoriesService` have the members of REST, each of its type: what is added there
and forgotten here is found."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor

from tests.support.documents import ROOT
from tests.support.grpc.memories import LISTS, PAGES, ROUTES, SERVICE
from tests.support.grpc.protocol import is_struct, protocol

REST: dict[str, Any] = json.loads((ROOT / "contracts" / "openapi-memories.json").read_text())
SCHEMAS: dict[str, Any] = REST["components"]["schemas"]
# Other names of members that there are.
ALIASES = {"memory_id", "agent_slug"}
TYPES = {
    FieldDescriptor.CPPTYPE_STRING: "string",
    FieldDescriptor.CPPTYPE_BOOL: "boolean",
    FieldDescriptor.CPPTYPE_DOUBLE: "number",
    FieldDescriptor.CPPTYPE_INT32: "integer",
    FieldDescriptor.CPPTYPE_INT64: "integer",
}
SPACE = {"kind": "string", "id": "string"}

ANSWERS = {
    "Memory": "Memory",
    "MemoryHit": "MemoryHit",
    "WriteResult": "WriteResult",
    "BatchMemoriesResponse": "BatchResults",
    "SearchMemoriesResponse": "MemoryHits",
    "RecallMemoriesResponse": "Recall",
    "ListMemoriesResponse": "MemoryPage",
    "HistoryItem": "HistoryItem",
    "GetHistoryResponse": "HistoryItemPage",
    "Explanation": "Explanation",
}
BODIES = {
    "CreateMemoryRequest": "NewMemory",
    "UpdateMemoryRequest": "MemoryPatch",
    "MoveMemoryRequest": "MemoryMove",
    "SearchMemoriesRequest": "SearchMemories",
    "RecallMemoriesRequest": "RecallMemories",
}
QUERIES = ("ListMemories", "GetMemory", "DeleteMemory", "GetHistory", "ExplainMemory")


def kind_of(message: str) -> Any:
    """The descriptor of a message."""
    return protocol().message(message).DESCRIPTOR


def members_of(kind: Any) -> dict[str, Any]:
    """A message's members with their types, as the JSON of REST has them."""
    members = {field.name: type_of(field) for field in kind.fields}
    members |= members.pop("filters", {})
    members.pop("all_spaces", None)
    if kind.name == "MemoryHit":
        members = members.pop("memory") | members
        del members["embedding"]
    if kind.name in PAGES:
        members["data"] = members.pop(PAGES[kind.name])
    return members


def type_of(field: FieldDescriptor) -> Any:
    """A word, a list with the type of its items, or members."""
    inner = field.message_type
    if is_struct(field):
        one: Any = "object"
    elif inner is not None and inner.name in LISTS:
        return type_of(inner.fields_by_name[LISTS[inner.name]])
    else:
        one = TYPES[field.cpp_type] if inner is None else members_of(inner)
    return [one] if field.is_repeated else one


def members_in(schema: Any) -> dict[str, Any]:
    """A schema's members with their types."""
    return {name: type_in(member) for name, member in meant(schema)["properties"].items()}


def type_in(schema: Any) -> Any:
    """The same words for the type of a member."""
    schema = meant(schema)
    if schema["type"] == "array":
        return [type_in(schema["items"])]
    return members_in(schema) if "properties" in schema else schema["type"]


def meant(schema: Any) -> Any:
    """What a reference names; of several the list, or what is not null."""
    if "$ref" in schema:
        return meant(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    choices = [meant(one) for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    lists = [one for one in choices if one["type"] == "array"]
    return (lists or choices or [schema])[0]


def may_be_null(schema: Any) -> bool:
    """Does REST show a null there?"""
    return {"type": "null"} in schema.get("anyOf", ())


def parameters(method: str) -> dict[str, Any]:
    """The types of the parameters of an operation's query and path."""
    operations = (one for path in REST["paths"].values() for one in path.values())
    [operation] = [o for o in operations if o["operationId"].lower() == method.lower()]
    found = {one["name"]: type_in(one["schema"]) for one in operation["parameters"]}
    # In a query a space is a word: a kind, or a kind and an id.
    return found | ({"spaces": [SPACE]} if "spaces" in found else {})


def answers() -> Iterator[tuple[str, Any, Any]]:
    """Every field of an answer with the schema of its member, inner messages too."""
    pairs = [(kind_of(message), SCHEMAS[schema]) for message, schema in ANSWERS.items()]
    for kind, schema in pairs:
        for field in kind.fields:
            name = "data" if PAGES.get(kind.name) == field.name else field.name
            member = schema["properties"].get(name)
            if member is None:  # of a hit, whose members lie beside those of its memory
                continue
            yield f"{kind.name}.{field.name}", field, member
            inner = meant(member).get("items", meant(member))
            if field.message_type is not None and "properties" in meant(inner):
                pairs.append((field.message_type, meant(inner)))


def test_the_service_has_the_contracts_methods() -> None:
    methods = {n.partition("/")[2] for n in protocol().methods if n.startswith(f"{SERVICE}/")}
    assert methods == {route.method for route in ROUTES.values()}
    assert methods == {
        "CreateMemory",
        "BatchMemories",
        "SearchMemories",
        "RecallMemories",
        "ListMemories",
        "GetMemory",
        "UpdateMemory",
        "DeleteMemory",
        "MoveMemory",
        "GetHistory",
        "ExplainMemory",
    }


@pytest.mark.parametrize(("message", "schema"), ANSWERS.items())
def test_an_answer_has_every_member_of_rest(message: str, schema: str) -> None:
    assert members_of(kind_of(message)) == members_in(SCHEMAS[schema])


def test_what_is_null_over_rest_can_be_absent() -> None:
    fields = [(name, field) for name, field, member in answers() if may_be_null(member)]
    assert len({name for name, _ in fields}) > 20
    # An empty cursor is none, and so is a vector without numbers.
    known = {"next_cursor", "embedding"}
    unclear = [n for n, f in fields if not f.has_presence and n.partition(".")[2] not in known]
    assert unclear == []


@pytest.mark.parametrize(("message", "schema"), BODIES.items())
def test_a_request_has_every_member_of_the_body(message: str, schema: str) -> None:
    wanted = members_in(SCHEMAS[schema])
    wanted = {name: kind for name, kind in wanted.items() if name not in ALIASES}
    own = {"UpdateMemoryRequest": {"memory_id": "string", "clear": ["string"]}}
    own["MoveMemoryRequest"] = {"memory_id": "string"}
    assert members_of(kind_of(message)) == wanted | own.get(message, {})


@pytest.mark.parametrize("method", QUERIES)
def test_a_request_has_every_parameter_of_the_query(method: str) -> None:
    assert members_of(kind_of(f"{method}Request")) == parameters(method)


def test_a_batch_takes_what_the_single_calls_take() -> None:
    items = members_of(kind_of("BatchItem"))
    assert items["create"] == members_of(kind_of("CreateMemoryRequest"))
    assert items["update"] == members_of(kind_of("UpdateMemoryRequest"))
    assert items["delete"] == {"memory_id": "string", "version": "integer"}
    whole = {field.name for field in kind_of("BatchMemoriesRequest").fields}
    assert whole == members_in(SCHEMAS["MemoryBatch"]).keys()


def test_a_changed_memory_comes_with_the_approval_that_it_waits_for() -> None:
    changed = members_of(kind_of("UpdateMemoryResponse"))
    assert changed == {"memory": members_in(SCHEMAS["Memory"]), "approval_id": "string"}


def test_scalars_of_requests_tell_empty_from_absent() -> None:
    kinds = [kind_of(name) for name in (*BODIES, *(f"{q}Request" for q in QUERIES))]
    silent = {
        f"{kind.name}.{field.name}"
        for kind in [*kinds, kind_of("MemoryFilters"), kind_of("BatchMemoriesRequest")]
        for field in kind.fields
        if not field.has_presence and not field.is_repeated
    }
    by_id = {f"{name}.memory_id" for name in ("UpdateMemoryRequest", "MoveMemoryRequest")}
    by_id |= {f"{query}Request.memory_id" for query in QUERIES[1:]}
    assert silent == by_id | {"MemoryFilters.all_spaces"}
