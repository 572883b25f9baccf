"""A scope says which trees a list may show. A store can't list without one."""

from dataclasses import dataclass
from enum import Enum

from recollect.domain.ids import UserId
from recollect.domain.memberships import Level
from recollect.policy.views import TreeView


class Reach(Enum):
    """How far a scope goes."""

    NOTHING = "nothing"
    MEMBER = "member"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Scope:
    """Live trees where `user_id` has at least `least`, or everything with a reason.

    Built by `visible` for callers and by `Scope.system` for background work.
    """

    reach: Reach
    user_id: UserId | None = None
    least: Level = Level.READER
    reason: str = ""

    @classmethod
    def nothing(cls) -> "Scope":
        """Matches no tree."""
        return cls(Reach.NOTHING)

    @classmethod
    def member(cls, user_id: UserId, least: Level) -> "Scope":
        """Live trees where the user has at least this level."""
        return cls(Reach.MEMBER, user_id, least)

    @classmethod
    def system(cls, reason: str) -> "Scope":
        """All trees, deleted ones too. The reason is for the reader of the code and the log."""
        return cls(Reach.EVERYTHING, reason=reason)

    def matches(self, view: TreeView) -> bool:
        """Does the scope hold the tree that its user sees as `view`?"""
        if self.reach is Reach.MEMBER:
            return not view.deleted and view.level is not None and view.level >= self.least
        return self.reach is Reach.EVERYTHING
