"""Typed commands: what a caller sends about people and chats.

One declaration gives the OpenAPI schema, the parsing of REST and gRPC, and what the services take.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.conversations.model import TITLE_CHARS_MAX
from recollect.http.bodies import OffByDefault, StrictBody, exact_word
from recollect.http.examples import OTHER_PERSON_ID, PERSON_ID
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

    value: PersonName = Field(description="The name or the handle.", examples=["Caro"])
    kind: Annotated[AliasKind, exact_word(AliasKind)] = Field(
        default=AliasKind.ALIAS, description="Another name, or a handle."
    )
    provider: Annotated[str, Field(min_length=1, max_length=PROVIDER_CHARS_MAX)] | None = Field(
        default=None, description="Where a handle is one, such as `slack`."
    )


class AddRelationship(StrictBody, title="RelationshipBody"):
    """What the person is to another one; without that one, to the caller."""

    relationship: Annotated[str, Field(min_length=1, max_length=RELATIONSHIP_CHARS_MAX)] = Field(
        description="What the person is to the other one.", examples=["sister"]
    )
    to_person_id: PersonIdField | None = Field(
        default=None, description="The other person; the caller if absent."
    )


class CreatePerson(StrictBody, title="PersonBody"):
    """Somebody to be known."""

    name: PersonName = Field(description="Their name.", examples=["Carol"])
    aliases: Annotated[list[AddAlias], Field(max_length=ALIASES_MAX)] | None = Field(
        default=None, description="Their other names and handles."
    )
    relationships: Annotated[list[AddRelationship], Field(max_length=RELATIONSHIPS_MAX)] | None = (
        Field(default=None, description="What they are to the caller or to others.")
    )
    metadata: dict[str, Any] | None = Field(default=None, description="Your own data.")


class UpdatePerson(StrictBody, title="PersonPatch"):
    """What changes of a person; null clears the time zone."""

    nullable: ClassVar[frozenset[str]] = frozenset({"time_zone"})
    name: PersonName | None = Field(
        default=None, description="Their name.", examples=["Carol Baker"]
    )
    time_zone: PersonName | None = Field(
        default=None,
        description="Their time zone, as the IANA database has it. Only their own user may set it.",
    )
    metadata: dict[str, Any] | None = Field(
        default=None, description="Your own data; replaced as a whole."
    )


class ResolvePerson(StrictBody, title="NameBody"):
    """A name to look up, and where it was said."""

    name: PersonName = Field(description="The name to look up.", examples=["Carol"])
    chat_id: Id | None = Field(default=None, description="The chat in which it is said.")


class MergePeople(StrictBody, title="MergeBody"):
    """Two people who shall be one, under the primary's id."""

    primary_id: PersonIdField = Field(description="The person who stays.", examples=[PERSON_ID])
    secondary_id: PersonIdField = Field(
        description="The person who becomes part of them.", examples=[OTHER_PERSON_ID]
    )
    dry_run: OffByDefault = Field(
        default=False, description="Whether to tell only what would move."
    )
    # States that the users of the two are the same human.
    link_users: OffByDefault = Field(
        default=False,
        description="Whether the users of the two are the same human. Only an admin may say so.",
    )


class UnmergePeople(StrictBody, title="UnmergeBody"):
    """Who shall be a person of their own again."""

    secondary_id: PersonIdField = Field(
        description="Who shall be a person of their own again.", examples=[OTHER_PERSON_ID]
    )


class PutChat(StrictBody, title="ChatBody"):
    """A chat to make or to change; what is not sent stays, null clears."""

    nullable: ClassVar[frozenset[str]] = frozenset({"title", "provider"})
    kind: Annotated[ChatKind, exact_word(ChatKind)] = Field(
        description="Whether it has one human or may have several.", examples=["group"]
    )
    title: Annotated[str, Field(max_length=TITLE_CHARS_MAX)] | None = Field(
        default=None, description="What it is called.", examples=["Team"]
    )
    provider: Annotated[str, Field(max_length=PROVIDER_CHARS_MAX)] | None = Field(
        default=None, description="The outside system."
    )


class PutParticipant(StrictBody, title="ParticipantBody"):
    """Somebody to bring in; without `joined_at` from now on. `confirmed`: they have agreed to take
    part."""

    kind: Annotated[ParticipantKind, exact_word(ParticipantKind)] = Field(
        description="What takes part: a user, a person or an agent.", examples=["user"]
    )
    joined_at: Instant | None = Field(
        default=None, description="Since when they take part; now if absent."
    )
    confirmed: OffByDefault = Field(
        default=False,
        description="Whether they have agreed to take part. Only an admin or a trusted client "
        "may say so.",
    )
