"""Operations of retention: the loaded rules, and a preview of an expiry."""

from typing import Annotated

from pydantic import Field

from recollect.api.bodies import StrictBody, exact_word
from recollect.api.memory.rows import Id, Instant, memory_operation, nullable_field, resource
from recollect.api.operation import Operation
from recollect.api.params import Schema
from recollect.api.resources import INSTANT, INTEGER, OBJECT, TEXT
from recollect.domain.memories import MemoryType
from recollect.domain.retention import PII_TAGS, MemoryScope

_TAGS_MAX = 50
_STRINGS: Schema = {"type": "array", "items": TEXT}
_BOOLEAN: Schema = {"type": "boolean"}

ScopeWord = Annotated[MemoryScope, exact_word(MemoryScope)]


class RetentionPreview(StrictBody):
    """A memory that somebody thinks of writing. With `type` it is a statement, without a record,
    for which the default of the scope is."""

    scope: ScopeWord
    type: Annotated[MemoryType, exact_word(MemoryType)] | None = None
    retention_policy: Id | None = None
    ttl_seconds: Annotated[int, Field(ge=1)] | None = None
    pii_tags: Annotated[list[str], Field(max_length=_TAGS_MAX)] | None = None
    created_at: Instant | None = None


RESOURCES: dict[str, Schema] = {
    "RetentionPolicy": resource(
        {
            "name": TEXT,
            "ttl_seconds": nullable_field(INTEGER),
            "scopes": _STRINGS,
            "until_run_completes": _BOOLEAN,
        }
    ),
    "RetentionRules": resource(
        {
            "profile": TEXT,
            "default_ttl": OBJECT | {"description": "Seconds by scope."},
            "policies": {
                "type": "array",
                "items": {"$ref": "#/components/schemas/RetentionPolicy"},
            },
            "pii": resource(
                {
                    "tags": OBJECT | {"description": f"By tag: {', '.join(PII_TAGS)}."},
                    "retention_rules": OBJECT | {"description": "By risk."},
                }
            ),
            "vacuum": resource(
                {
                    "enabled": _BOOLEAN,
                    "interval_hours": INTEGER,
                    "grace_days": INTEGER,
                    "after_days": OBJECT | {"description": "Days by scope."},
                }
            ),
            "backup": resource({"before_vacuum": _BOOLEAN, "format": TEXT, "keep_days": INTEGER}),
            "audit": OBJECT | {"description": "When operators are alerted."},
        }
    ),
    "ExpiryPreview": resource(
        {"expires_at": nullable_field(INSTANT), "expiry_rule": TEXT, "clamped": _BOOLEAN}
    ),
}

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "getRetentionPolicies",
        "GET /v1/retention/policies",
        200,
        "The policies and rules that this server has loaded.",
        response="RetentionRules",
    ),
    memory_operation(
        "previewRetention",
        "POST /v1/retention/preview",
        200,
        "When such a memory would expire, by which rule, and whether a longer wish was cut. With "
        "`type` it is a statement, without a record; `created_at` is now unless given.",
        response="ExpiryPreview",
        body=RetentionPreview,
        only_reads=True,
    ),
)
