"""Ownership transfers: offered by the owner, effective when the recipient accepts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from recollect.kernel.ids import TransferId, TreeId, UserId


class TransferRole(StrEnum):
    """Filters a list of transfers by the caller's side."""

    ALL = "all"
    SENDER = "sender"
    RECIPIENT = "recipient"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A transfer that was offered. The tree's id is also the id of its root conversation.
    `unreadable`: the title could not be decrypted."""

    id: TransferId
    tree_id: TreeId
    conversation_title: str | None
    from_user_id: UserId
    to_user_id: UserId
    created_at: datetime
    unreadable: bool = False

    def is_pending(self, now: datetime, lifetime: timedelta) -> bool:
        """Whether it can still be accepted: one that has lapsed counts as gone."""
        return self.created_at > now - lifetime
