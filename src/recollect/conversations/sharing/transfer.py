"""Ownership transfers: offered by the owner, effective when the recipient accepts."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.kernel.ids import TransferId, TreeId, UserId


class TransferRole(StrEnum):
    """Filters a list of transfers by the caller's side."""

    ALL = "all"
    SENDER = "sender"
    RECIPIENT = "recipient"


@dataclass(frozen=True, slots=True)
class Transfer:
    """A pending transfer. The tree's id is also the id of its root conversation."""

    id: TransferId
    tree_id: TreeId
    conversation_title: str | None
    from_user_id: UserId
    to_user_id: UserId
    created_at: datetime
