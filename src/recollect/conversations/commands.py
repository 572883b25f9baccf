"""Typed commands: what a caller sends to change conversations, entries and memberships.

REST, gRPC, tests and benchmarks make the same commands. The values of a command are typed and
within their limits, which the request bodies check; the services check everything else.
"""

from dataclasses import dataclass, field
from typing import Any

from recollect.conversations.entries.entry import Channel
from recollect.conversations.model import Keep
from recollect.kernel.access_level import Level
from recollect.kernel.ids import ConversationId, EntryId, UserId


@dataclass(frozen=True, slots=True)
class CreateConversation:
    """Begin a tree with one conversation, owned by the caller."""

    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UpdateConversation:
    """Set the title, clear it with None, and replace the metadata. `Keep.KEEP` leaves either."""

    conversation_id: ConversationId
    title: str | Keep | None = Keep.KEEP
    metadata: dict[str, Any] | Keep = Keep.KEEP


@dataclass(frozen=True, slots=True)
class ForkConversation:
    """Begin a fork that shows what comes before an entry; without a title it has its parent's."""

    conversation_id: ConversationId
    entry_id: EntryId
    title: str | None = None


@dataclass(frozen=True, slots=True)
class WriteEntry:
    """What an append and a sync have in common. A field that was not sent is None."""

    conversation_id: ConversationId
    content: Any
    content_type: str | None = None
    channel: Channel | None = None
    user_id: UserId | None = None
    indexed_content: str | None = None
    forked_at_conversation_id: ConversationId | None = None
    forked_at_entry_id: EntryId | None = None


@dataclass(frozen=True, slots=True)
class AppendEntry(WriteEntry):
    """Append one entry. An unknown conversation id is created with it.

    `role` is whose message it is, where the content does not say so. It counts for callers without
    an API key who name no channel.
    """

    role: str | None = None


class SyncEntries(WriteEntry):
    """Make the memory of the caller's client equal to the list `content`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ShareConversation:
    """Give a user a level in the whole tree; a member's level is replaced. `confirmed`: they have
    agreed to take part."""

    conversation_id: ConversationId
    user_id: UserId
    level: Level
    confirmed: bool = False


@dataclass(frozen=True, slots=True)
class ChangeMembership:
    """Change the level of somebody who is a member already."""

    conversation_id: ConversationId
    user_id: UserId
    level: Level


@dataclass(frozen=True, slots=True)
class OfferOwnership:
    """Offer the tree to one of its members."""

    conversation_id: ConversationId
    new_owner_user_id: UserId
