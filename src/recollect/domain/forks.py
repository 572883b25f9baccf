"""The visible path of a conversation: which entries of which ancestors it shows.

Positions are counted per tree and a fork's own entries are all younger than its fork point, so
the segments of a path, from the root down, never overlap: one after the other they are in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.ids import ConversationId

UNLIMITED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Ancestor:
    """A conversation on the chain to the root. `forked_at_seq` is None for the root, 0 if blank."""

    id: ConversationId
    forked_at_seq: int | None


@dataclass(frozen=True, slots=True)
class Segment:
    """The entries of one conversation up to and including position `cut`."""

    conversation_id: ConversationId
    cut: int


def visible_path(chain: Sequence[Ancestor]) -> list[Segment]:
    """`chain` goes from the conversation itself up to the root; the path from the root down.

    The cut of an ancestor is the lowest fork point of all its descendants on the chain. From a
    blank fork upwards nothing is visible, so those ancestors are left out.
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


def on_path(path: Sequence[Segment], conversation_id: ConversationId, seq: int) -> bool:
    """Is the entry at `seq`, stored in `conversation_id`, part of the path?"""
    return any(s.conversation_id == conversation_id and seq <= s.cut for s in path)
