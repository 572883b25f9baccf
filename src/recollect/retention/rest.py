"""Operations of retention: the loaded rules, and a preview of an expiry."""

from typing import Annotated, Any

from pydantic import PlainSerializer, WithJsonSchema

from recollect.http.call import Call, Handler
from recollect.http.operation import Operation, memory_operation
from recollect.http.resource import (
    InstantText,
    Resource,
    ResourcePart,
    attribute,
    resource_schemas,
)
from recollect.http.schemas import OBJECT, TEXT
from recollect.kernel.retention_rules import PII_TAGS, PiiRisk
from recollect.retention.commands import PreviewRetention
from recollect.retention.service import RetentionService


def _object_field(description: str) -> WithJsonSchema:
    return WithJsonSchema(OBJECT | {"description": description})


_Texts = Annotated[
    frozenset[str], PlainSerializer(sorted), WithJsonSchema({"type": "array", "items": TEXT})
]
_RiskLabel = Annotated[PiiRisk, PlainSerializer(lambda risk: risk.label)]


class RetentionPolicyResource(Resource):
    """A named TTL."""

    name: str
    ttl_seconds: int | None
    scopes: _Texts
    until_run_completes: bool


class PiiTagFields(ResourcePart):
    """Risk and precautions of a kind of personal data."""

    risk: _RiskLabel
    handling: _Texts


class PiiRiskFields(ResourcePart):
    """The cap of a risk."""

    max_ttl_seconds: int
    approval: bool
    delete_on_run_completion: bool


class PiiFields(ResourcePart):
    """The rules of personal data."""

    tags: Annotated[dict[str, PiiTagFields], _object_field(f"By tag: {', '.join(PII_TAGS)}.")]
    retention_rules: Annotated[dict[str, PiiRiskFields], _object_field("By risk.")]


class VacuumFields(ResourcePart):
    """When a vacuum runs, and what it takes."""

    enabled: bool
    interval_hours: int
    grace_days: int
    after_days: Annotated[dict[str, int], _object_field("Days by scope.")]


class BackupFields(ResourcePart):
    """What a vacuum writes first. The directory is left out: callers need not know paths of the
    server."""

    before_vacuum: bool
    format: str
    keep_days: int


class AlertFields(ResourcePart):
    """When operators are alerted."""

    count: int
    window_minutes: int
    tags: _Texts


class RetentionRulesResource(Resource):
    """The loaded rules."""

    profile: str
    default_ttl: Annotated[dict[str, int], _object_field("Seconds by scope.")]
    policies: list[RetentionPolicyResource]
    pii: PiiFields
    vacuum: VacuumFields
    backup: BackupFields
    audit: Annotated[dict[str, Any], _object_field("When operators are alerted.")]


class ExpiryPreviewResource(Resource):
    """When a memory would expire, and by which rule."""

    expires_at: InstantText | None
    expiry_rule: str = attribute("rule")
    clamped: bool


RESOURCES = resource_schemas(RetentionPolicyResource, RetentionRulesResource, ExpiryPreviewResource)

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
        body=PreviewRetention,
        only_reads=True,
    ),
)


async def get_retention_policies(call: Call) -> str:
    retention = call.services[RetentionService]
    rules = retention.rules
    return RetentionRulesResource.render(
        {
            "profile": retention.profile,
            "default_ttl": rules.default_ttl_seconds,
            "policies": rules.policies.values(),
            "pii": {
                "tags": rules.tags,
                "retention_rules": {risk.label: rule for risk, rule in rules.risks.items()},
            },
            "vacuum": rules.vacuum,
            "backup": rules.backup,
            "audit": {
                "log_content": False,
                "alerts": {
                    "mass_deletion": AlertFields.to_fields(rules.audit.mass_deletion),
                    "pii_access_spike": AlertFields.to_fields(rules.audit.pii_access_spike),
                },
            },
        }
    )


async def preview_retention(call: Call) -> str:
    return ExpiryPreviewResource.render(call.services[RetentionService].preview(call.body))


HANDLERS: dict[str, Handler] = {
    "getRetentionPolicies": get_retention_policies,
    "previewRetention": preview_retention,
}
