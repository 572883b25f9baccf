"""Chats and their participants. A chat is either named by an outside system or is a conversation
tree. Participation is a set of half-open intervals [joined_at, left_at)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.identity.requester import Requester
from recollect.kernel import strict_json
from recollect.kernel.errors import ValidationFailed
from recollect.kernel.ids import AgentId, ChatId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.kernel.validation import check_path_id
from recollect.people.model import PROVIDER_CHARS_MAX


class ChatKind(StrEnum):
    """`private` has exactly one human participant; every other chat is a `group`."""

    PRIVATE = "private"
    GROUP = "group"


class ParticipantKind(StrEnum):
    """Users and people are human. A person need not be linked to a user."""

    USER = "user"
    PERSON = "person"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat. If `tree` is set, its id is that of the root conversation of a tree. `unreadable`:
    its title could not be decrypted."""

    id: ChatId
    kind: ChatKind
    title: str | None = None
    provider: str | None = None
    tree: bool = False
    created_by: Owner
    created_at: datetime
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Participant:
    """One interval in which somebody takes part in a chat. Rejoining starts another interval.

    `confirmed_at` is None for who was only invited. A confirmation holds for the whole interval,
    from `joined_at` on.
    """

    kind: ParticipantKind
    id: str
    joined_at: datetime
    left_at: datetime | None = None
    confirmed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Audience:
    """The humans who take part in a chat now. `people` and `users` are those who have confirmed
    it; `humans` counts all."""

    people: frozenset[PersonId]
    users: frozenset[UserId]
    humans: int


def check_chat(chat_id: str, *, title: str | None = None, provider: str | None = None) -> None:
    """Check what a caller may send about a chat."""
    check_path_id(chat_id, "id")
    _check_length(title, "title", TITLE_CHARS_MAX)
    _check_length(provider, "provider", PROVIDER_CHARS_MAX)


def check_can_join(
    chat: Chat, current_humans: Collection[PersonId], joining: PersonId | None
) -> None:
    """ValidationFailed if the newcomer may not join. Humans are given as canonical persons, so that
    a user and the person linked to the user count once; None stands for an agent."""
    check_participants_changeable(chat)
    if joining is not None:
        check_kind(chat.kind, {*current_humans, joining})


def check_kind(kind: ChatKind, humans: Collection[PersonId]) -> None:
    """A private chat has one human participant, its partner, and never a second one."""
    if kind is ChatKind.PRIVATE and len(set(humans)) > 1:
        message = "a private chat has exactly one human participant; `group` takes more"
        raise ValidationFailed.for_field("kind", message)


def check_participants_changeable(chat: Chat) -> None:
    """ValidationFailed for a conversation tree: its participants change by sharing."""
    if chat.tree:
        message = "the participants of a conversation are its members and are changed there"
        raise ValidationFailed.for_field("id", message)


def tree_chat_kind(human_members: int) -> ChatKind:
    return ChatKind.PRIVATE if human_members == 1 else ChatKind.GROUP


def is_present(intervals: Iterable[Participant], at: datetime) -> bool:
    """Does one of these intervals contain the instant?"""
    return any(
        interval.joined_at <= at and (interval.left_at is None or at < interval.left_at)
        for interval in intervals
    )


def _check_length(text: str | None, name: str, chars_max: int) -> None:
    if text is None:
        return
    if len(text) > chars_max:
        raise ValidationFailed.for_field(name, f"must have at most {chars_max} characters")
    strict_json.check_text(text, name)


@dataclass(frozen=True, slots=True)
class ParticipantKeys:
    """All ids under which one participant may be stored in chats."""

    users: frozenset[UserId] = frozenset()
    people: frozenset[PersonId] = frozenset()
    agent: AgentId | None = None

    @classmethod
    def for_requester(cls, requester: Requester) -> "ParticipantKeys":
        """The keys of the caller."""
        person_id = requester.person_id
        people = frozenset({person_id}) if person_id is not None else frozenset[PersonId]()
        return cls(requester.user_ids, people, requester.agent_id)

    @classmethod
    def for_participant(cls, participant: Participant) -> "ParticipantKeys":
        """The one key of a stored participation."""
        match participant.kind:
            case ParticipantKind.USER:
                return cls(users=frozenset({UserId(participant.id)}))
            case ParticipantKind.PERSON:
                return cls(people=frozenset({PersonId(participant.id)}))
            case ParticipantKind.AGENT:
                return cls(agent=AgentId(participant.id))
