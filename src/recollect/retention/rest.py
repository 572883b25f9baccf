"""Operations of retention: the loaded rules, and a preview of an expiry."""

from typing import Annotated, Any

from pydantic import Field

from recollect.http.bodies import StrictBody, exact_word
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    Id,
    Instant,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, TEXT
from recollect.kernel.retention_rules import (
    PII_TAGS,
    AuditAlert,
    MemoryScope,
    PiiRiskRule,
    PiiTagRule,
    RetentionPolicy,
    RetentionRules,
)
from recollect.kernel.strict_json import dump
from recollect.memories.model import MemoryType
from recollect.retention.service import ProposedMemory, RetentionService

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


async def get_retention_policies(call: Call) -> str:
    """The loaded rules, without the backup directory: callers need not know paths of the server."""
    retention = call.services[RetentionService]
    rules = retention.rules
    return dump(
        {
            "profile": retention.profile,
            "default_ttl": dict(rules.default_ttl_seconds),
            "policies": [_policy_fields(policy) for policy in rules.policies.values()],
            "pii": _pii_fields(rules),
            "vacuum": {
                "enabled": rules.vacuum.enabled,
                "interval_hours": rules.vacuum.interval_hours,
                "grace_days": rules.vacuum.grace_days,
                "after_days": dict(rules.vacuum.after_days),
            },
            "backup": {
                "before_vacuum": rules.backup.before_vacuum,
                "format": rules.backup.format,
                "keep_days": rules.backup.keep_days,
            },
            "audit": {
                "log_content": False,
                "alerts": {
                    "mass_deletion": _alert_fields(rules.audit.mass_deletion),
                    "pii_access_spike": _alert_fields(rules.audit.pii_access_spike),
                },
            },
        }
    )


async def preview_retention(call: Call) -> str:
    body: RetentionPreview = call.body
    proposal = ProposedMemory(
        scope=body.scope,
        type=body.type,
        retention_policy=body.retention_policy,
        ttl_seconds=body.ttl_seconds,
        pii_tags=tuple(body.pii_tags or ()),
        created_at=body.created_at,
    )
    ending = call.services[RetentionService].preview(proposal)
    return dump(
        {
            "expires_at": instant_text(ending.expires_at),
            "expiry_rule": ending.rule,
            "clamped": ending.clamped,
        }
    )


def _policy_fields(policy: RetentionPolicy) -> dict[str, Any]:
    return {
        "name": policy.name,
        "ttl_seconds": policy.ttl_seconds,
        "scopes": sorted(policy.scopes),
        "until_run_completes": policy.until_run_completes,
    }


def _pii_fields(rules: RetentionRules) -> dict[str, Any]:
    return {
        "tags": {name: _tag_fields(tag) for name, tag in rules.tags.items()},
        "retention_rules": {risk.label: _risk_fields(rule) for risk, rule in rules.risks.items()},
    }


def _tag_fields(tag: PiiTagRule) -> dict[str, Any]:
    return {"risk": tag.risk.label, "handling": sorted(tag.handling)}


def _risk_fields(rule: PiiRiskRule) -> dict[str, Any]:
    return {
        "max_ttl_seconds": rule.max_ttl_seconds,
        "approval": rule.approval,
        "delete_on_run_completion": rule.delete_on_run_completion,
    }


def _alert_fields(alert: AuditAlert) -> dict[str, Any]:
    return {
        "count": alert.count,
        "window_minutes": alert.window_minutes,
        "tags": sorted(alert.tags),
    }


HANDLERS: dict[str, Handler] = {
    "getRetentionPolicies": get_retention_policies,
    "previewRetention": preview_retention,
}
