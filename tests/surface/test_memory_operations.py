"""The memory family's table against its routes, handlers, documents and error codes."""

import re
from collections.abc import Iterator
from pathlib import Path

import recollect
from recollect.api.openapi import document as openapi
from recollect.api.openapi.errors import (
    CONFLICT_REASONS,
    FORBIDDEN_CODES,
    MEMORY_STATUSES,
    REFUSAL_CODES,
)
from recollect.api.registry import (
    MEMORY_OPERATIONS,
)
from recollect.http.errors import error_body, http_status
from recollect.http.operation import Envelope, OperationFamily
from recollect.kernel.errors import (
    Conflict,
    Forbidden,
    Internal,
    InvalidInput,
    NotFound,
    RequesterHeaderInvalid,
    RequesterInvalid,
    RequesterMismatch,
    RequesterRequired,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)
from tests.api.fakes import Header, Rest, exchange

HEADERS: list[Header] = [("host", "localhost")]
SOURCES = Path(recollect.__file__).parent
_CODE = re.compile(r'(?<!default_)code ?= ?"([a-z_]+)"')
_REASON = re.compile(r'"reason": "([a-z_]+)"')
# Kinds of errors of the whole server, and settings that stop the start.
_OTHER_CODES = {"invalid_settings"}

# A refusal → its status and code, as the contract has them.
TABLE = [
    (RequesterRequired("x"), 400, "requester_required"),
    (RequesterInvalid("x"), 400, "requester_invalid"),
    (RequesterHeaderInvalid("x"), 400, "requester_invalid"),
    (Unauthenticated("x"), 401, "unauthorized"),
    (Forbidden("x"), 403, "forbidden"),
    (Forbidden("x", code="not_owner"), 403, "not_owner"),
    (Forbidden("x", code="subject_only"), 403, "subject_only"),
    (Forbidden("x", code="asker_not_allowed"), 403, "asker_not_allowed"),
    (RequesterMismatch("x"), 403, "requester_mismatch"),
    (NotFound("agent", "x"), 404, "not_found"),
    (Conflict("x", details={"reason": "version"}), 409, "conflict"),
    (ValidationFailed.for_field("name", "must be there"), 422, "validation_error"),
    (InvalidInput("x", field="name"), 422, "validation_error"),
    (InvalidInput("x", field="id", code="agent_id_reserved"), 422, "agent_id_reserved"),
    (Internal("x"), 500, "internal_error"),
    (Unavailable("x"), 503, "unavailable"),
]


def test_every_refusal_has_the_status_and_code_of_the_contract() -> None:
    for error, status, code in TABLE:
        body = error_body(error, "request", strict=True)
        assert (http_status(error, strict=True), body["code"]) == (status, code)
        assert isinstance(body["details"], dict)


def test_every_code_and_reason_in_the_sources_is_documented() -> None:
    codes = {*found(_CODE)} - _OTHER_CODES
    assert codes <= {*REFUSAL_CODES, *FORBIDDEN_CODES, "conflict"}
    assert {*found(_REASON)} <= set(CONFLICT_REASONS)


def test_every_path_is_routed_and_paths_of_memories_without_their_version_too() -> None:
    app = Rest().app
    for path in {operation.path for operation in MEMORY_OPERATIONS}:
        # Nobody has this method, so the answer names those that the path has.
        wanted = {row.method for row in MEMORY_OPERATIONS if row.path == path}
        wanted |= {"HEAD"} if "GET" in wanted else set()
        spellings = [path]
        if path.startswith("/v1/memories"):
            spellings.append(path.removeprefix("/v1"))
        for spelling in spellings:
            answered = exchange(app, "TRACE", re.sub(r"{\w+}", "x", spelling), HEADERS, [b""])
            assert answered.status == 405, spelling
            assert set(answered.headers["allow"].split(", ")) == wanted, spelling


def test_other_paths_need_their_version() -> None:
    app = Rest().app
    for path in {operation.path for operation in MEMORY_OPERATIONS}:
        if not path.startswith("/v1/memories"):
            bare = re.sub(r"{\w+}", "x", path.removeprefix("/v1"))
            assert exchange(app, "TRACE", bare, HEADERS, [b""]).status == 404, bare


def test_rows_keep_to_the_rules_of_the_family() -> None:
    for row in MEMORY_OPERATIONS:
        assert row.family is OperationFamily.MEMORIES
        assert row.path.startswith("/v1/"), row.name
        assert len(row.description) >= 10, row.name
        assert row.paging is None or row.paging.envelope is Envelope.D, row.name
        assert set(row.error_statuses) <= set(MEMORY_STATUSES), row.name
        if row.body is not None:
            assert row.body.model_config.get("extra") == "forbid", row.name
            names = set(row.body.model_fields)
            assert {name for name in names if name != name.lower()} == set(), row.name


def test_the_document_tells_of_keys_on_every_post_and_of_no_unknown_members() -> None:
    document = openapi.memories_document()
    schemas = document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            headers = {p["name"] for p in operation["parameters"] if p["in"] == "header"}
            assert ("Idempotency-Key" in headers) is (method == "post"), path
            assert "422" in operation["responses"], path
    bodies = {
        row.body.schema_name() for row in MEMORY_OPERATIONS if row.body and row.method != "GET"
    }
    assert [name for name in bodies if schemas[name].get("additionalProperties") is not False] == []


def found(pattern: re.Pattern[str]) -> Iterator[str]:
    """What the sources match."""
    for source in SOURCES.rglob("*.py"):
        yield from pattern.findall(source.read_text(encoding="utf-8"))
