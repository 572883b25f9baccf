"""One OpenAPI document of the whole API, made for readers and for generators of clients.

It is made of the documents of the families. Their schemas of errors differ, so those of the memory
API get a name of their own. Enums and parts of resources, which the families describe in place, get
the names of `names.py`. Tags are the nouns of the paths.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from recollect.api.openapi.names import ENUM_NAMES, PART_NAMES
from recollect.http.params import Schema
from recollect.http.schemas import schema_ref

MEMORY_PREFIX = "Memory"
# What a schema says of the place where it stands.
_OF_THE_PLACE = ("description", "default", "examples")
_ABOUT = (
    "Times are ISO-8601 in UTC; an input without offset is UTC. There are two families. Those of "
    "conversations and of their administration have names in camelCase, and ignore unknown "
    "members. All others have names in snake_case, show every member of a resource, null included, "
    "and refuse unknown members and parameters (422). In local mode the server listens on the "
    "loopback, believes `X-Requester-Id` and refuses (403) a Host header that is no loopback name."
)
_METHODS = ("get", "post", "put", "patch", "delete")
_ADMIN_TAG = "administration"
_TAGS: dict[str, str] = {
    "conversations": "What was said: entries, forks, members and recorded responses.",
    "ownership-transfers": "Offers to hand a conversation over.",
    "memories": "What is known: write, find, change, move and delete it.",
    "people": "Who is known: names, aliases, relationships.",
    "chats": "Where people talk, and who takes part.",
    "agents": "Registered agents and their owners.",
    "runs": "Runs of agents.",
    "graph": "People, places and things, and how they are related.",
    "approvals": "Reviewed permissions for what a retention rule forbids.",
    "quarantine": "Memories that look like injected orders.",
    "retention": "How long memories live.",
    "erasures": "Removing a person.",
    "rollbacks": "Undoing what came from one source.",
    "events": "The audit log.",
    "export": "Memories as JSON lines.",
    "import": "Memories from JSON lines.",
    _ADMIN_TAG: "Calls for operators.",
    "system": "Health, metrics and these documents.",
}


def merge_documents(
    user: Mapping[str, Any], admin: Mapping[str, Any], memories: Mapping[str, Any]
) -> dict[str, Any]:
    """The document of all operations."""
    renamed = _rename_errors(memories)
    paths: dict[str, Any] = {}
    for document in (user, admin, renamed):
        for path, operations in document["paths"].items():
            paths.setdefault(path, {}).update(operations)
    parts = [document["components"] for document in (user, admin, renamed)]
    schemas = _Schemas()
    for components in parts:
        schemas.add_all(components["schemas"])
    tagged = {path: _tag_operations(path, operations) for path, operations in paths.items()}
    return {
        "openapi": "3.1.0",
        "info": user["info"] | {"title": "Recollect", "description": _ABOUT},
        "servers": user["servers"],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": schemas.name_parts(tagged, ""),
        "components": {
            "schemas": schemas.named,
            "responses": {k: v for part in parts for k, v in part["responses"].items()},
            "securitySchemes": user["components"]["securitySchemes"],
        },
    }


class _Schemas:
    """The named schemas, while they grow."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}

    def add_all(self, schemas: Mapping[str, Schema]) -> None:
        for name, schema in schemas.items():
            self._add(
                name, {key: self._name_inside(key, value, name) for key, value in schema.items()}
            )

    def name_parts(self, value: Any, path: str) -> Any:
        """The value with references in place of the enums and parts that have a name."""
        return self._name_at(value, path)

    def _name_at(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self._name_at(item, path) for item in value]
        if not isinstance(value, dict):
            return value
        inner = {key: self._name_inside(key, part, path) for key, part in value.items()}
        name = self._name_of(value, path)
        if name is None:
            return inner
        described = {key: inner.pop(key) for key in _OF_THE_PLACE if key in inner}
        # The order of words and of required fields is the reader's business, not part of a type.
        for unordered in ("enum", "required"):
            if unordered in inner:
                inner[unordered] = sorted(inner[unordered])
        inner.pop("title", None)
        self._add(name, inner | {"type": "string"} if "enum" in inner else inner)
        return schema_ref(name) | described

    def _name_inside(self, key: str, part: Any, path: str) -> Any:
        if key == "properties":
            return {name: self._name_at(field, f"{path}.{name}") for name, field in part.items()}
        return self._name_at(part, f"{path}[]" if key == "items" else path)

    def _name_of(self, schema: Mapping[str, Any], path: str) -> str | None:
        if "enum" in schema:
            return ENUM_NAMES.get(frozenset(schema["enum"]))
        return PART_NAMES.get(path) if "properties" in schema else None

    def _add(self, name: str, schema: Schema) -> None:
        if self.named.setdefault(name, schema) != schema:
            raise ValueError(f"two schemas are named {name}: {schema}, {self.named[name]}")


def _rename_errors(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with the prefix on all that its error responses are made of."""
    problems = set(_iter_refs(document["components"]["responses"]))

    def rename(value: Any) -> Any:
        if isinstance(value, list):
            return [rename(item) for item in value]
        if not isinstance(value, dict):
            return value
        renamed = {key: rename(part) for key, part in value.items()}
        head, _, name = renamed.get("$ref", "").rpartition("/")
        if name in problems or head.endswith("/responses"):
            renamed["$ref"] = f"{head}/{MEMORY_PREFIX}{name}"
        return renamed

    def prefix(parts: Mapping[str, Any], is_renamed: Callable[[str], bool]) -> dict[str, Any]:
        return {f"{MEMORY_PREFIX}{k}" if is_renamed(k) else k: v for k, v in parts.items()}

    whole: dict[str, Any] = rename(dict(document))
    components = whole["components"]
    return whole | {
        "components": components
        | {
            "schemas": prefix(components["schemas"], problems.__contains__),
            "responses": prefix(components["responses"], lambda _: True),
        }
    }


def _iter_refs(value: Any) -> Iterator[str]:
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else ()
    parts = value if isinstance(value, list) else parts
    if isinstance(value, dict) and "$ref" in value:
        yield value["$ref"].rpartition("/")[2]
    for part in parts:
        yield from _iter_refs(part)


def _tag_operations(path: str, operations: Mapping[str, Any]) -> dict[str, Any]:
    tag = _tag_of(path)
    return {
        method: operation | {"tags": [tag]} if method in _METHODS else operation
        for method, operation in operations.items()
    }


def _tag_of(path: str) -> str:
    segments = path.strip("/").split("/")
    if segments[0] != "v1":
        return "system"
    if segments[1] == "admin":
        return _ADMIN_TAG
    return segments[1] if segments[1] in _TAGS else "system"
