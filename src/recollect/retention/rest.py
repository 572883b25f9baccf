"""Operations of retention: the loaded rules, and a preview of an expiry."""

from typing import Annotated, Any

from pydantic import Field, PlainSerializer, WithJsonSchema

from recollect.http.call import Call, Handler
from recollect.http.examples import INSTANT_EXAMPLE
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

_Texts = Annotated[
    frozenset[str], PlainSerializer(sorted), WithJsonSchema({"type": "array", "items": TEXT})
]
_RiskLabel = Annotated[PiiRisk, PlainSerializer(lambda risk: risk.label)]


class RetentionPolicyResource(Resource):
    """A named TTL."""

    name: str = Field(description="The name of the policy.", examples=["production"])
    ttl_seconds: int | None = Field(
        description="How long its memories live; null for ever, or until their run ends.",
        examples=[2592000],
    )
    scopes: _Texts = Field(
        description="The scopes that it is for.", examples=[["long_term", "org"]]
    )
    until_run_completes: bool = Field(
        description="Whether its memories go when their run ends.", examples=[False]
    )


class PiiTagFields(ResourcePart):
    """Risk and precautions of a kind of personal data."""

    risk: _RiskLabel = Field(description="How bad it would be if it got out.", examples=["high"])
    handling: _Texts = Field(description="The precautions that are taken.", examples=[[]])


class PiiRiskFields(ResourcePart):
    """The cap of a risk."""

    max_ttl_seconds: int = Field(
        description="How long such a memory lives at most.", examples=[2592000]
    )
    approval: bool = Field(description="Whether an admin may grant a longer life.", examples=[True])
    delete_on_run_completion: bool = Field(
        description="Whether it goes when its run ends.", examples=[True]
    )


class PiiFields(ResourcePart):
    """The rules of personal data."""

    tags: Annotated[dict[str, PiiTagFields], WithJsonSchema(OBJECT)] = Field(
        description=f"By tag: {', '.join(PII_TAGS)}.",
        examples=[{"email": {"risk": "high", "handling": ["audit_access", "mask_in_logs"]}}],
    )
    retention_rules: Annotated[dict[str, PiiRiskFields], WithJsonSchema(OBJECT)] = Field(
        description="By risk.",
        examples=[
            {
                "critical": {
                    "max_ttl_seconds": 2592000,
                    "approval": True,
                    "delete_on_run_completion": True,
                }
            }
        ],
    )


class VacuumFields(ResourcePart):
    """When a vacuum runs, and what it takes."""

    enabled: bool = Field(description="Whether it runs by itself.", examples=[True])
    interval_hours: int = Field(description="How often it runs.", examples=[24])
    grace_days: int = Field(description="How long an expired memory is still kept.", examples=[7])
    after_days: Annotated[dict[str, int], WithJsonSchema(OBJECT)] = Field(
        description="Days by scope.", examples=[{"long_term": 30, "org": 90, "session": 1}]
    )


class BackupFields(ResourcePart):
    """What a vacuum writes first. The directory is left out: callers need not know paths of the
    server."""

    before_vacuum: bool = Field(
        description="Whether a vacuum writes what it removes to a file first.", examples=[True]
    )
    format: str = Field(description="The format of that file.", examples=["jsonl"])
    keep_days: int = Field(description="How long these files are kept.", examples=[365])


class AlertFields(ResourcePart):
    """When operators are alerted."""

    count: int
    window_minutes: int
    tags: _Texts


class RetentionRulesResource(Resource):
    """The loaded rules."""

    profile: str = Field(
        description="Whether records have a default time to live: `records` or `none`.",
        examples=["records"],
    )
    default_ttl: Annotated[dict[str, int], WithJsonSchema(OBJECT)] = Field(
        description="Seconds by scope.",
        examples=[{"long_term": 2592000, "org": 7776000, "session": 3600}],
    )
    policies: list[RetentionPolicyResource] = Field(
        description="The policies that a memory may name."
    )
    pii: PiiFields = Field(description="The rules for personal data.")
    vacuum: VacuumFields = Field(description="When a vacuum runs, and what it removes.")
    backup: BackupFields = Field(description="What a vacuum writes first.")
    audit: Annotated[dict[str, Any], WithJsonSchema(OBJECT)] = Field(
        description="When operators are alerted.", examples=[{}]
    )


class ExpiryPreviewResource(Resource):
    """When a memory would expire, and by which rule."""

    expires_at: InstantText | None = Field(
        description="When it would expire; null for never.", examples=[INSTANT_EXAMPLE]
    )
    expiry_rule: str = attribute(
        "rule", description="The rule that says so.", examples=["type:task"]
    )
    clamped: bool = Field(description="Whether a longer wish was cut.", examples=[False])


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
