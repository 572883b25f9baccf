"""The levels of access to a tree of conversations, lowest first."""

from enum import IntEnum


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
