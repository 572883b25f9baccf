"""People: who somebody is, what others call them, and which two may become one.

A user has one person, found by the user's id alone: no name, alias or relationship word ever
links one to the other. Aliases and relationships are claims, kept per person, term and stater.
Whom a name means is decided in `resolving.py`, who may do what in `policy/people.py`.
"""

import re
import unicodedata
import zoneinfo
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, NewType

from recollect.domain.agents import Owner
from recollect.domain.conversations import is_blank
from recollect.domain.disclosure import PersonId
from recollect.domain.ids import UserId
from recollect.domain.memories import NAME_CHARS_MAX
from recollect.domain.memory_checks import check_name
from recollect.domain.spaces import ChatId, OrgId
from recollect.errors import Conflict, ValidationFailed

ClaimId = NewType("ClaimId", str)

ALIASES_MAX = 50
RELATIONSHIP_CHARS_MAX = 100
PROVIDER_CHARS_MAX = 100

# What is left must not be empty: somebody may be called My.
_LEADING = re.compile(r"\A(?:(?:my|the) |@ ?)+(?=.)", re.DOTALL)
_HANDLE_MARK = re.compile(r"[@_\d]")
_SELF = frozenset({"i", "me", "myself"})


class AliasKind(StrEnum):
    """Another name, or an address at a provider that is one person's alone."""

    ALIAS = "alias"
    HANDLE = "handle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody known. Several `user_ids` come from a merge of linked people only.

    `merged_into` is the canonical person, in one step; such a person is a redirect and no more.
    """

    id: PersonId
    name: str
    user_ids: tuple[UserId, ...] = ()
    time_zone: str | None = None
    created_by: Owner
    orgs: frozenset[OrgId] = frozenset()
    created_at: datetime
    updated_at: datetime
    merged_into: PersonId | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A claim that a person goes by this name. `stated_by` is the stater's person, if any."""

    id: ClaimId
    person_id: PersonId
    value: str
    kind: AliasKind = AliasKind.ALIAS
    provider: str | None = None
    added_by: Owner
    stated_by: PersonId | None = None
    chat_id: ChatId | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """A claim of what a person is to another one, who is the stater unless named."""

    id: ClaimId
    person_id: PersonId
    relationship: str
    to_person_id: PersonId | None = None
    stated_by: Owner
    stated_by_person: PersonId | None = None
    chat_id: ChatId | None = None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MergePlan:
    """What a permitted merge changes about the two people themselves.

    `moved_user_ids` are the links that go from the secondary to the primary, and that an unmerge
    gives back.
    """

    primary_id: PersonId
    secondary_id: PersonId
    moved_user_ids: tuple[UserId, ...]


def normal_form(name: str) -> str:
    """The spelling by which names are compared. Normal forms stay as they are."""
    form = _LEADING.sub("", _folded(name))
    return form if form == name else normal_form(form)


def is_self(word: str) -> bool:
    """Does the speaker mean the speaker? `@me` is a handle and `my I` nobody."""
    return _folded(word) in _SELF


def is_spelled_as_handle(name: str) -> bool:
    """Is it written as no plain name is: with an at sign, an underscore or a digit?

    Anybody may take the handle `anna`. A bare "Anna" must not mean that stranger for all others.
    """
    return _HANDLE_MARK.search(_folded(name)) is not None


def check_person_name(text: str, field_name: str = "name") -> None:
    """A name or an alias."""
    _check_shown(text, field_name, chars_max=NAME_CHARS_MAX)


def check_alias(value: str, provider: str | None, *, field_name: str = "value") -> None:
    """One alias or handle, and the provider where a handle is known."""
    check_person_name(value, field_name)
    if provider is not None:
        _check_shown(provider, "provider", chars_max=PROVIDER_CHARS_MAX)


def check_alias_count(count: int) -> None:
    """How many aliases and handles one person has, all staters together."""
    if count > ALIASES_MAX:
        raise ValidationFailed.of("aliases", f"must have at most {ALIASES_MAX} items")


def check_relationship(text: str, field_name: str = "relationship") -> None:
    """What a person is to another one, in the stater's words."""
    _check_shown(text, field_name, chars_max=RELATIONSHIP_CHARS_MAX)


def check_time_zone(name: str, field_name: str = "time_zone") -> None:
    """A zone of the IANA database, spelled as there."""
    if name not in _time_zones():
        message = "must be the name of an IANA time zone, such as Europe/Lisbon"
        raise ValidationFailed.of(field_name, message)


def plan_merge(
    primary: Person, secondary: Person, *, link_users: bool = False, admin: bool = False
) -> MergePlan:
    """Make one person of two. Both are canonical, so no cycle and no chain can arise.

    Two people of different users stay two unless an admin says that the users are one human.
    """
    if primary.id == secondary.id:
        raise _conflict("both ids mean one person already", "same_person")
    moved = tuple(user for user in secondary.user_ids if user not in primary.user_ids)
    if primary.user_ids and moved and not (link_users and admin):
        raise _conflict("the two people are linked to different users", "both_users")
    return MergePlan(primary.id, secondary.id, moved)


def is_merged_unasked(one: Person, other: Person) -> bool:
    """Does `people.auto_merge` cover the two? Unlinked, of one creator, orgs and equal name."""
    linked = one.user_ids or other.user_ids
    return one.id != other.id and not linked and _likeness(one) == _likeness(other)


def _likeness(person: Person) -> tuple[Owner, frozenset[OrgId], str]:
    return person.created_by, person.orgs, normal_form(person.name)


def _folded(text: str) -> str:
    compatible = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", compatible).split())


def _check_shown(text: str, field_name: str, *, chars_max: int) -> None:
    check_name(text, field_name, chars_max=chars_max)
    if is_blank(text):
        raise ValidationFailed.of(field_name, "must not be blank")


@cache
def _time_zones() -> frozenset[str]:
    # A machine without a database knows UTC; `localtime` is the machine's own zone, no zone's name.
    return frozenset(zoneinfo.available_timezones() | {"UTC"}) - {"localtime"}


def _conflict(message: str, reason: str) -> Conflict:
    return Conflict(message, details={"reason": reason})
