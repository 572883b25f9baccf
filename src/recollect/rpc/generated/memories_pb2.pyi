from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MemorySpace(_message.Message):
    __slots__ = ("kind", "id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class MemoryMessage(_message.Message):
    __slots__ = ("role", "content", "name", "user_id", "created_at")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    role: str
    content: str
    name: str
    user_id: str
    created_at: str
    def __init__(self, role: _Optional[str] = ..., content: _Optional[str] = ..., name: _Optional[str] = ..., user_id: _Optional[str] = ..., created_at: _Optional[str] = ...) -> None: ...

class MemoryMessages(_message.Message):
    __slots__ = ("items",)
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[MemoryMessage]
    def __init__(self, items: _Optional[_Iterable[_Union[MemoryMessage, _Mapping]]] = ...) -> None: ...

class TextList(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...

class MemoryWarning(_message.Message):
    __slots__ = ("code", "message")
    CODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    code: str
    message: str
    def __init__(self, code: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class Memory(_message.Message):
    __slots__ = ("id", "kind", "content", "key", "value", "space", "group_id", "visibility", "scope", "agent_id", "org_id", "type", "sensitivity", "portable", "subjects", "stated_by", "learned_in", "origin", "observed_at", "confidence", "verified", "trust", "tags", "metadata", "pii_tags", "retention_policy", "expires_at", "expiry_rule", "requested_expires_at", "valid_from", "valid_until", "created_at", "updated_at", "retracted_at", "supersedes", "superseded_by", "conflicts_with", "repeats", "version", "source", "source_entries", "source_memories", "source_agent", "run_id", "parent_run_id", "status", "archive_reason", "embedding", "learned_in_conversation", "unreadable")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ORG_ID_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    STATED_BY_FIELD_NUMBER: _ClassVar[int]
    LEARNED_IN_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    VERIFIED_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    PII_TAGS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRY_RULE_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    RETRACTED_AT_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_WITH_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_MEMORIES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_AGENT_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ARCHIVE_REASON_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    LEARNED_IN_CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    content: str
    key: str
    value: _struct_pb2.Struct
    space: MemorySpace
    group_id: str
    visibility: str
    scope: str
    agent_id: str
    org_id: str
    type: str
    sensitivity: str
    portable: bool
    subjects: _containers.RepeatedScalarFieldContainer[str]
    stated_by: str
    learned_in: str
    origin: str
    observed_at: str
    confidence: float
    verified: bool
    trust: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    metadata: _struct_pb2.Struct
    pii_tags: _containers.RepeatedScalarFieldContainer[str]
    retention_policy: str
    expires_at: str
    expiry_rule: str
    requested_expires_at: str
    valid_from: str
    valid_until: str
    created_at: str
    updated_at: str
    retracted_at: str
    supersedes: _containers.RepeatedScalarFieldContainer[str]
    superseded_by: str
    conflicts_with: _containers.RepeatedScalarFieldContainer[str]
    repeats: int
    version: int
    source: str
    source_entries: _containers.RepeatedScalarFieldContainer[str]
    source_memories: _containers.RepeatedScalarFieldContainer[str]
    source_agent: str
    run_id: str
    parent_run_id: str
    status: str
    archive_reason: str
    embedding: _containers.RepeatedScalarFieldContainer[float]
    learned_in_conversation: str
    unreadable: bool
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., content: _Optional[str] = ..., key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., space: _Optional[_Union[MemorySpace, _Mapping]] = ..., group_id: _Optional[str] = ..., visibility: _Optional[str] = ..., scope: _Optional[str] = ..., agent_id: _Optional[str] = ..., org_id: _Optional[str] = ..., type: _Optional[str] = ..., sensitivity: _Optional[str] = ..., portable: bool = ..., subjects: _Optional[_Iterable[str]] = ..., stated_by: _Optional[str] = ..., learned_in: _Optional[str] = ..., origin: _Optional[str] = ..., observed_at: _Optional[str] = ..., confidence: _Optional[float] = ..., verified: bool = ..., trust: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., pii_tags: _Optional[_Iterable[str]] = ..., retention_policy: _Optional[str] = ..., expires_at: _Optional[str] = ..., expiry_rule: _Optional[str] = ..., requested_expires_at: _Optional[str] = ..., valid_from: _Optional[str] = ..., valid_until: _Optional[str] = ..., created_at: _Optional[str] = ..., updated_at: _Optional[str] = ..., retracted_at: _Optional[str] = ..., supersedes: _Optional[_Iterable[str]] = ..., superseded_by: _Optional[str] = ..., conflicts_with: _Optional[_Iterable[str]] = ..., repeats: _Optional[int] = ..., version: _Optional[int] = ..., source: _Optional[str] = ..., source_entries: _Optional[_Iterable[str]] = ..., source_memories: _Optional[_Iterable[str]] = ..., source_agent: _Optional[str] = ..., run_id: _Optional[str] = ..., parent_run_id: _Optional[str] = ..., status: _Optional[str] = ..., archive_reason: _Optional[str] = ..., embedding: _Optional[_Iterable[float]] = ..., learned_in_conversation: _Optional[str] = ..., unreadable: bool = ...) -> None: ...

class MemoryHit(_message.Message):
    __slots__ = ("memory", "score", "stages", "why")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    memory: Memory
    score: float
    stages: _containers.RepeatedScalarFieldContainer[str]
    why: str
    def __init__(self, memory: _Optional[_Union[Memory, _Mapping]] = ..., score: _Optional[float] = ..., stages: _Optional[_Iterable[str]] = ..., why: _Optional[str] = ...) -> None: ...

class MemoryFilters(_message.Message):
    __slots__ = ("agent_id", "spaces", "all_spaces", "visibility", "scope", "run_id", "user_id", "chat_id", "asker_id", "key", "tags", "types", "subjects", "stated_by", "sensitivity", "status", "include_expired", "created_after", "created_before", "valid_at", "as_of")
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    SPACES_FIELD_NUMBER: _ClassVar[int]
    ALL_SPACES_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CHAT_ID_FIELD_NUMBER: _ClassVar[int]
    ASKER_ID_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    STATED_BY_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EXPIRED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AFTER_FIELD_NUMBER: _ClassVar[int]
    CREATED_BEFORE_FIELD_NUMBER: _ClassVar[int]
    VALID_AT_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    agent_id: str
    spaces: _containers.RepeatedCompositeFieldContainer[MemorySpace]
    all_spaces: bool
    visibility: str
    scope: str
    run_id: str
    user_id: str
    chat_id: str
    asker_id: str
    key: str
    tags: _containers.RepeatedScalarFieldContainer[str]
    types: _containers.RepeatedScalarFieldContainer[str]
    subjects: _containers.RepeatedScalarFieldContainer[str]
    stated_by: str
    sensitivity: str
    status: str
    include_expired: bool
    created_after: str
    created_before: str
    valid_at: str
    as_of: str
    def __init__(self, agent_id: _Optional[str] = ..., spaces: _Optional[_Iterable[_Union[MemorySpace, _Mapping]]] = ..., all_spaces: bool = ..., visibility: _Optional[str] = ..., scope: _Optional[str] = ..., run_id: _Optional[str] = ..., user_id: _Optional[str] = ..., chat_id: _Optional[str] = ..., asker_id: _Optional[str] = ..., key: _Optional[str] = ..., tags: _Optional[_Iterable[str]] = ..., types: _Optional[_Iterable[str]] = ..., subjects: _Optional[_Iterable[str]] = ..., stated_by: _Optional[str] = ..., sensitivity: _Optional[str] = ..., status: _Optional[str] = ..., include_expired: bool = ..., created_after: _Optional[str] = ..., created_before: _Optional[str] = ..., valid_at: _Optional[str] = ..., as_of: _Optional[str] = ...) -> None: ...

class CreateMemoryRequest(_message.Message):
    __slots__ = ("content", "messages", "key", "value", "id", "agent_id", "visibility", "scope", "run_id", "space", "chat_id", "learned_in", "stated_by", "observed_at", "time_zone", "type", "sensitivity", "portable", "subjects", "tags", "metadata", "pii_tags", "retention_policy", "ttl_seconds", "expires_at", "valid_from", "valid_until", "supersedes", "source_entries", "extract", "on_conflict", "request_approval", "wait", "wait_seconds")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    CHAT_ID_FIELD_NUMBER: _ClassVar[int]
    LEARNED_IN_FIELD_NUMBER: _ClassVar[int]
    STATED_BY_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_AT_FIELD_NUMBER: _ClassVar[int]
    TIME_ZONE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    PII_TAGS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    EXTRACT_FIELD_NUMBER: _ClassVar[int]
    ON_CONFLICT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_APPROVAL_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    WAIT_SECONDS_FIELD_NUMBER: _ClassVar[int]
    content: str
    messages: MemoryMessages
    key: str
    value: _struct_pb2.Struct
    id: str
    agent_id: str
    visibility: str
    scope: str
    run_id: str
    space: MemorySpace
    chat_id: str
    learned_in: str
    stated_by: str
    observed_at: str
    time_zone: str
    type: str
    sensitivity: str
    portable: bool
    subjects: _containers.RepeatedScalarFieldContainer[str]
    tags: _containers.RepeatedScalarFieldContainer[str]
    metadata: _struct_pb2.Struct
    pii_tags: _containers.RepeatedScalarFieldContainer[str]
    retention_policy: str
    ttl_seconds: int
    expires_at: str
    valid_from: str
    valid_until: str
    supersedes: _containers.RepeatedScalarFieldContainer[str]
    source_entries: _containers.RepeatedScalarFieldContainer[str]
    extract: bool
    on_conflict: str
    request_approval: bool
    wait: str
    wait_seconds: int
    def __init__(self, content: _Optional[str] = ..., messages: _Optional[_Union[MemoryMessages, _Mapping]] = ..., key: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., id: _Optional[str] = ..., agent_id: _Optional[str] = ..., visibility: _Optional[str] = ..., scope: _Optional[str] = ..., run_id: _Optional[str] = ..., space: _Optional[_Union[MemorySpace, _Mapping]] = ..., chat_id: _Optional[str] = ..., learned_in: _Optional[str] = ..., stated_by: _Optional[str] = ..., observed_at: _Optional[str] = ..., time_zone: _Optional[str] = ..., type: _Optional[str] = ..., sensitivity: _Optional[str] = ..., portable: bool = ..., subjects: _Optional[_Iterable[str]] = ..., tags: _Optional[_Iterable[str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., pii_tags: _Optional[_Iterable[str]] = ..., retention_policy: _Optional[str] = ..., ttl_seconds: _Optional[int] = ..., expires_at: _Optional[str] = ..., valid_from: _Optional[str] = ..., valid_until: _Optional[str] = ..., supersedes: _Optional[_Iterable[str]] = ..., source_entries: _Optional[_Iterable[str]] = ..., extract: bool = ..., on_conflict: _Optional[str] = ..., request_approval: bool = ..., wait: _Optional[str] = ..., wait_seconds: _Optional[int] = ...) -> None: ...

class WriteResult(_message.Message):
    __slots__ = ("id", "group_id", "status", "memory", "warnings")
    ID_FIELD_NUMBER: _ClassVar[int]
    GROUP_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    id: str
    group_id: str
    status: str
    memory: Memory
    warnings: _containers.RepeatedCompositeFieldContainer[MemoryWarning]
    def __init__(self, id: _Optional[str] = ..., group_id: _Optional[str] = ..., status: _Optional[str] = ..., memory: _Optional[_Union[Memory, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[MemoryWarning, _Mapping]]] = ...) -> None: ...

class UpdateMemoryRequest(_message.Message):
    __slots__ = ("memory_id", "version", "content", "value", "type", "sensitivity", "portable", "subjects", "tags", "metadata", "pii_tags", "retention_policy", "ttl_seconds", "expires_at", "valid_from", "valid_until", "clear")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SENSITIVITY_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    SUBJECTS_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    PII_TAGS_FIELD_NUMBER: _ClassVar[int]
    RETENTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    TTL_SECONDS_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    VALID_FROM_FIELD_NUMBER: _ClassVar[int]
    VALID_UNTIL_FIELD_NUMBER: _ClassVar[int]
    CLEAR_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    version: int
    content: str
    value: _struct_pb2.Struct
    type: str
    sensitivity: str
    portable: bool
    subjects: TextList
    tags: TextList
    metadata: _struct_pb2.Struct
    pii_tags: TextList
    retention_policy: str
    ttl_seconds: int
    expires_at: str
    valid_from: str
    valid_until: str
    clear: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, memory_id: _Optional[str] = ..., version: _Optional[int] = ..., content: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., type: _Optional[str] = ..., sensitivity: _Optional[str] = ..., portable: bool = ..., subjects: _Optional[_Union[TextList, _Mapping]] = ..., tags: _Optional[_Union[TextList, _Mapping]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., pii_tags: _Optional[_Union[TextList, _Mapping]] = ..., retention_policy: _Optional[str] = ..., ttl_seconds: _Optional[int] = ..., expires_at: _Optional[str] = ..., valid_from: _Optional[str] = ..., valid_until: _Optional[str] = ..., clear: _Optional[_Iterable[str]] = ...) -> None: ...

class UpdateMemoryResponse(_message.Message):
    __slots__ = ("memory", "approval_id")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    APPROVAL_ID_FIELD_NUMBER: _ClassVar[int]
    memory: Memory
    approval_id: str
    def __init__(self, memory: _Optional[_Union[Memory, _Mapping]] = ..., approval_id: _Optional[str] = ...) -> None: ...

class DeleteMemoryRequest(_message.Message):
    __slots__ = ("memory_id", "agent_id")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    agent_id: str
    def __init__(self, memory_id: _Optional[str] = ..., agent_id: _Optional[str] = ...) -> None: ...

class BatchDeletion(_message.Message):
    __slots__ = ("memory_id", "version")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    version: int
    def __init__(self, memory_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class BatchItem(_message.Message):
    __slots__ = ("create", "update", "delete")
    CREATE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    DELETE_FIELD_NUMBER: _ClassVar[int]
    create: CreateMemoryRequest
    update: UpdateMemoryRequest
    delete: BatchDeletion
    def __init__(self, create: _Optional[_Union[CreateMemoryRequest, _Mapping]] = ..., update: _Optional[_Union[UpdateMemoryRequest, _Mapping]] = ..., delete: _Optional[_Union[BatchDeletion, _Mapping]] = ...) -> None: ...

class BatchMemoriesRequest(_message.Message):
    __slots__ = ("items", "atomic")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    ATOMIC_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[BatchItem]
    atomic: bool
    def __init__(self, items: _Optional[_Iterable[_Union[BatchItem, _Mapping]]] = ..., atomic: bool = ...) -> None: ...

class BatchError(_message.Message):
    __slots__ = ("error", "code", "details")
    ERROR_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    DETAILS_FIELD_NUMBER: _ClassVar[int]
    error: str
    code: str
    details: _struct_pb2.Struct
    def __init__(self, error: _Optional[str] = ..., code: _Optional[str] = ..., details: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class BatchItemResult(_message.Message):
    __slots__ = ("index", "status", "id", "error", "warnings")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    index: int
    status: int
    id: str
    error: BatchError
    warnings: _containers.RepeatedCompositeFieldContainer[MemoryWarning]
    def __init__(self, index: _Optional[int] = ..., status: _Optional[int] = ..., id: _Optional[str] = ..., error: _Optional[_Union[BatchError, _Mapping]] = ..., warnings: _Optional[_Iterable[_Union[MemoryWarning, _Mapping]]] = ...) -> None: ...

class BatchMemoriesResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[BatchItemResult]
    def __init__(self, results: _Optional[_Iterable[_Union[BatchItemResult, _Mapping]]] = ...) -> None: ...

class SearchMemoriesRequest(_message.Message):
    __slots__ = ("query", "filters", "limit", "mode", "min_score", "after", "explain")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    MIN_SCORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    query: str
    filters: MemoryFilters
    limit: int
    mode: str
    min_score: float
    after: str
    explain: bool
    def __init__(self, query: _Optional[str] = ..., filters: _Optional[_Union[MemoryFilters, _Mapping]] = ..., limit: _Optional[int] = ..., mode: _Optional[str] = ..., min_score: _Optional[float] = ..., after: _Optional[str] = ..., explain: bool = ...) -> None: ...

class SearchMemoriesResponse(_message.Message):
    __slots__ = ("hits", "next_cursor", "degraded", "withheld")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    WITHHELD_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[MemoryHit]
    next_cursor: str
    degraded: _containers.RepeatedScalarFieldContainer[str]
    withheld: int
    def __init__(self, hits: _Optional[_Iterable[_Union[MemoryHit, _Mapping]]] = ..., next_cursor: _Optional[str] = ..., degraded: _Optional[_Iterable[str]] = ..., withheld: _Optional[int] = ...) -> None: ...

class RecallMemoriesRequest(_message.Message):
    __slots__ = ("query", "messages", "filters", "token_budget", "max_items", "include_people", "format")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_PEOPLE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    query: str
    messages: MemoryMessages
    filters: MemoryFilters
    token_budget: int
    max_items: int
    include_people: bool
    format: str
    def __init__(self, query: _Optional[str] = ..., messages: _Optional[_Union[MemoryMessages, _Mapping]] = ..., filters: _Optional[_Union[MemoryFilters, _Mapping]] = ..., token_budget: _Optional[int] = ..., max_items: _Optional[int] = ..., include_people: bool = ..., format: _Optional[str] = ...) -> None: ...

class RecalledRelationship(_message.Message):
    __slots__ = ("relationship", "to_person_id", "stated_by", "created_at")
    RELATIONSHIP_FIELD_NUMBER: _ClassVar[int]
    TO_PERSON_ID_FIELD_NUMBER: _ClassVar[int]
    STATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    relationship: str
    to_person_id: str
    stated_by: str
    created_at: str
    def __init__(self, relationship: _Optional[str] = ..., to_person_id: _Optional[str] = ..., stated_by: _Optional[str] = ..., created_at: _Optional[str] = ...) -> None: ...

class RecalledPerson(_message.Message):
    __slots__ = ("id", "name", "relationships")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    RELATIONSHIPS_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    relationships: _containers.RepeatedCompositeFieldContainer[RecalledRelationship]
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., relationships: _Optional[_Iterable[_Union[RecalledRelationship, _Mapping]]] = ...) -> None: ...

class RecallMemoriesResponse(_message.Message):
    __slots__ = ("context", "items", "people", "tokens", "token_budget", "omitted", "degraded")
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    PEOPLE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_BUDGET_FIELD_NUMBER: _ClassVar[int]
    OMITTED_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    context: str
    items: _containers.RepeatedCompositeFieldContainer[MemoryHit]
    people: _containers.RepeatedCompositeFieldContainer[RecalledPerson]
    tokens: int
    token_budget: int
    omitted: int
    degraded: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, context: _Optional[str] = ..., items: _Optional[_Iterable[_Union[MemoryHit, _Mapping]]] = ..., people: _Optional[_Iterable[_Union[RecalledPerson, _Mapping]]] = ..., tokens: _Optional[int] = ..., token_budget: _Optional[int] = ..., omitted: _Optional[int] = ..., degraded: _Optional[_Iterable[str]] = ...) -> None: ...

class ListMemoriesRequest(_message.Message):
    __slots__ = ("filters", "after", "limit")
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    filters: MemoryFilters
    after: str
    limit: int
    def __init__(self, filters: _Optional[_Union[MemoryFilters, _Mapping]] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class ListMemoriesResponse(_message.Message):
    __slots__ = ("memories", "next_cursor")
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[Memory]
    next_cursor: str
    def __init__(self, memories: _Optional[_Iterable[_Union[Memory, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class GetMemoryRequest(_message.Message):
    __slots__ = ("memory_id", "chat_id", "include", "as_of", "include_expired")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    CHAT_ID_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_EXPIRED_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    chat_id: str
    include: str
    as_of: str
    include_expired: bool
    def __init__(self, memory_id: _Optional[str] = ..., chat_id: _Optional[str] = ..., include: _Optional[str] = ..., as_of: _Optional[str] = ..., include_expired: bool = ...) -> None: ...

class MoveMemoryRequest(_message.Message):
    __slots__ = ("memory_id", "visibility", "space")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    visibility: str
    space: MemorySpace
    def __init__(self, memory_id: _Optional[str] = ..., visibility: _Optional[str] = ..., space: _Optional[_Union[MemorySpace, _Mapping]] = ...) -> None: ...

class GetHistoryRequest(_message.Message):
    __slots__ = ("memory_id", "after", "limit")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    after: str
    limit: int
    def __init__(self, memory_id: _Optional[str] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ...) -> None: ...

class HistoryItem(_message.Message):
    __slots__ = ("memory_id", "version", "change", "at", "by", "superseded_by", "depth", "content", "value", "unreadable")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    SUPERSEDED_BY_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    version: int
    change: str
    at: str
    by: str
    superseded_by: str
    depth: int
    content: str
    value: _struct_pb2.Struct
    unreadable: bool
    def __init__(self, memory_id: _Optional[str] = ..., version: _Optional[int] = ..., change: _Optional[str] = ..., at: _Optional[str] = ..., by: _Optional[str] = ..., superseded_by: _Optional[str] = ..., depth: _Optional[int] = ..., content: _Optional[str] = ..., value: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., unreadable: bool = ...) -> None: ...

class GetHistoryResponse(_message.Message):
    __slots__ = ("items", "next_cursor")
    ITEMS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    items: _containers.RepeatedCompositeFieldContainer[HistoryItem]
    next_cursor: str
    def __init__(self, items: _Optional[_Iterable[_Union[HistoryItem, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class ExplainMemoryRequest(_message.Message):
    __slots__ = ("memory_id", "chat_id", "query", "as_user")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    CHAT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    AS_USER_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    chat_id: str
    query: str
    as_user: str
    def __init__(self, memory_id: _Optional[str] = ..., chat_id: _Optional[str] = ..., query: _Optional[str] = ..., as_user: _Optional[str] = ...) -> None: ...

class MemorySource(_message.Message):
    __slots__ = ("kind", "id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    id: str
    def __init__(self, kind: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class MemorySuccession(_message.Message):
    __slots__ = ("relation", "id")
    RELATION_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    relation: str
    id: str
    def __init__(self, relation: _Optional[str] = ..., id: _Optional[str] = ...) -> None: ...

class Explanation(_message.Message):
    __slots__ = ("memory_id", "allowed", "rule", "context", "relations", "space", "origin", "portable", "expires_at", "expiry_rule", "trust", "sources", "supersession", "score")
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    RULE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    RELATIONS_FIELD_NUMBER: _ClassVar[int]
    SPACE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    PORTABLE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRY_RULE_FIELD_NUMBER: _ClassVar[int]
    TRUST_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    SUPERSESSION_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    memory_id: str
    allowed: bool
    rule: str
    context: str
    relations: _containers.RepeatedScalarFieldContainer[str]
    space: MemorySpace
    origin: str
    portable: bool
    expires_at: str
    expiry_rule: str
    trust: str
    sources: _containers.RepeatedCompositeFieldContainer[MemorySource]
    supersession: _containers.RepeatedCompositeFieldContainer[MemorySuccession]
    score: float
    def __init__(self, memory_id: _Optional[str] = ..., allowed: bool = ..., rule: _Optional[str] = ..., context: _Optional[str] = ..., relations: _Optional[_Iterable[str]] = ..., space: _Optional[_Union[MemorySpace, _Mapping]] = ..., origin: _Optional[str] = ..., portable: bool = ..., expires_at: _Optional[str] = ..., expiry_rule: _Optional[str] = ..., trust: _Optional[str] = ..., sources: _Optional[_Iterable[_Union[MemorySource, _Mapping]]] = ..., supersession: _Optional[_Iterable[_Union[MemorySuccession, _Mapping]]] = ..., score: _Optional[float] = ...) -> None: ...
