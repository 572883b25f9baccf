"""The visible path of a conversation: which entries of which ancestors it shows.

A fork copies nothing. It stores its parent and the position of the last parent entry that it
shows. Positions count per tree, so all entries of a fork come after its fork point. The segments
of a path, from the root down, therefore never overlap and are in order one after the other.

Example: root R has entries 1 2 3 5. F forks R after 2 and adds 4 6. G forks F after 4 and adds 7.
G shows R up to 2, F up to 4, then all of G: 1 2 4 7. A fork of G after 1 shows 1 and its own
entries, because the cut of an ancestor is the lowest fork point below it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.kernel.ids import ConversationId

UNLIMITED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A conversation on the chain to the root.

    `forked_at_seq` is the position of the last entry that it shows of its parent: 0 for a blank
    fork, which shows nothing, and None for the root.
    """

    id: ConversationId
    forked_at_seq: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """The entries of one conversation up to and including position `cut`."""

    conversation_id: ConversationId
    cut: int


def visible_path(chain: Sequence[Ancestor]) -> list[Segment]:
    """Turn a chain (from the conversation up to the root) into a path (from the root down).

    The cut of an ancestor is the lowest fork point of all its descendants on the chain. A blank
    fork makes that 0: nothing above it is visible, so those ancestors are left out.
    """
    path: list[Segment] = []
    cut = UNLIMITED
    for ancestor in chain:
        if cut == 0:
            break
        path.append(Segment(ancestor.id, cut))
        if ancestor.forked_at_seq is not None:
            cut = min(cut, ancestor.forked_at_seq)
    path.reverse()
    return path


def is_on_path(path: Sequence[Segment], conversation_id: ConversationId, seq: int) -> bool:
    """Is the entry at `seq`, stored in `conversation_id`, part of the path?"""
    return any(s.conversation_id == conversation_id and seq <= s.cut for s in path)
