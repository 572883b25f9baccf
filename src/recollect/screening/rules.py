"""Settings of screening: what to do with personal data, and the score from which on a text is
quarantined."""

from dataclasses import dataclass
from typing import Literal

from recollect.kernel.retention_rules import PiiRisk, RetentionRules


@dataclass(frozen=True, slots=True)
class ScreeningRules:
    """The server's settings for screening."""

    rules: RetentionRules
    pii_mode: Literal["tag", "redact", "reject"] = "tag"
    reject_min: PiiRisk = PiiRisk.HIGH
    quarantine_min: float = 0.8
