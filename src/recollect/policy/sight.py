"""A sight: whose eyes look at memories, in which chat, at which instant. A store can't read
memories without one.

`stores/sights.py` says the same as SQL; a property test over generated worlds holds the two equal
on every engine.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.disclosure import (
    AskerView,
    ChatView,
    Decision,
    DisclosureSettings,
    MemoryView,
    disclose,
)
from recollect.policy.spaces import Caller, SpaceView, all_may_read


@dataclass(frozen=True, slots=True)
class Sight:
    """What a caller may see of memories.

    `callers` must all be able to read what the space alone opens: in a chat these are the person
    judged and the agent that asks for them, else one would borrow the other's rights. `asker` is
    the person judged, `chat` None outside of any. `system` is the reason of background work, which
    sees everything.
    """

    callers: tuple[Caller, ...]
    asker: AskerView
    chat: ChatView | None
    settings: DisclosureSettings
    now: datetime
    system: str = ""

    @classmethod
    def whole(cls, reason: str, now: datetime) -> "Sight":
        """Every memory, for background work and admin endpoints; the reason is for readers."""
        return cls((), AskerView(), None, DisclosureSettings(), now, reason)


def look(sight: Sight, memory: MemoryView, space: SpaceView) -> Decision:
    """May this memory be shown, and by which rule?

    `space` holds the facts of the memory's own space and row; `memory.space_allows` is computed
    here from them.
    """
    if sight.system:
        return Decision(True, "system")
    judged = replace(memory, space_allows=all_may_read(sight.callers, space))
    return disclose(judged, sight.asker, sight.chat, sight.settings)
