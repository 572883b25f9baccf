"""Builds the OpenAPI 3.1 documents from the tables of operations: one of each family of
operations, and one of the whole API.

`python -m recollect.api.openapi.document` writes them to `contracts/`; `--check` fails if the files
there are out of date.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.api.openapi.errors import (
    MEMORY_PROBLEMS,
    MEMORY_STATUSES,
    PROBLEMS,
    STATUSES,
    Statuses,
    error_responses,
)
from recollect.api.openapi.examples import add_examples
from recollect.api.openapi.merged import merge_documents
from recollect.api.openapi.operation import collect_schemas, describe_operation
from recollect.api.registry import MEMORY_OPERATIONS, OPERATIONS, RESOURCES
from recollect.http.operation import Operation, OperationFamily
from recollect.http.params import Schema

_CONTRACTS = Path(__file__).parents[4] / "contracts"
_ABOUT = (
    "Times are ISO-8601 in UTC, ids are UUIDs. Unknown members and parameters are ignored, null "
    "counts as absent. In local mode the server listens on the loopback, believes `X-Requester-Id` "
    "and refuses (403) a Host header that is no loopback name."
)
_ABOUT_MEMORIES = (
    "Times are ISO-8601 in UTC; an input without offset is UTC. Names are snake_case, and a "
    "resource carries all its members, null included. Unknown members and parameters are refused "
    "(422). Paths that begin with `/v1/memories` answer without `/v1` too. In local mode the "
    "server listens on the loopback, believes `X-Requester-Id` and refuses (403) a Host header "
    "that is no loopback name."
)
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


@dataclass(frozen=True, slots=True)
class _DocumentSource:
    """The parts that one document is built from."""

    title: str
    about: str
    rows: Sequence[Operation]
    problems: Mapping[str, Schema]
    statuses: Statuses


def user_document() -> dict[str, Any]:
    """The document of the user and system operations."""
    return _build_document(
        _conversation_source("Recollect", OperationFamily.CONVERSATIONS, OperationFamily.SYSTEM)
    )


def admin_document() -> dict[str, Any]:
    """The document of the admin operations."""
    return _build_document(_conversation_source("Recollect administration", OperationFamily.ADMIN))


def memories_document() -> dict[str, Any]:
    """The document of the memory API."""
    return _build_document(
        _DocumentSource(
            "Recollect memories",
            _ABOUT_MEMORIES,
            MEMORY_OPERATIONS,
            MEMORY_PROBLEMS,
            MEMORY_STATUSES,
        )
    )


def merged_document() -> dict[str, Any]:
    """The document of all operations, with named enums and parts."""
    return merge_documents(user_document(), admin_document(), memories_document())


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them; 1 if a file is out of date."""
    files = build_documents()
    stale = [name for name, document in files.items() if _read_file(name) != to_text(document)]
    if "--check" in arguments:
        for name in stale:
            sys.stderr.write(f"contracts/{name} is out of date; run make generate\n")
        return 1 if stale else 0
    _CONTRACTS.mkdir(exist_ok=True)
    for name in stale:
        (_CONTRACTS / name).write_text(to_text(files[name]), encoding="utf-8")
    return 0


def build_documents() -> dict[str, dict[str, Any]]:
    """All documents by file name."""
    return {
        "openapi.json": user_document(),
        "openapi-admin.json": admin_document(),
        "openapi-memories.json": memories_document(),
        "openapi-merged.json": merged_document(),
    }


def to_text(document: dict[str, Any]) -> str:
    """A document as it is committed: sorted and indented, so that it is the same every time."""
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _read_file(name: str) -> str | None:
    path = _CONTRACTS / name
    return path.read_text(encoding="utf-8") if path.exists() else None


def _conversation_source(title: str, *families: OperationFamily) -> _DocumentSource:
    rows = [operation for operation in OPERATIONS if operation.family in families]
    return _DocumentSource(title, _ABOUT, rows, PROBLEMS, STATUSES)


def _build_document(source: _DocumentSource) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for operation in source.rows:
        paths.setdefault(operation.path, {})[operation.method.lower()] = describe_operation(
            operation
        )
    families = dict.fromkeys(operation.family for operation in source.rows)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": source.title,
            "version": __version__,
            "description": source.about,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": str(family)} for family in families],
        "paths": paths,
        "components": {
            "schemas": {**source.problems, **collect_schemas(source.rows, RESOURCES)},
            "responses": error_responses(source.statuses),
            "securitySchemes": _SECURITY_SCHEMES,
        },
    }
    add_examples(document, {row.name: row for row in source.rows})
    return document


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
