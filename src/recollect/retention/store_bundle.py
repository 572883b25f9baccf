"""RetentionStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.recordings.ports import RecordingStores
from recollect.retention.approvals_store import ApprovalStore
from recollect.retention.quarantine_store import QuarantineStore


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionStores(RecordingStores):
    """The stores of this package and of those below."""

    quarantine: QuarantineStore
    approvals: ApprovalStore
