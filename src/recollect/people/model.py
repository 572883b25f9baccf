"""People, claims about them (aliases, handles, relationships), and the rule for merging two.

A user has one person, found by the user's id only: no name, alias or relationship ever links a
user to a person. A claim is stored once for each person, word and stater.
"""

import re
import unicodedata
import zoneinfo
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, NewType

from recollect.conversations.model import is_blank
from recollect.kernel.errors import Conflict, ValidationFailed
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import Owner
from recollect.kernel.validation import NAME_CHARS_MAX, check_name

ClaimId = NewType("ClaimId", str)

ALIASES_MAX = 50
RELATIONSHIP_CHARS_MAX = 100
PROVIDER_CHARS_MAX = 100

# The lookahead keeps at least one character: somebody may be called My.
_LEADING_WORDS = re.compile(r"\A(?:(?:my|the) |@ ?)+(?=.)", re.DOTALL)
# A mark in front, as in "my @bob", or an address without blanks, as bob@example.com.
_ADDRESS = re.compile(r"\A(?:(?:my|the) )*(?:@ ?\S|\S+@\S+\Z)")
_SELF_WORDS = frozenset({"i", "me", "myself"})


class AliasKind(StrEnum):
    """Another name, or a handle: an address at a provider that belongs to one person only."""

    ALIAS = "alias"
    HANDLE = "handle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person. More than one of `user_ids` comes only from a merge of linked people.

    A person with `merged_into` is nothing but a redirect to the canonical person. A redirect never
    points to another redirect.

    A person with `awaited_handle` stands for whoever bears that handle at `awaited_provider`, or
    for the user with that id if there is no provider: somebody said `@bob` before bob was known.
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
    awaited_handle: str | None = None
    awaited_provider: str | None = None

    @property
    def is_users(self) -> bool:
        """Is the person that of a user, or of one who is awaited?"""
        return bool(self.user_ids) or self.awaited_handle is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A claim that a person has this name. `stated_by` is the stater's person; agents have none.

    `verified`: an admin or a trusted client stated it.
    """

    id: ClaimId
    person_id: PersonId
    value: str
    kind: AliasKind = AliasKind.ALIAS
    provider: str | None = None
    added_by: Owner
    stated_by: PersonId | None = None
    chat_id: ChatId | None = None
    created_at: datetime
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """A claim of what a person is to another one: `to_person_id`, or the stater if that is None."""

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
    """A permitted merge of the secondary into the primary.

    `moved_user_ids` are the links to users that move to the primary; an unmerge moves them back.
    """

    primary_id: PersonId
    secondary_id: PersonId
    moved_user_ids: tuple[UserId, ...]


def normal_form(name: str) -> str:
    """The spelling by which names are compared: folded, without leading "my", "the" or "@".
    Idempotent."""
    # Repeated until nothing changes: removing a prefix may leave spaces or another prefix in front.
    form = _LEADING_WORDS.sub("", _fold_text(name))
    return form if form == name else normal_form(form)


def is_self(word: str) -> bool:
    """Is it a word for the speaker? `@me` is not: that is a handle."""
    return _fold_text(word) in _SELF_WORDS


def is_address(name: str) -> bool:
    """Does it begin with an at sign, or is it spelled like an e-mail address?

    An address names the bearer of a handle, whoever that is. A bare name never does: anybody may
    take the handle `anna`, and "Anna" must not mean that stranger for everybody else.
    """
    return _ADDRESS.match(_fold_text(name)) is not None


def is_handle_of(user_id: str, handle: str) -> bool:
    """Is the normal form of a handle this user's id? Letters that only look alike are others."""
    return user_id.casefold().removeprefix("@") == handle


def normal_provider(provider: str | None) -> str | None:
    """The spelling by which providers are compared; None for an empty one."""
    return _fold_text(provider or "") or None


def check_person_name(text: str, field_name: str = "name") -> None:
    """Check a name or an alias."""
    _check_display_text(text, field_name, chars_max=NAME_CHARS_MAX)


def check_alias(value: str, provider: str | None, *, field_name: str = "value") -> None:
    """Check an alias or handle, and the provider of a handle."""
    check_person_name(value, field_name)
    if provider is not None:
        _check_display_text(provider, "provider", chars_max=PROVIDER_CHARS_MAX)


def check_alias_count(count: int) -> None:
    """Check the number of aliases and handles of one person, over all staters."""
    if count > ALIASES_MAX:
        raise ValidationFailed.for_field("aliases", f"must have at most {ALIASES_MAX} items")


def check_relationship(text: str, field_name: str = "relationship") -> None:
    """Check what a person is to another one, in the stater's words."""
    _check_display_text(text, field_name, chars_max=RELATIONSHIP_CHARS_MAX)


def check_time_zone(name: str, field_name: str = "time_zone") -> None:
    """Check the name of a time zone: one of the IANA database, in its exact spelling."""
    if name not in _time_zones():
        message = "must be the name of an IANA time zone, such as Europe/Lisbon"
        raise ValidationFailed.for_field(field_name, message)


def plan_merge(
    primary: Person, secondary: Person, *, link_users: bool = False, admin: bool = False
) -> MergePlan:
    """Plan to merge the secondary into the primary. Both are canonical, so neither a cycle nor a
    chain of redirects can arise.

    Conflict if both ids mean one person (`same_person`), or if the two are linked to different
    users (`both_users`), unless an admin asks to link the users.
    """
    if primary.id == secondary.id:
        raise _conflict("both ids mean one person already", "same_person")
    moved = tuple(user for user in secondary.user_ids if user not in primary.user_ids)
    if primary.user_ids and moved and not (link_users and admin):
        raise _conflict("the two people are linked to different users", "both_users")
    return MergePlan(primary.id, secondary.id, moved)


def is_auto_mergeable(one: Person, other: Person) -> bool:
    """Does `people.auto_merge` merge the two? Neither is linked to a user, and creator, orgs and
    normal form of the name are equal."""
    linked = one.is_users or other.is_users
    return one.id != other.id and not linked and _auto_merge_key(one) == _auto_merge_key(other)


def _auto_merge_key(person: Person) -> tuple[Owner, frozenset[OrgId], str]:
    return person.created_by, person.orgs, normal_form(person.name)


def _fold_text(text: str) -> str:
    # Case folding can produce characters that are not normalised, so normalise again.
    compatible = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", compatible).split())


def _check_display_text(text: str, field_name: str, *, chars_max: int) -> None:
    check_name(text, field_name, chars_max=chars_max)
    if is_blank(text):
        raise ValidationFailed.for_field(field_name, "must not be blank")


@cache
def _time_zones() -> frozenset[str]:
    # A machine without a zone database still knows UTC. `localtime` is a link to the machine's own
    # zone, not the name of one.
    return frozenset(zoneinfo.available_timezones() | {"UTC"}) - {"localtime"}


def _conflict(message: str, reason: str) -> Conflict:
    return Conflict(message, details={"reason": reason})
