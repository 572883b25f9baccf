"""Chats: places where people talk, named by an outside id or being a conversation tree, and who
takes part in them. Participation is a set of half-open intervals."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain import jsontext
from recollect.domain.agents import Owner
from recollect.domain.conversations import TITLE_CHARS_MAX
from recollect.domain.disclosure import ChatKind, PersonId
from recollect.domain.memory_checks import check_name
from recollect.domain.people import PROVIDER_CHARS_MAX
from recollect.domain.spaces import ChatId
from recollect.errors import ValidationFailed


class ParticipantKind(StrEnum):
    """Users and people are humans; a person need not be linked to a user."""

    USER = "user"
    PERSON = "person"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """A chat. With `tree` its id is that of a conversation tree's root."""

    id: ChatId
    kind: ChatKind
    title: str | None = None
    provider: str | None = None
    tree: bool = False
    created_by: Owner
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Participant:
    """One stay of somebody in a chat. Who returns has another one."""

    kind: ParticipantKind
    id: str
    joined_at: datetime
    left_at: datetime | None = None


def check_chat(chat_id: str, *, title: str | None = None, provider: str | None = None) -> None:
    """What a caller may send of a chat."""
    check_name(chat_id, "id")
    _check_at_most(title, "title", TITLE_CHARS_MAX)
    _check_at_most(provider, "provider", PROVIDER_CHARS_MAX)


def check_joins(
    chat: Chat, current_humans: Collection[PersonId], newcomer: PersonId | None
) -> None:
    """May somebody take part? Humans are their canonical persons, so that a user and the person
    linked to it count once; None is an agent."""
    check_participants_change(chat)
    if newcomer is not None:
        check_kind(chat.kind, {*current_humans, newcomer})


def check_kind(kind: ChatKind, humans: Collection[PersonId]) -> None:
    """A private chat has one human participant, its partner, and never a second one."""
    if kind is ChatKind.PRIVATE and len(set(humans)) > 1:
        message = "a private chat has exactly one human participant; `group` takes more"
        raise ValidationFailed.of("kind", message)


def check_participants_change(chat: Chat) -> None:
    """A tree's participants are its members, and sharing changes them."""
    if chat.tree:
        message = "the participants of a conversation are its members and are changed there"
        raise ValidationFailed.of("id", message)


def kind_of_tree(human_members: int) -> ChatKind:
    """What kind of chat a conversation tree is."""
    return ChatKind.PRIVATE if human_members == 1 else ChatKind.GROUP


def is_present(intervals: Iterable[Participant], at: datetime) -> bool:
    """Did somebody with these stays take part at that instant?"""
    return any(
        stay.joined_at <= at and (stay.left_at is None or at < stay.left_at) for stay in intervals
    )


def _check_at_most(text: str | None, name: str, chars_max: int) -> None:
    if text is None:
        return
    if len(text) > chars_max:
        raise ValidationFailed.of(name, f"must have at most {chars_max} characters")
    jsontext.check_text(text, name)
