"""Agent ids and owners: the syntax of an id, how one is generated, how an owner is written.

Users and agents are separate namespaces. An owner is a kind and an id. The form `agent:<id>` is
used in headers, requests and responses only; it is never stored or compared.
"""

import re
import secrets
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from recollect.kernel.errors import InvalidInput, ValidationFailed
from recollect.kernel.ids import USER_ID_CHARS_MAX, AgentId

AGENT_ID_CHARS_MAX = 64
SUFFIX_CHARS = 5
SUFFIX_ALPHABET = string.ascii_lowercase + string.digits
DEFAULT_STEM = "agent"
AGENT_PREFIX = "agent:"

_AGENT_ID = re.compile(f"[A-Za-z0-9_-]{{1,{AGENT_ID_CHARS_MAX}}}")
_NOT_IN_AN_ID = re.compile("[^a-z0-9_-]")
# Forms of group ids, present and planned: an agent with such an id could pass for a space.
_RESERVED = re.compile("-(?:private|public)$|-public-(?:org|team)-")
_RESERVED_INSIDE = re.compile("-public-(?=(?:org|team)-)")
_STEM_CHARS_MAX = AGENT_ID_CHARS_MAX - SUFFIX_CHARS - 1


class OwnerKind(StrEnum):
    """The two namespaces of owners and requesters."""

    USER = "user"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Owner:
    """A user or an agent, as owner or requester. Equal means equal kind and id, byte for byte."""

    kind: OwnerKind
    id: str

    @classmethod
    def user(cls, user_id: str) -> "Owner":
        """A user, whatever the id looks like."""
        return cls(OwnerKind.USER, user_id)

    @classmethod
    def agent(cls, agent_id: str) -> "Owner":
        """A registered agent."""
        return cls(OwnerKind.AGENT, agent_id)

    @property
    def spelling(self) -> str:
        """`agent:<id>` for an agent, the bare id for a user."""
        return f"{AGENT_PREFIX}{self.id}" if self.kind is OwnerKind.AGENT else self.id


def parse_owner(text: str, field: str = "owner_id") -> Owner:
    """The inverse of `spelling`. Raises ValidationFailed or InvalidInput.

    `agent:` before anything but a valid agent id is refused: otherwise a typing error would become
    a user id that nobody can have.
    """
    if text.startswith(AGENT_PREFIX):
        return Owner.agent(parse_agent_id(text.removeprefix(AGENT_PREFIX), field))
    if not 1 <= len(text) <= USER_ID_CHARS_MAX:
        raise ValidationFailed.for_field(field, f"must have 1 to {USER_ID_CHARS_MAX} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
        raise ValidationFailed.for_field(
            field, "must not contain control characters or lone surrogates"
        )
    return Owner.user(text)


def parse_agent_id(text: str, field: str = "id") -> AgentId:
    """Check the text as an agent id; errors name `field`.

    Reserved forms are refused whatever is registered now: a later agent could collide with them.
    """
    if not _AGENT_ID.fullmatch(text):
        raise ValidationFailed.for_field(
            field, f"must be 1 to {AGENT_ID_CHARS_MAX} of A-Z, a-z, 0-9, `_` and `-`"
        )
    if _RESERVED.search(text):
        raise InvalidInput(
            f"{field}: must not end in `-private` or `-public`, "
            "nor contain `-public-org-` or `-public-team-`",
            field=field,
            code="agent_id_reserved",
        )
    return AgentId(text)


def make_agent_id(name: str | None, suffix: Callable[[], str]) -> AgentId:
    """Generate an id for an agent without one: its name, in the characters of an id, and a suffix.

    `suffix` returns `SUFFIX_CHARS` of `SUFFIX_ALPHABET`. The result is never a reserved form:
    nobody chose it, so nobody could be asked for another.
    """
    stem = _NOT_IN_AN_ID.sub("-", (name or DEFAULT_STEM).lower())[:_STEM_CHARS_MAX]
    return AgentId(_RESERVED_INSIDE.sub("-public_", f"{stem}-{suffix()}"))


def random_suffix() -> str:
    """An unpredictable suffix of `SUFFIX_CHARS` characters."""
    return "".join(secrets.choice(SUFFIX_ALPHABET) for _ in range(SUFFIX_CHARS))
