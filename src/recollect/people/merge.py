"""Merges of people as the store returns them: the record of a merge, its effects, and probable
duplicates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.kernel.ids import (
    MemoryId,
    PersonId,
)
from recollect.kernel.owner import Owner


@dataclass(frozen=True, slots=True)
class PersonMerge:
    """A merge that was not undone. `moved` is the store's own record of the rows it changed."""

    id: str
    primary_id: PersonId
    secondary_id: PersonId
    at: datetime
    by: Owner
    moved: Mapping[str, Any]

    @property
    def counts(self) -> dict[str, int]:
        """How many rows of each kind moved, visible to a caller or not."""
        return {
            kind: sum(len(self.moved.get(part, ())) for part in parts)
            for kind, parts in _COUNTED_PARTS.items()
        }


@dataclass(frozen=True, slots=True)
class MergeImpact:
    """What a merge moved, for one requester. `memories` has, for each kind of row that belongs to
    memories, the memory of each row, without a visibility check: the caller counts those that a
    viewer may see. `others` counts the other rows, only those that the requester may see."""

    memories: Mapping[str, Sequence[MemoryId]]
    others: Mapping[str, int]


_COUNTED_PARTS = {
    "subjects": ("subjects", "joint_subjects"),
    "statements": ("statements",),
    "participations": ("stays", "joint_stays"),
    "claims": (
        "aliases",
        "alias_claims",
        "relationships",
        "relationships_to",
        "relationship_claims",
    ),
    "users": ("users",),
    "edges": ("edges_from", "edges_to"),
}


@dataclass(frozen=True, slots=True)
class PossibleDuplicate:
    """Two people who may be the same, and why: equal `name`, `handle` or `alias`."""

    one: PersonId
    other: PersonId
    reason: str
