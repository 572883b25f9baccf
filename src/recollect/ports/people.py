"""What services ask of storage about people and chats."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from recollect.domain.chats import Chat, Participant, ParticipantKind
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.spaces import ChatId, OrgId
from recollect.ports.database import Tx


@dataclass(frozen=True, slots=True)
class Presence:
    """One interval of somebody in a chat; half open."""

    chat_id: ChatId
    kind: ParticipantKind
    member_id: str
    joined_at: datetime
    left_at: datetime | None


class ChatStore(Protocol):
    """Trees and named chats alike: the views `chats` and `presences`."""

    def fetch(self, tx: Tx, chat_id: ChatId) -> Chat | None:
        """A chat; the kind of a tree follows from its human members now."""
        ...

    def participants(
        self, tx: Tx, chat_id: ChatId, *, include_left: bool = False
    ) -> list[Participant]:
        """Who takes part, by `joined_at` and id."""
        ...

    def people_in(self, tx: Tx, chat_id: ChatId) -> frozenset[PersonId]:
        """Canonical ids of those who take part now; users without a person have none."""
        ...

    def chats_of(
        self, tx: Tx, *, users: frozenset[UserId], people: frozenset[PersonId], agent: str | None
    ) -> frozenset[ChatId]:
        """Where any of these takes part now."""
        ...

    def creator_orgs(self, tx: Tx, chat_ids: Sequence[ChatId]) -> Mapping[ChatId, frozenset[OrgId]]:
        """The orgs of each chat's creator."""
        ...
