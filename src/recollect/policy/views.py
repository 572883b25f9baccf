"""What policy needs to know of a thing, and nothing more."""

from dataclasses import dataclass

from recollect.domain.memberships import Level


@dataclass(frozen=True, slots=True)
class TreeView:
    """A tree as one caller meets it: is it soft-deleted, and which level has the caller in it?"""

    deleted: bool
    level: Level | None
