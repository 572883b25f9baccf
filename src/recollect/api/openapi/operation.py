"""Describes one operation in OpenAPI 3.1: parameters, bodies, responses and schemas."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from recollect.api.openapi.errors import response_name
from recollect.audit.model import JUSTIFICATION_CHARS_MAX
from recollect.http.bodies import Body
from recollect.http.operation import HTML, Envelope, Operation, Paging
from recollect.http.params import Param, Schema, limit_param
from recollect.http.paths import PATH_IDS
from recollect.http.schemas import NEXT_CURSOR, TEXT, describe, nullable_schema, schema_ref
from recollect.idempotency.service import KEY_CHARS_MAX
from recollect.identity.actions import NEEDS_CLIENT
from recollect.kernel.ids import USER_ID_CHARS_MAX
from recollect.search.rest_entries import STAGE

_PROGRESS = 'data: {"progress":0}\n\ndata: {"progress":100}\n\n'
_EVENTS = 'id: WyJldmVudCJd\nevent: memory.write\ndata: {"event_type":"memory.write"}\n\n'
_DESCRIPTIONS = {200: "The answer.", 201: "Created.", 202: "Accepted, and not done yet."}
_ONCE = "A repeat under the same key gets the first answer, for a day."
_ANEW = "The key belongs to this request for a day. A repeat is answered anew: nothing is kept."


def describe_operation(operation: Operation) -> Schema:
    """The OpenAPI object of one operation."""
    described: Schema = {
        "operationId": operation.name,
        "tags": [str(operation.family)],
        "summary": operation.summary,
        "description": operation.description,
        "parameters": [
            *_path_parameters(operation),
            *_query_parameters(operation),
            *_header_parameters(operation),
        ],
        "responses": _responses(operation),
        "security": _security(operation),
    }
    if operation.only_reads:
        # A client has no use for a key here, and may send the request again without one.
        described["x-only-reads"] = True
    if operation.body is not None and operation.method != "GET":
        described["requestBody"] = {
            "required": not operation.body.optional,
            "content": {operation.takes: {"schema": schema_ref(operation.body.schema_name())}},
        }
    elif operation.takes != "application/json":
        described["requestBody"] = {
            "required": True,
            "content": {operation.takes: {"schema": TEXT}},
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
    names = re.findall(r"{(\w+)}", operation.path)
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": _path_schema(name, operation),
            "description": PATH_IDS[name].description,
            "example": PATH_IDS[name].example,
        }
        for name in names
    ]


def _path_schema(name: str, operation: Operation) -> Schema:
    if operation.is_strict or operation.open:
        return TEXT | {"minLength": 1}
    if name == "userId":
        return TEXT | {"minLength": 1, "maxLength": USER_ID_CHARS_MAX}
    return TEXT | {"format": "uuid"}


def _header_parameters(operation: Operation) -> list[Schema]:
    parameters: list[Schema] = []
    if operation.takes_idempotency_key:
        parameters.append(
            _parameter(
                "Idempotency-Key",
                TEXT | {"minLength": 1, "maxLength": KEY_CHARS_MAX},
                _ANEW if operation.only_reads else _ONCE,
                where="header",
            )
        )
    if operation.streams:
        parameters.append(
            _parameter("Last-Event-ID", TEXT, "Where a stream goes on.", where="header")
        )
    return parameters


def _query_parameters(operation: Operation) -> list[Schema]:
    parameters = [_query_parameter(param) for param in _own_params(operation)]
    if operation.paging is not None and not operation.paging.search:
        parameters += _cursor_parameters(operation.paging.envelope)
    if operation.takes_justification:
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
    return (*operation.query, limit_param(paging.limit))


def _query_parameter(param: Param) -> Schema:
    described_param = _parameter(param.name, param.schema, param.description)
    example = {} if param.example is None else {"example": param.example}
    return described_param | {"required": param.required} | example


def _parameter(name: str, schema: Schema, description: str, *, where: str = "query") -> Schema:
    return {
        "name": name,
        "in": where,
        "required": False,
        "schema": schema,
        "description": description,
    }


def _responses(operation: Operation) -> Schema:
    responses: Schema = {str(operation.success): _success_response(operation)}
    for status, resource in operation.also.items():
        content = {"application/json": {"schema": schema_ref(resource)}}
        responses[str(status)] = {"description": _DESCRIPTIONS[status], "content": content}
    if operation.streams:
        responses["200"]["content"]["text/event-stream"] = {"example": _EVENTS}
    if operation.page:
        responses["200"]["content"][HTML] = {"schema": TEXT, "example": "<!doctype html>…"}
    if operation.name == "replayResponse":
        responses["204"] = {"description": "There is nothing to follow."}
    if operation.name == "adminEvict":
        stream = {"text/event-stream": {"example": _PROGRESS}}
        responses["200"] = {"description": "Progress, as server-sent events.", "content": stream}
    for status in operation.error_statuses:
        responses[str(status)] = {"$ref": f"#/components/responses/{response_name(status)}"}
    return responses


def _success_response(operation: Operation) -> Schema:
    if operation.success == 204:
        return {"description": "Done."}
    return {
        "description": _DESCRIPTIONS[operation.success],
        "content": {operation.media: {"schema": _response_schema(operation)}},
    }


def _response_schema(operation: Operation) -> Schema:
    if operation.response is None:
        return TEXT
    if operation.paging is None:
        return schema_ref(operation.response)
    return schema_ref(_page_name(operation.response, operation.paging.envelope))


def _page_name(resource: str, envelope: Envelope) -> str:
    return f"{resource}List" if envelope is Envelope.B else f"{resource}Page"


def _page_schema(resource: str, paging: Paging) -> Schema:
    name = paging.envelope.next_cursor
    sometimes = paging.envelope is Envelope.B
    cursor = TEXT if sometimes else nullable_schema(TEXT)
    items = {"type": "array", "items": schema_ref(resource)}
    page: Schema = {
        "type": "object",
        "required": ["data"] if sometimes else ["data", name],
        "properties": {
            "data": describe(items, "The items of the page."),
            name: describe(cursor, NEXT_CURSOR),
        },
    }
    if paging.envelope is not Envelope.D:
        again = f"`{name}` again, for who asked with it."
        page["properties"]["afterCursor"] = cursor | {"description": again}
    if paging.search:
        failed = {"type": "array", "minItems": 1, "items": STAGE}
        page["properties"]["degraded"] = failed | {"description": "Stages that failed."}
    return page


def collect_schemas(
    rows: Sequence[Operation], resources: Mapping[str, Schema]
) -> dict[str, Schema]:
    """The schemas of all bodies, resources and pages of the operations, references included."""
    found: dict[str, Schema] = {}
    for operation in rows:
        if operation.body is not None and operation.method != "GET":
            found |= _body_schemas(operation.body)
        if operation.response is not None and operation.paging is not None:
            name = _page_name(operation.response, operation.paging.envelope)
            found[name] = _page_schema(operation.response, operation.paging)
        for name in filter(None, (operation.response, *operation.also.values())):
            found |= _collect_references(name, resources)
    return found


def _collect_references(name: str, resources: Mapping[str, Schema]) -> dict[str, Schema]:
    """The schema of a resource and of every resource that it refers to."""
    found: dict[str, Schema] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found[each] = resources[each]
            waiting += _iter_references(resources[each])
    return found


def _iter_references(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _iter_references(item)
    elif isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rsplit("/", 1)[1]
        for member in value.values():
            yield from _iter_references(member)


def _body_schemas(body: type[Body]) -> dict[str, Schema]:
    """The schema of a body, and those of the models in it."""
    schema: Schema = body.model_json_schema(
        by_alias=True,
        schema_generator=_CompactJsonSchema,
        ref_template=schema_ref("{model}")["$ref"],
    )
    schemas = {body.__name__: schema, **schema.pop("$defs", {})}
    names = {name: each.pop("title") for name, each in schemas.items()}
    return {names[name]: _rename_references(each, names) for name, each in schemas.items()}


def _rename_references(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_rename_references(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return value | schema_ref(names[value["$ref"].rsplit("/", 1)[1]])
    return {key: _rename_references(inner, names) for key, inner in value.items()}


class _CompactJsonSchema(GenerateJsonSchema):
    """Leaves out titles, which only repeat names, and defaults: where null clears a field, absent
    is not the same as null."""

    def default_schema(self, schema: Any) -> Schema:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False
