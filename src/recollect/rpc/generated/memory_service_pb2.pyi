from google.protobuf import empty_pb2 as _empty_pb2
from google.protobuf import struct_pb2 as _struct_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ConversationListMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CONVERSATION_LIST_MODE_UNSPECIFIED: _ClassVar[ConversationListMode]
    ALL: _ClassVar[ConversationListMode]
    ROOTS: _ClassVar[ConversationListMode]
    LATEST_FORK: _ClassVar[ConversationListMode]

class AccessLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACCESS_LEVEL_UNSPECIFIED: _ClassVar[AccessLevel]
    OWNER: _ClassVar[AccessLevel]
    MANAGER: _ClassVar[AccessLevel]
    WRITER: _ClassVar[AccessLevel]
    READER: _ClassVar[AccessLevel]

class Channel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHANNEL_UNSPECIFIED: _ClassVar[Channel]
    HISTORY: _ClassVar[Channel]
    MEMORY: _ClassVar[Channel]

class TransferRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSFER_ROLE_UNSPECIFIED: _ClassVar[TransferRole]
    SENDER: _ClassVar[TransferRole]
    RECIPIENT: _ClassVar[TransferRole]

class RecordStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RECORD_STATUS_UNSPECIFIED: _ClassVar[RecordStatus]
    RECORD_STATUS_SUCCESS: _ClassVar[RecordStatus]
    RECORD_STATUS_CANCELLED: _ClassVar[RecordStatus]
    RECORD_STATUS_ERROR: _ClassVar[RecordStatus]
CONVERSATION_LIST_MODE_UNSPECIFIED: ConversationListMode
ALL: ConversationListMode
ROOTS: ConversationListMode
LATEST_FORK: ConversationListMode
ACCESS_LEVEL_UNSPECIFIED: AccessLevel
OWNER: AccessLevel
MANAGER: AccessLevel
WRITER: AccessLevel
READER: AccessLevel
CHANNEL_UNSPECIFIED: Channel
HISTORY: Channel
MEMORY: Channel
TRANSFER_ROLE_UNSPECIFIED: TransferRole
SENDER: TransferRole
RECIPIENT: TransferRole
RECORD_STATUS_UNSPECIFIED: RecordStatus
RECORD_STATUS_SUCCESS: RecordStatus
RECORD_STATUS_CANCELLED: RecordStatus
RECORD_STATUS_ERROR: RecordStatus

class PageRequest(_message.Message):
    __slots__ = ("page_token", "page_size")
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    page_token: str
    page_size: int
    def __init__(self, page_token: _Optional[str] = ..., page_size: _Optional[int] = ...) -> None: ...

class PageInfo(_message.Message):
    __slots__ = ("next_page_token",)
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    def __init__(self, next_page_token: _Optional[str] = ...) -> None: ...

class HealthResponse(_message.Message):
    __slots__ = ("status", "warnings", "advice")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    status: str
    warnings: _containers.RepeatedScalarFieldContainer[str]
    advice: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, status: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., advice: _Optional[_Iterable[str]] = ...) -> None: ...

class ConversationSummary(_message.Message):
    __slots__ = ("id", "title", "owner_user_id", "created_at", "updated_at", "last_message_preview", "access_level", "metadata", "unreadable")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_MESSAGE_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    title: str
    owner_user_id: str
    created_at: str
    updated_at: str
    last_message_preview: str
    access_level: AccessLevel
    metadata: _struct_pb2.Struct
    unreadable: bool
    def __init__(self, id: _Optional[bytes] = ..., title: _Optional[str] = ..., owner_user_id: _Optional[str] = ..., created_at: _Optional[str] = ..., updated_at: _Optional[str] = ..., last_message_preview: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., unreadable: bool = ...) -> None: ...

class Conversation(_message.Message):
    __slots__ = ("id", "title", "owner_user_id", "created_at", "updated_at", "last_message_preview", "access_level", "forked_at_entry_id", "forked_at_conversation_id", "metadata", "unreadable")
    ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    LAST_MESSAGE_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    title: str
    owner_user_id: str
    created_at: str
    updated_at: str
    last_message_preview: str
    access_level: AccessLevel
    forked_at_entry_id: bytes
    forked_at_conversation_id: bytes
    metadata: _struct_pb2.Struct
    unreadable: bool
    def __init__(self, id: _Optional[bytes] = ..., title: _Optional[str] = ..., owner_user_id: _Optional[str] = ..., created_at: _Optional[str] = ..., updated_at: _Optional[str] = ..., last_message_preview: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., forked_at_entry_id: _Optional[bytes] = ..., forked_at_conversation_id: _Optional[bytes] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ..., unreadable: bool = ...) -> None: ...

class CreateConversationRequest(_message.Message):
    __slots__ = ("title", "metadata")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    title: str
    metadata: _struct_pb2.Struct
    def __init__(self, title: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class UpdateConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "title", "metadata")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    title: str
    metadata: _struct_pb2.Struct
    def __init__(self, conversation_id: _Optional[bytes] = ..., title: _Optional[str] = ..., metadata: _Optional[_Union[_struct_pb2.Struct, _Mapping]] = ...) -> None: ...

class GetConversationRequest(_message.Message):
    __slots__ = ("conversation_id",)
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    def __init__(self, conversation_id: _Optional[bytes] = ...) -> None: ...

class DeleteConversationRequest(_message.Message):
    __slots__ = ("conversation_id",)
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    def __init__(self, conversation_id: _Optional[bytes] = ...) -> None: ...

class ForkConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "entry_id", "title")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry_id: bytes
    title: str
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry_id: _Optional[bytes] = ..., title: _Optional[str] = ...) -> None: ...

class ListConversationsRequest(_message.Message):
    __slots__ = ("mode", "query", "page")
    MODE_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    mode: ConversationListMode
    query: str
    page: PageRequest
    def __init__(self, mode: _Optional[_Union[ConversationListMode, str]] = ..., query: _Optional[str] = ..., page: _Optional[_Union[PageRequest, _Mapping]] = ...) -> None: ...

class ListConversationsResponse(_message.Message):
    __slots__ = ("conversations", "page_info")
    CONVERSATIONS_FIELD_NUMBER: _ClassVar[int]
    PAGE_INFO_FIELD_NUMBER: _ClassVar[int]
    conversations: _containers.RepeatedCompositeFieldContainer[ConversationSummary]
    page_info: PageInfo
    def __init__(self, conversations: _Optional[_Iterable[_Union[ConversationSummary, _Mapping]]] = ..., page_info: _Optional[_Union[PageInfo, _Mapping]] = ...) -> None: ...

class ListForksRequest(_message.Message):
    __slots__ = ("conversation_id", "page")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    page: PageRequest
    def __init__(self, conversation_id: _Optional[bytes] = ..., page: _Optional[_Union[PageRequest, _Mapping]] = ...) -> None: ...

class ListForksResponse(_message.Message):
    __slots__ = ("forks", "page_info")
    FORKS_FIELD_NUMBER: _ClassVar[int]
    PAGE_INFO_FIELD_NUMBER: _ClassVar[int]
    forks: _containers.RepeatedCompositeFieldContainer[ConversationForkSummary]
    page_info: PageInfo
    def __init__(self, forks: _Optional[_Iterable[_Union[ConversationForkSummary, _Mapping]]] = ..., page_info: _Optional[_Union[PageInfo, _Mapping]] = ...) -> None: ...

class ConversationForkSummary(_message.Message):
    __slots__ = ("conversation_id", "forked_at_entry_id", "forked_at_conversation_id", "title", "created_at", "unreadable")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    forked_at_entry_id: bytes
    forked_at_conversation_id: bytes
    title: str
    created_at: str
    unreadable: bool
    def __init__(self, conversation_id: _Optional[bytes] = ..., forked_at_entry_id: _Optional[bytes] = ..., forked_at_conversation_id: _Optional[bytes] = ..., title: _Optional[str] = ..., created_at: _Optional[str] = ..., unreadable: bool = ...) -> None: ...

class CreateEntryRequest(_message.Message):
    __slots__ = ("user_id", "channel", "content_type", "content", "indexed_content", "forked_at_conversation_id", "forked_at_entry_id")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    INDEXED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    FORKED_AT_ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    channel: Channel
    content_type: str
    content: _containers.RepeatedCompositeFieldContainer[_struct_pb2.Value]
    indexed_content: str
    forked_at_conversation_id: bytes
    forked_at_entry_id: bytes
    def __init__(self, user_id: _Optional[str] = ..., channel: _Optional[_Union[Channel, str]] = ..., content_type: _Optional[str] = ..., content: _Optional[_Iterable[_Union[_struct_pb2.Value, _Mapping]]] = ..., indexed_content: _Optional[str] = ..., forked_at_conversation_id: _Optional[bytes] = ..., forked_at_entry_id: _Optional[bytes] = ...) -> None: ...

class Entry(_message.Message):
    __slots__ = ("id", "conversation_id", "user_id", "channel", "epoch", "content_type", "content", "created_at", "removed", "unreadable")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    CONTENT_TYPE_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    conversation_id: bytes
    user_id: str
    channel: Channel
    epoch: int
    content_type: str
    content: _containers.RepeatedCompositeFieldContainer[_struct_pb2.Value]
    created_at: str
    removed: bool
    unreadable: bool
    def __init__(self, id: _Optional[bytes] = ..., conversation_id: _Optional[bytes] = ..., user_id: _Optional[str] = ..., channel: _Optional[_Union[Channel, str]] = ..., epoch: _Optional[int] = ..., content_type: _Optional[str] = ..., content: _Optional[_Iterable[_Union[_struct_pb2.Value, _Mapping]]] = ..., created_at: _Optional[str] = ..., removed: bool = ..., unreadable: bool = ...) -> None: ...

class DeleteEntryRequest(_message.Message):
    __slots__ = ("conversation_id", "entry_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry_id: bytes
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry_id: _Optional[bytes] = ...) -> None: ...

class ListEntriesRequest(_message.Message):
    __slots__ = ("conversation_id", "channel", "epoch_filter", "page", "forks", "order", "tail")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FILTER_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    FORKS_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    channel: Channel
    epoch_filter: str
    page: PageRequest
    forks: str
    order: str
    tail: int
    def __init__(self, conversation_id: _Optional[bytes] = ..., channel: _Optional[_Union[Channel, str]] = ..., epoch_filter: _Optional[str] = ..., page: _Optional[_Union[PageRequest, _Mapping]] = ..., forks: _Optional[str] = ..., order: _Optional[str] = ..., tail: _Optional[int] = ...) -> None: ...

class ListEntriesResponse(_message.Message):
    __slots__ = ("entries", "page_info")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    PAGE_INFO_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[Entry]
    page_info: PageInfo
    def __init__(self, entries: _Optional[_Iterable[_Union[Entry, _Mapping]]] = ..., page_info: _Optional[_Union[PageInfo, _Mapping]] = ...) -> None: ...

class AppendEntryRequest(_message.Message):
    __slots__ = ("conversation_id", "entry")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry: CreateEntryRequest
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry: _Optional[_Union[CreateEntryRequest, _Mapping]] = ...) -> None: ...

class SyncEntriesRequest(_message.Message):
    __slots__ = ("conversation_id", "entry")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry: CreateEntryRequest
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry: _Optional[_Union[CreateEntryRequest, _Mapping]] = ...) -> None: ...

class SyncEntriesResponse(_message.Message):
    __slots__ = ("epoch", "no_op", "epoch_incremented", "entry")
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    NO_OP_FIELD_NUMBER: _ClassVar[int]
    EPOCH_INCREMENTED_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    epoch: int
    no_op: bool
    epoch_incremented: bool
    entry: Entry
    def __init__(self, epoch: _Optional[int] = ..., no_op: bool = ..., epoch_incremented: bool = ..., entry: _Optional[_Union[Entry, _Mapping]] = ...) -> None: ...

class ConversationMembership(_message.Message):
    __slots__ = ("conversation_id", "user_id", "access_level", "created_at")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    user_id: str
    access_level: AccessLevel
    created_at: str
    def __init__(self, conversation_id: _Optional[bytes] = ..., user_id: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., created_at: _Optional[str] = ...) -> None: ...

class ListMembershipsRequest(_message.Message):
    __slots__ = ("conversation_id", "page")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    page: PageRequest
    def __init__(self, conversation_id: _Optional[bytes] = ..., page: _Optional[_Union[PageRequest, _Mapping]] = ...) -> None: ...

class ListMembershipsResponse(_message.Message):
    __slots__ = ("memberships", "page_info")
    MEMBERSHIPS_FIELD_NUMBER: _ClassVar[int]
    PAGE_INFO_FIELD_NUMBER: _ClassVar[int]
    memberships: _containers.RepeatedCompositeFieldContainer[ConversationMembership]
    page_info: PageInfo
    def __init__(self, memberships: _Optional[_Iterable[_Union[ConversationMembership, _Mapping]]] = ..., page_info: _Optional[_Union[PageInfo, _Mapping]] = ...) -> None: ...

class ShareConversationRequest(_message.Message):
    __slots__ = ("conversation_id", "user_id", "access_level", "confirmed")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    CONFIRMED_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    user_id: str
    access_level: AccessLevel
    confirmed: bool
    def __init__(self, conversation_id: _Optional[bytes] = ..., user_id: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ..., confirmed: bool = ...) -> None: ...

class UpdateMembershipRequest(_message.Message):
    __slots__ = ("conversation_id", "member_user_id", "access_level")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    ACCESS_LEVEL_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    member_user_id: str
    access_level: AccessLevel
    def __init__(self, conversation_id: _Optional[bytes] = ..., member_user_id: _Optional[str] = ..., access_level: _Optional[_Union[AccessLevel, str]] = ...) -> None: ...

class DeleteMembershipRequest(_message.Message):
    __slots__ = ("conversation_id", "member_user_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    MEMBER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    member_user_id: str
    def __init__(self, conversation_id: _Optional[bytes] = ..., member_user_id: _Optional[str] = ...) -> None: ...

class OwnershipTransfer(_message.Message):
    __slots__ = ("id", "conversation_id", "conversation_title", "from_user_id", "to_user_id", "created_at", "unreadable")
    ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_TITLE_FIELD_NUMBER: _ClassVar[int]
    FROM_USER_ID_FIELD_NUMBER: _ClassVar[int]
    TO_USER_ID_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    id: bytes
    conversation_id: bytes
    conversation_title: str
    from_user_id: str
    to_user_id: str
    created_at: str
    unreadable: bool
    def __init__(self, id: _Optional[bytes] = ..., conversation_id: _Optional[bytes] = ..., conversation_title: _Optional[str] = ..., from_user_id: _Optional[str] = ..., to_user_id: _Optional[str] = ..., created_at: _Optional[str] = ..., unreadable: bool = ...) -> None: ...

class ListOwnershipTransfersRequest(_message.Message):
    __slots__ = ("role", "page")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    role: TransferRole
    page: PageRequest
    def __init__(self, role: _Optional[_Union[TransferRole, str]] = ..., page: _Optional[_Union[PageRequest, _Mapping]] = ...) -> None: ...

class ListOwnershipTransfersResponse(_message.Message):
    __slots__ = ("transfers", "page_info")
    TRANSFERS_FIELD_NUMBER: _ClassVar[int]
    PAGE_INFO_FIELD_NUMBER: _ClassVar[int]
    transfers: _containers.RepeatedCompositeFieldContainer[OwnershipTransfer]
    page_info: PageInfo
    def __init__(self, transfers: _Optional[_Iterable[_Union[OwnershipTransfer, _Mapping]]] = ..., page_info: _Optional[_Union[PageInfo, _Mapping]] = ...) -> None: ...

class CreateOwnershipTransferRequest(_message.Message):
    __slots__ = ("conversation_id", "new_owner_user_id")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    NEW_OWNER_USER_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    new_owner_user_id: str
    def __init__(self, conversation_id: _Optional[bytes] = ..., new_owner_user_id: _Optional[str] = ...) -> None: ...

class GetOwnershipTransferRequest(_message.Message):
    __slots__ = ("transfer_id",)
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    transfer_id: bytes
    def __init__(self, transfer_id: _Optional[bytes] = ...) -> None: ...

class AcceptOwnershipTransferRequest(_message.Message):
    __slots__ = ("transfer_id",)
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    transfer_id: bytes
    def __init__(self, transfer_id: _Optional[bytes] = ...) -> None: ...

class DeleteOwnershipTransferRequest(_message.Message):
    __slots__ = ("transfer_id",)
    TRANSFER_ID_FIELD_NUMBER: _ClassVar[int]
    transfer_id: bytes
    def __init__(self, transfer_id: _Optional[bytes] = ...) -> None: ...

class SearchEntriesRequest(_message.Message):
    __slots__ = ("query", "after", "limit", "include_entry", "search_type", "group_by_conversation")
    QUERY_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ENTRY_FIELD_NUMBER: _ClassVar[int]
    SEARCH_TYPE_FIELD_NUMBER: _ClassVar[int]
    GROUP_BY_CONVERSATION_FIELD_NUMBER: _ClassVar[int]
    query: str
    after: str
    limit: int
    include_entry: bool
    search_type: str
    group_by_conversation: bool
    def __init__(self, query: _Optional[str] = ..., after: _Optional[str] = ..., limit: _Optional[int] = ..., include_entry: bool = ..., search_type: _Optional[str] = ..., group_by_conversation: bool = ...) -> None: ...

class SearchEntriesResponse(_message.Message):
    __slots__ = ("results", "next_cursor")
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_CURSOR_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[SearchResult]
    next_cursor: str
    def __init__(self, results: _Optional[_Iterable[_Union[SearchResult, _Mapping]]] = ..., next_cursor: _Optional[str] = ...) -> None: ...

class SearchResult(_message.Message):
    __slots__ = ("conversation_id", "conversation_title", "entry_id", "score", "highlights", "entry", "unreadable")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONVERSATION_TITLE_FIELD_NUMBER: _ClassVar[int]
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    HIGHLIGHTS_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    conversation_title: str
    entry_id: bytes
    score: float
    highlights: str
    entry: Entry
    unreadable: bool
    def __init__(self, conversation_id: _Optional[bytes] = ..., conversation_title: _Optional[str] = ..., entry_id: _Optional[bytes] = ..., score: _Optional[float] = ..., highlights: _Optional[str] = ..., entry: _Optional[_Union[Entry, _Mapping]] = ..., unreadable: bool = ...) -> None: ...

class IndexEntryRequest(_message.Message):
    __slots__ = ("conversation_id", "entry_id", "indexed_content")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_ID_FIELD_NUMBER: _ClassVar[int]
    INDEXED_CONTENT_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry_id: bytes
    indexed_content: str
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry_id: _Optional[bytes] = ..., indexed_content: _Optional[str] = ...) -> None: ...

class IndexConversationsRequest(_message.Message):
    __slots__ = ("entries",)
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[IndexEntryRequest]
    def __init__(self, entries: _Optional[_Iterable[_Union[IndexEntryRequest, _Mapping]]] = ...) -> None: ...

class IndexConversationsResponse(_message.Message):
    __slots__ = ("indexed",)
    INDEXED_FIELD_NUMBER: _ClassVar[int]
    indexed: int
    def __init__(self, indexed: _Optional[int] = ...) -> None: ...

class ListUnindexedEntriesRequest(_message.Message):
    __slots__ = ("limit", "cursor")
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    limit: int
    cursor: str
    def __init__(self, limit: _Optional[int] = ..., cursor: _Optional[str] = ...) -> None: ...

class UnindexedEntry(_message.Message):
    __slots__ = ("conversation_id", "entry")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    ENTRY_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    entry: Entry
    def __init__(self, conversation_id: _Optional[bytes] = ..., entry: _Optional[_Union[Entry, _Mapping]] = ...) -> None: ...

class ListUnindexedEntriesResponse(_message.Message):
    __slots__ = ("entries", "cursor")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[UnindexedEntry]
    cursor: str
    def __init__(self, entries: _Optional[_Iterable[_Union[UnindexedEntry, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class RecordRequest(_message.Message):
    __slots__ = ("conversation_id", "content", "complete")
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    COMPLETE_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    content: str
    complete: bool
    def __init__(self, conversation_id: _Optional[bytes] = ..., content: _Optional[str] = ..., complete: bool = ...) -> None: ...

class RecordResponse(_message.Message):
    __slots__ = ("status", "error_message")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ERROR_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    status: RecordStatus
    error_message: str
    def __init__(self, status: _Optional[_Union[RecordStatus, str]] = ..., error_message: _Optional[str] = ...) -> None: ...

class ReplayRequest(_message.Message):
    __slots__ = ("conversation_id",)
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    def __init__(self, conversation_id: _Optional[bytes] = ...) -> None: ...

class ReplayResponse(_message.Message):
    __slots__ = ("content", "redirect_address")
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    REDIRECT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    content: str
    redirect_address: str
    def __init__(self, content: _Optional[str] = ..., redirect_address: _Optional[str] = ...) -> None: ...

class CancelRecordRequest(_message.Message):
    __slots__ = ("conversation_id",)
    CONVERSATION_ID_FIELD_NUMBER: _ClassVar[int]
    conversation_id: bytes
    def __init__(self, conversation_id: _Optional[bytes] = ...) -> None: ...

class CancelRecordResponse(_message.Message):
    __slots__ = ("accepted", "redirect_address")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    REDIRECT_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    redirect_address: str
    def __init__(self, accepted: bool = ..., redirect_address: _Optional[str] = ...) -> None: ...

class IsEnabledResponse(_message.Message):
    __slots__ = ("enabled",)
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    enabled: bool
    def __init__(self, enabled: bool = ...) -> None: ...

class CheckRecordingsRequest(_message.Message):
    __slots__ = ("conversation_ids",)
    CONVERSATION_IDS_FIELD_NUMBER: _ClassVar[int]
    conversation_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, conversation_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...

class CheckRecordingsResponse(_message.Message):
    __slots__ = ("conversation_ids",)
    CONVERSATION_IDS_FIELD_NUMBER: _ClassVar[int]
    conversation_ids: _containers.RepeatedScalarFieldContainer[bytes]
    def __init__(self, conversation_ids: _Optional[_Iterable[bytes]] = ...) -> None: ...
