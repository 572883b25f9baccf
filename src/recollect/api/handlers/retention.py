"""Handlers of retention rules and previews."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.retention import RetentionPreview
from recollect.domain.jsontext import dump
from recollect.domain.retention import (
    AuditAlert,
    PiiRiskRule,
    PiiTagRule,
    RetentionPolicy,
    RetentionRules,
)
from recollect.services.retention import ProposedMemory


async def get_retention_policies(call: Call) -> str:
    """The loaded rules, without the backup directory: callers need not know paths of the server."""
    retention = call.services.retention
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
    ending = call.services.retention.preview(proposal)
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
