"""Memberships: who belongs to a tree, and at which level."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from recollect.domain.ids import TreeId, UserId

USER_ID_CHARS_MAX = 255


class Level(IntEnum):
    """Access levels in ascending order; each includes the lower ones."""

    READER = 1
    WRITER = 2
    MANAGER = 3
    OWNER = 4

    @property
    def word(self) -> str:
        """The name in JSON and in the database."""
        return self.name.lower()

    @classmethod
    def from_word(cls, word: str) -> "Level":
        """The inverse of `word`, in any letter case."""
        return cls[word.upper()]


@dataclass(frozen=True, slots=True)
class Membership:
    """One user's access to one tree."""

    tree_id: TreeId
    user_id: UserId
    level: Level
    created_at: datetime
