"""Memberships: who belongs to a tree, and at which level."""

from dataclasses import dataclass
from datetime import datetime

from recollect.kernel.access_level import Level
from recollect.kernel.ids import TreeId, UserId


@dataclass(frozen=True, slots=True)
class Membership:
    """One user's access to one tree."""

    tree_id: TreeId
    user_id: UserId
    level: Level
    created_at: datetime
