"""The viewer of memories: who reads, in which chat, at which instant.

Every read of memories in a store takes a `Viewer`, so no query can forget the visibility check.
`can_view` decides about one row and names the rule; `visibility/sql.py` is the same decision as a
WHERE clause. A property test over generated worlds checks on every engine that the two agree.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from recollect.identity.model import Caller
from recollect.identity.space_policy import SpaceView, all_may_read
from recollect.visibility.disclosure import (
    AskerView,
    ChatView,
    DisclosureDecision,
    DisclosureSettings,
    MemoryView,
    decide_disclosure,
)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who reads memories.

    `callers` are those whose rights on spaces count, and all of them must have the right. When an
    agent asks for a person in a chat, these are the agent and the person: otherwise either could
    read through the other what it may not read itself.

    `asker` is the person judged by disclosure. `chat` is None outside of chats. A non-empty
    `system` is the reason of background work, which sees everything.
    """

    callers: tuple[Caller, ...]
    asker: AskerView
    chat: ChatView | None
    settings: DisclosureSettings
    now: datetime
    system: str = ""

    @classmethod
    def for_system(cls, reason: str, now: datetime) -> "Viewer":
        """A viewer that sees every memory, for background work and admin endpoints. The `reason` is
        for whoever reads the code or a trace."""
        return cls((), AskerView(), None, DisclosureSettings(), now, reason)


def can_view(viewer: Viewer, memory: MemoryView, space: SpaceView) -> DisclosureDecision:
    """May the viewer see this memory, and by which rule?

    `space` holds the facts of the memory's space. `memory.space_allows` is computed here from
    them; what the caller put there is ignored.
    """
    if viewer.system:
        return DisclosureDecision(True, "system")
    judged = replace(memory, space_allows=all_may_read(viewer.callers, space))
    return decide_disclosure(judged, viewer.asker, viewer.chat, viewer.settings)
