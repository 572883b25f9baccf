"""Typed commands: what a caller sends about people and chats.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.http.bodies import OffByDefault, StrictBody, exact_word
from recollect.http.operation import Id, Instant
from recollect.kernel.ids import PersonId
from recollect.kernel.validation import NAME_CHARS_MAX
from recollect.people.chat import ChatKind, ParticipantKind
from recollect.people.model import (
    ALIASES_MAX,
    PROVIDER_CHARS_MAX,
    RELATIONSHIP_CHARS_MAX,
    AliasKind,
)

RELATIONSHIPS_MAX = 50

PersonName = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
PersonIdField = Annotated[PersonId, Field(min_length=1, max_length=NAME_CHARS_MAX)]


class AddAlias(StrictBody, title="AliasBody"):
    """Another name, or a handle at a provider."""

    value: PersonName
    kind: Annotated[AliasKind, exact_word(AliasKind)] = AliasKind.ALIAS
    provider: Annotated[str, Field(min_length=1, max_length=PROVIDER_CHARS_MAX)] | None = None


class AddRelationship(StrictBody, title="RelationshipBody"):
    """What the person is to another one; without that one, to the caller."""

    relationship: Annotated[str, Field(min_length=1, max_length=RELATIONSHIP_CHARS_MAX)]
    to_person_id: PersonIdField | None = None


class CreatePerson(StrictBody, title="PersonBody"):
    """Somebody to be known."""

    name: PersonName
    aliases: Annotated[list[AddAlias], Field(max_length=ALIASES_MAX)] | None = None
    relationships: Annotated[list[AddRelationship], Field(max_length=RELATIONSHIPS_MAX)] | None = (
        None
    )
    metadata: dict[str, Any] | None = None


class UpdatePerson(StrictBody, title="PersonPatch"):
    """What changes of a person; null clears the time zone."""

    nullable: ClassVar[frozenset[str]] = frozenset({"time_zone"})
    name: PersonName | None = None
    time_zone: PersonName | None = None
    metadata: dict[str, Any] | None = None


class ResolvePerson(StrictBody, title="NameBody"):
    """A name to look up, and where it was said."""

    name: PersonName
    chat_id: Id | None = None


class MergePeople(StrictBody, title="MergeBody"):
    """Two people who shall be one, under the primary's id."""

    primary_id: PersonIdField
    secondary_id: PersonIdField
    dry_run: OffByDefault = False
    # States that the users of the two are the same human.
    link_users: OffByDefault = False


class UnmergePeople(StrictBody, title="UnmergeBody"):
    """Who shall be a person of their own again."""

    secondary_id: PersonIdField


class PutChat(StrictBody, title="ChatBody"):
    """A chat to make or to change; what is not sent stays, null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"title", "provider"})
    kind: Annotated[ChatKind, exact_word(ChatKind)]
    title: Annotated[str, Field(max_length=TITLE_CHARS_MAX)] | None = None
    provider: Annotated[str, Field(max_length=PROVIDER_CHARS_MAX)] | None = None


class PutParticipant(StrictBody, title="ParticipantBody"):
    """Somebody to bring in; without `joined_at` from now on. `confirmed`: they have agreed to take
    part."""

    kind: Annotated[ParticipantKind, exact_word(ParticipantKind)]
    joined_at: Instant | None = None
    confirmed: OffByDefault = False
