"""The facts about a tree that policy needs."""

from dataclasses import dataclass

from recollect.kernel.access_level import Level


@dataclass(frozen=True, slots=True)
class TreeAccess:
    """A tree as one caller sees it: is it deleted, and which level does the caller have in it?"""

    deleted: bool
    level: Level | None
