"""Names of what the merged document describes once: enums, parts of resources, tags.

The three documents of the families describe these in place, since their readers look at one
operation at a time. Generators of clients need names, or they make up `Kind1` to `Kind20`.
"""

from collections.abc import Iterable
from enum import Enum

from recollect.agents.commands import RunEnding
from recollect.agents.model import MemoriesOfRemoved
from recollect.agents.run import RunStatus
from recollect.api_keys.model import KeyState
from recollect.audit.model import AuditOutcome, EventKind
from recollect.conversations.entries.entry import Channel, EntryOrder, ForkFilter
from recollect.conversations.model import ListMode
from recollect.doctor.model import DoctorCheck, Severity
from recollect.erasure.model import ErasureStatus
from recollect.graph.fact_patterns import EntityKind
from recollect.kernel.access_level import Level
from recollect.kernel.retention_rules import PII_TAGS, MemoryScope
from recollect.kernel.space import SpaceKind, SpaceMode, Visibility
from recollect.memories.commands import BatchOp, OnConflict, WaitFor
from recollect.memories.expiry import ApprovalStatus
from recollect.memories.model import (
    ArchiveReason,
    MemoryKind,
    MemoryOrigin,
    MemorySource,
    MemoryStatus,
    MemoryType,
    MessageRole,
    Sensitivity,
    TrustLevel,
    VersionChange,
)
from recollect.memories.rest_read import IncludedField
from recollect.memories.write.writer import WriteStatus
from recollect.people.chat import ChatKind, ParticipantKind
from recollect.people.model import AliasKind
from recollect.portability.import_model import ImportMode
from recollect.search.memories.explain_hit import FindingStage, MemorySearchComponent
from recollect.search.model import EntrySearchComponent, RecallFormat, SearchType
from recollect.visibility.disclosure import AskerRelation

_ENUMS: dict[str, type[Enum] | tuple[str, ...]] = {
    "AccessLevel": tuple(level.word for level in Level),
    "AliasKind": AliasKind,
    "ApiKeyState": KeyState,
    "ApprovalStatus": ApprovalStatus,
    "ArchiveReason": ArchiveReason,
    "AskerRelation": AskerRelation,
    "BatchOperation": BatchOp,
    "Channel": Channel,
    "ChatKind": ChatKind,
    "DisclosureContext": ("direct", "private", "group"),
    "DoctorCheckName": DoctorCheck,
    "DuplicateReason": ("name", "handle", "alias"),
    "EntityKind": EntityKind,
    "EntryOrder": EntryOrder,
    "EntrySearchComponent": EntrySearchComponent,
    "EntrySearchType": SearchType,
    "EpochWord": ("latest", "all"),
    "ErasureRole": ("person", "admin"),
    "ErasureStatus": ErasureStatus,
    "EventKind": EventKind,
    "EventOutcome": AuditOutcome,
    "EvictedResource": ("conversations",),
    "ForkFilter": ForkFilter,
    "ImportMode": ImportMode,
    "IncludedField": IncludedField,
    "ListMode": ListMode,
    "MemoriesOfRemovedAgent": MemoriesOfRemoved,
    "MemoryKind": MemoryKind,
    "MemoryOrigin": MemoryOrigin,
    "MemoryScope": MemoryScope,
    "MemorySearchComponent": MemorySearchComponent,
    "MemorySource": MemorySource,
    "MemoryStatus": MemoryStatus,
    "MemoryStatusFilter": ("all", *(str(status) for status in MemoryStatus)),
    "MemoryType": MemoryType,
    "MessageRole": MessageRole,
    "OnConflict": OnConflict,
    "ParticipantKind": ParticipantKind,
    "PiiTag": tuple(PII_TAGS),
    "RecallFormat": RecallFormat,
    "RecordOutcomeStatus": ("success", "cancelled"),
    "RunEnding": RunEnding,
    "RunStatus": RunStatus,
    "Sensitivity": Sensitivity,
    "Severity": Severity,
    "SourceKind": ("entry", "memory"),
    "SpaceKind": SpaceKind,
    "SpaceMode": SpaceMode,
    "SupersessionRelation": ("supersedes", "superseded_by"),
    "FindingStage": FindingStage,
    "TrustLevel": TrustLevel,
    "VacuumScope": ("all", *(str(scope) for scope in MemoryScope)),
    "VersionChange": VersionChange,
    "ServerCondition": ("ok", "degraded"),
    "Visibility": Visibility,
    "WaitFor": WaitFor,
    "WriteStatus": WriteStatus,
}


def _words(enum: type[Enum] | tuple[str, ...]) -> Iterable[str]:
    return enum if isinstance(enum, tuple) else (str(member.value) for member in enum)


ENUM_NAMES: dict[frozenset[str], str] = {
    frozenset(_words(enum)): name for name, enum in _ENUMS.items()
}
"""The name of an enum by its words, in whatever order a schema lists them."""

# By the path of the property in its schema; `[]` stands for the items of a list.
PART_NAMES: dict[str, str] = {
    "BatchResults.results[]": "BatchResult",
    "BatchResults.results[].error": "BatchError",
    "BatchResults.results[].warnings[]": "WriteWarning",
    "DoctorReport.checks[]": "DoctorFinding",
    "Entity.space": "Space",
    "EraseReport.checks[]": "ErasureCheck",
    "Explanation.sources[]": "ExplanationSource",
    "Explanation.space": "Space",
    "Explanation.supersession[]": "SupersessionLink",
    "GraphPath.relations[]": "GraphRelation",
    "GraphPath.relations[].space": "Space",
    "HealthReport.queue": "QueueReport",
    "ImportReport.refused[]": "RefusedLine",
    "Memory.space": "Space",
    "MemoryBatch.items[]": "BatchItem",
    "MemoryHit.space": "Space",
    "Neighbourhood.entities[]": "Entity",
    "Neighbourhood.entities[].space": "Space",
    "Neighbourhood.entity": "Entity",
    "Neighbourhood.entity.space": "Space",
    "Neighbourhood.relations[]": "GraphRelation",
    "Neighbourhood.relations[].space": "Space",
    "NewMemory.messages[]": "Message",
    "QuarantinedMemory.space": "Space",
    "Recall.people[]": "PersonCard",
    "Recall.people[].relationships[]": "CardRelationship",
    "RecallMemories.messages[]": "Message",
    "RecallMemories.spaces[]": "SpaceFilter",
    "RetentionRules.backup": "BackupRules",
    "RetentionRules.pii": "PiiRules",
    "RetentionRules.vacuum": "VacuumRules",
    "RunCompletion.removed": "RemovedCounts",
    "SearchMemories.spaces[]": "SpaceFilter",
    "WriteResult.warnings[]": "WriteWarning",
}
