"""A scope says which trees a list may show. Stores require one for every list."""

from dataclasses import dataclass
from enum import Enum

from recollect.identity.tree_view import TreeAccess
from recollect.kernel.access_level import Level
from recollect.kernel.ids import UserId


class ScopeReach(Enum):
    """The three kinds of scope."""

    NOTHING = "nothing"
    MEMBER = "member"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class TreeScope:
    """No trees, the live trees in which `user_id` has at least level `least`, or all trees.

    Built by `scope_for` for callers, and by `TreeScope.system` for background work.
    """

    reach: ScopeReach
    user_id: UserId | None = None
    least: Level = Level.READER
    reason: str = ""

    @classmethod
    def nothing(cls) -> "TreeScope":
        """No trees."""
        return cls(ScopeReach.NOTHING)

    @classmethod
    def member(cls, user_id: UserId, least: Level) -> "TreeScope":
        """Live trees where the user has at least this level."""
        return cls(ScopeReach.MEMBER, user_id, least)

    @classmethod
    def system(cls, reason: str) -> "TreeScope":
        """All trees, deleted ones too. The reason is for readers of the code and the logs."""
        return cls(ScopeReach.EVERYTHING, reason=reason)

    def matches(self, view: TreeAccess) -> bool:
        """Is the tree in the scope? `view` is the tree as seen by the scope's user."""
        if self.reach is ScopeReach.MEMBER:
            return not view.deleted and view.level is not None and view.level >= self.least
        return self.reach is ScopeReach.EVERYTHING
