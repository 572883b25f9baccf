"""Ownership moves by a transfer that the recipient accepts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.ids import TransferId, TreeId, UserId


class TransferRole(StrEnum):
    """Which side of a transfer the caller is on."""

    ALL = "all"
    SENDER = "sender"
    RECIPIENT = "recipient"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A pending change of owner. The tree's id is the id of its root conversation."""

    id: TransferId
    tree_id: TreeId
    conversation_title: str | None
    from_user_id: UserId
    to_user_id: UserId
    created_at: datetime
