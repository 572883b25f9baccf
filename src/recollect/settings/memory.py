"""Sections of the memory API: spaces, privacy, personal data, retention, people, clean-up."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from recollect.kernel.retention_rules import TTL_SECONDS_MAX, RetentionProfile
from recollect.kernel.space import SpaceMode
from recollect.settings.section import Key, Name, Section, Share, broken_rule
from recollect.visibility.model import PublicInGroups, SensitiveInGroups, UnknownOrigin


class MemorySettings(Section):
    """Memories in general, and those that an agent runner keeps by itself."""

    auto_gc: bool = Field(
        True, description="run the gc when the server starts and every `gc.interval_hours`"
    )
    max_entries: int | None = Field(
        None, ge=1, description="active memories of one space; above, the least needed are archived"
    )
    enabled: bool = Field(False, description="a runner stores the input and output of each run")
    db_path: str = Field(
        ".recollect/memory.db", min_length=1, description="file of the embedded store"
    )


class ExtractionSettings(Section):
    """Facts that are extracted from what was said. This version stores messages as they are and
    extracts nothing; the values are checked, so that they hold once it does."""

    enabled: bool = Field(
        True, description="extract facts in the background; also `memory.extraction_enabled`"
    )
    confidence_threshold: Share = Field(
        0.7,
        description="least confidence of a fact that is stored; also "
        "`memory.extraction_confidence_threshold`",
    )


class SpacesSettings(Section):
    """Where memories of an agent live."""

    mode: SpaceMode = Field(
        SpaceMode.DUAL,
        description="`dual`: an agent has a private and a public space; `single`: one space that "
        "anyone may read",
    )


class PrivacySettings(Section):
    """Who is shown what."""

    sensitive_in_groups: SensitiveInGroups = Field(
        SensitiveInGroups.NEVER,
        description="whether sensitive memories are shown in a group: `never`, or while a subject "
        "takes part (`subject_present`)",
    )
    public_in_groups: PublicInGroups = Field(
        PublicInGroups.KNOWN,
        description="public memories about somebody in a group: those that one of the people who "
        "take part has to do with (`known`), or all (`anyone`)",
    )
    unknown_origin: UnknownOrigin = Field(
        UnknownOrigin.OPEN,
        description="memories of unknown origin: `open` may show public ones outside groups, "
        "`closed` shows them only to those who may read the space",
    )


class PiiSettings(Section):
    """Personal data in what is stored."""

    mode: Literal["tag", "redact", "reject"] = Field(
        "tag",
        description="`tag`: add its tags; `redact`: replace them before anything is "
        "stored; `reject`: refuse them",
    )
    reject_min_risk: Literal["low", "medium", "high", "critical"] = Field(
        "high", description="least risk that `reject` refuses"
    )


class RetentionSettings(Section):
    """How long memories live."""

    file: Path | None = Field(
        None,
        description="YAML file with TTLs, policies and caps, read at start; "
        "unset: the one in the package",
    )
    profile: RetentionProfile = Field(
        RetentionProfile.RECORDS,
        description="`records`: records have the default TTL of their scope; "
        "`none`: they have none",
    )


class RunsSettings(Section):
    """Runs of agents."""

    session_cleanup: Literal["root", "run"] = Field(
        "root",
        description="session memories are removed when the root run completes (`root`), "
        "or when their own run completes (`run`)",
    )


class ApprovalsSettings(Section):
    """Requests for a longer life than a cap allows."""

    ttl_minutes: int = Field(
        1_440,
        ge=1,
        le=TTL_SECONDS_MAX // 60,
        description="time in which an admin may decide",
    )


class QuarantineSettings(Section):
    """Texts that look like orders to the assistant."""

    threshold: Share = Field(0.8, description="injection score from which a text is quarantined")


class EventsSettings(Section):
    """What the audit log tells of memories."""

    reads: Literal["pii", "all", "none"] = Field(
        "pii",
        description="reads that are logged: of memories with high or critical risk (`pii`), "
        "`all` or `none`",
    )
    poll_ms: int = Field(
        250, ge=10, description="pause of an event stream between two queries of the log"
    )
    heartbeat_seconds: int = Field(
        15, ge=1, description="silence after which a stream sends a heartbeat"
    )
    streams_max: int = Field(
        500, ge=1, description="event streams of one process; further ones get 503"
    )


class AgentsSettings(Section):
    """The registry of agents."""

    auto_register: bool = Field(
        False, description="an unknown agent is registered as its own owner instead of refused"
    )


class PeopleSettings(Section):
    """People that memories are about."""

    auto_merge: bool = Field(
        False,
        description="merge people of one creator with equal full names, if none is linked to a "
        "user",
    )


class OrgsSettings(Section):
    """Who belongs to which org."""

    members: dict[Name, tuple[Name, ...]] = Field(
        {},
        description="org → its user ids, besides the orgs that a token names; a user with neither "
        "belongs to `default`",
        examples=[{"acme": ["ann", "bob"]}],
    )


class MemoryReconcileSettings(Section):
    """When a new statement repeats or replaces an older one; the bounds are cosine similarities."""

    duplicate_min: Share = Field(0.97, description="similarity from which a statement is a repeat")
    supersede_min: Share = Field(
        0.85, description="similarity from which a statement may replace the older one"
    )
    unsure_min: Share = Field(
        0.75,
        description="lowest similarity for a contradiction, or for a question to a model, "
        "if there is one",
    )
    hearsay_min: Share = Field(
        0.8,
        description="similarity from which a person's own statement may replace what others said",
    )
    neighbours: int = Field(20, ge=1, le=1_000, description="nearest statements that are compared")

    @model_validator(mode="after")
    def _bands_are_in_order(self) -> "MemoryReconcileSettings":
        if not self.unsure_min <= self.supersede_min <= self.duplicate_min:
            raise broken_rule(
                "reconcile.supersede_min",
                "should lie between reconcile.unsure_min and reconcile.duplicate_min",
            )
        return self


class RecallSettings(Section):
    """What is handed to a model."""

    tokenizer: Literal["bytes3"] = Field(
        "bytes3", description="how tokens are counted; `bytes3`: a third of the UTF-8 bytes"
    )


class GcSettings(Section):
    """Tidying up."""

    interval_hours: int = Field(24, ge=1, description="time between two runs")
    archive_days: int = Field(
        90, ge=1, description="age at which superseded and archived memories lose their text"
    )


class EraseSettings(Section):
    """Erasure of a person."""

    signing_key: Key | None = Field(
        None, description="signs the reports; unset: they have a digest and no signature"
    )
