"""The two OpenAPI 3.1 documents, made from the table of operations.

`python -m recollect.api.openapi` writes them to `contracts/`, `--check` says whether the files
there are up to date.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from recollect import __version__
from recollect.api.bodies import Body
from recollect.api.operation import Envelope, Family, Operation, Paging
from recollect.api.operations import OPERATIONS
from recollect.api.params import Param, Schema, limit
from recollect.api.problems import PROBLEMS, error_responses, response_name
from recollect.api.resources import RESOURCES, STAGE, TEXT, nullable, ref
from recollect.domain.events import JUSTIFICATION_CHARS_MAX
from recollect.domain.memberships import USER_ID_CHARS_MAX
from recollect.policy.actions import NEEDS_CLIENT

_CONTRACTS = Path(__file__).parents[3] / "contracts"
_ABOUT = (
    "Times are ISO-8601 in UTC, ids are UUIDs. Unknown members and parameters are ignored, null "
    "counts as absent. In local mode the server listens on the loopback, believes `X-Requester-Id` "
    "and refuses (403) a Host header that is no loopback name."
)
_STREAM_EXAMPLE = 'data: {"progress":0}\n\ndata: {"progress":100}\n\n'
_SECURITY_SCHEMES: dict[str, Schema] = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "Which client calls, beside the user's own credential.",
    },
    "requester": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Requester-Id",
        "description": "The user's id: believed in local mode, and from trusted clients.",
    },
}


def user_document() -> dict[str, Any]:
    """The document of the user and system operations."""
    return _document("Recollect", (Family.CONVERSATIONS, Family.SYSTEM))


def admin_document() -> dict[str, Any]:
    """The document of the admin operations."""
    return _document("Recollect administration", (Family.ADMIN,))


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them; 1 if a file is out of date."""
    files = {"openapi.json": user_document(), "openapi-admin.json": admin_document()}
    stale = [name for name, document in files.items() if _read(name) != to_text(document)]
    if "--check" in arguments:
        for name in stale:
            sys.stderr.write(f"contracts/{name} is out of date; run make generate\n")
        return 1 if stale else 0
    _CONTRACTS.mkdir(exist_ok=True)
    for name in stale:
        (_CONTRACTS / name).write_text(to_text(files[name]), encoding="utf-8")
    return 0


def to_text(document: dict[str, Any]) -> str:
    """A document as it is committed: sorted, indented, the same every time."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _read(name: str) -> str | None:
    path = _CONTRACTS / name
    return path.read_text(encoding="utf-8") if path.exists() else None


def _document(title: str, families: Iterable[Family]) -> dict[str, Any]:
    rows = [operation for operation in OPERATIONS if operation.family in families]
    paths: dict[str, dict[str, Any]] = {}
    for operation in rows:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": str(family)} for family in families],
        "paths": paths,
        "components": {
            "schemas": _schemas(rows),
            "responses": error_responses(),
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }


def _operation(operation: Operation) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "tags": [str(operation.family)],
        "summary": operation.summary,
        "description": operation.description,
        "parameters": [*_path_parameters(operation), *_query_parameters(operation)],
        "responses": _responses(operation),
        "security": _security(operation),
    }
    if operation.body is not None and operation.method != "GET":
        described["requestBody"] = {
            "required": not operation.body.optional,
            "content": {"application/json": {"schema": ref(operation.body.__name__)}},
        }
    return described


def _security(operation: Operation) -> list[Schema]:
    if operation.open:
        return []
    key: Schema = {"apiKey": []}
    users: list[Schema] = [{"bearer": []}, {"requester": []}]
    with_key = [user | key for user in users]
    return with_key if operation.action in NEEDS_CLIENT else [*users, *with_key]


def _path_parameters(operation: Operation) -> list[Schema]:
    user: Schema = TEXT | {"minLength": 1, "maxLength": USER_ID_CHARS_MAX}
    uuid: Schema = TEXT | {"format": "uuid"}
    return [
        {"name": name, "in": "path", "required": True, "schema": user if name == "userId" else uuid}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]


def _query_parameters(operation: Operation) -> list[Schema]:
    parameters = [_parameter(p.name, p.schema, p.description) for p in _own_params(operation)]
    if operation.paging is not None and not operation.paging.search:
        parameters += _cursor_parameters(operation.paging.envelope)
    if operation.justified:
        schema = TEXT | {"maxLength": JUSTIFICATION_CHARS_MAX}
        parameters.append(_parameter("justification", schema, "Why; it goes to the audit log."))
    return parameters


def _cursor_parameters(envelope: Envelope) -> list[Schema]:
    name, *others = envelope.cursor_names
    return [
        _parameter(name, TEXT, "The cursor; empty means the first page."),
        *(_parameter(other, TEXT, f"Another name of `{name}`.") for other in others),
    ]


def _own_params(operation: Operation) -> tuple[Param, ...]:
    paging = operation.paging
    if paging is None or paging.search:
        return operation.query
    return (*operation.query, limit(paging.limit))


def _parameter(name: str, schema: Schema, description: str) -> Schema:
    return {
        "name": name,
        "in": "query",
        "required": False,
        "schema": schema,
        "description": description,
    }


def _responses(operation: Operation) -> Schema:
    responses: Schema = {str(operation.success): _success(operation)}
    if operation.name == "adminEvict":
        stream = {"text/event-stream": {"example": _STREAM_EXAMPLE}}
        responses["200"] = {"description": "Progress, as server-sent events.", "content": stream}
    for status in operation.error_statuses:
        responses[str(status)] = {"$ref": f"#/components/responses/{response_name(status)}"}
    return responses


def _success(operation: Operation) -> Schema:
    if operation.success == 204:
        return {"description": "Done."}
    return {
        "description": "Created." if operation.success == 201 else "The answer.",
        "content": {operation.media: {"schema": _response_schema(operation)}},
    }


def _response_schema(operation: Operation) -> Schema:
    if operation.response is None:
        return TEXT
    if operation.paging is None:
        return ref(operation.response)
    return ref(_page_name(operation.response, operation.paging.envelope))


def _page_name(resource: str, envelope: Envelope) -> str:
    return f"{resource}List" if envelope is Envelope.B else f"{resource}Page"


def _page(resource: str, paging: Paging) -> Schema:
    name = paging.envelope.next_cursor
    sometimes = paging.envelope is Envelope.B
    cursor = TEXT if sometimes else nullable(TEXT)
    again = f"`{name}` again, for who asked with it."
    page: Schema = {
        "type": "object",
        "required": ["data"] if sometimes else ["data", name],
        "properties": {
            "data": {"type": "array", "items": ref(resource)},
            name: cursor,
            "afterCursor": cursor | {"description": again},
        },
    }
    if paging.search:
        failed = {"type": "array", "minItems": 1, "items": STAGE}
        page["properties"]["degraded"] = failed | {"description": "Stages that failed."}
    return page


def _schemas(rows: Sequence[Operation]) -> dict[str, Schema]:
    schemas: dict[str, Schema] = dict(PROBLEMS)
    for operation in rows:
        if operation.body is not None and operation.method != "GET":
            schemas |= _body_schemas(operation.body)
        if operation.response is not None:
            schemas[operation.response] = RESOURCES[operation.response]
        if operation.response == "SyncOutcome":
            schemas["Entry"] = RESOURCES["Entry"]
        if operation.response is not None and operation.paging is not None:
            name = _page_name(operation.response, operation.paging.envelope)
            schemas[name] = _page(operation.response, operation.paging)
    return schemas


def _body_schemas(body: type[Body]) -> dict[str, Schema]:
    """The schema of a body, and those of the models in it."""
    schema: Schema = body.model_json_schema(
        by_alias=True, schema_generator=_Plain, ref_template=ref("{model}")["$ref"]
    )
    schemas = {body.__name__: schema, **schema.pop("$defs", {})}
    for each in schemas.values():
        del each["title"]
    return schemas


class _Plain(GenerateJsonSchema):
    """Without titles that only repeat the names, and without defaults: an absent member is not
    the same as null where null clears."""

    def default_schema(self, schema: Any) -> Schema:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
