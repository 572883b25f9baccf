"""Operations, request bodies and resources of people."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.api.bodies import OffByDefault, StrictBody, exactly
from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.rows import ID, LIST, OWNER, Id, id_param, optional, resource, row
from recollect.api.operation import Operation
from recollect.api.params import Schema, query
from recollect.api.resources import INSTANT, OBJECT, TEXT, WHOLE, ref
from recollect.domain.memories import NAME_CHARS_MAX
from recollect.domain.people import (
    ALIASES_MAX,
    PROVIDER_CHARS_MAX,
    RELATIONSHIP_CHARS_MAX,
    AliasKind,
)

Name = Annotated[str, Field(min_length=1, max_length=NAME_CHARS_MAX)]
RELATIONSHIPS_MAX = 50


class AliasBody(StrictBody):
    """Another name, or a handle at a provider."""

    value: Name
    kind: Annotated[AliasKind, exactly(AliasKind)] = AliasKind.ALIAS
    provider: Annotated[str, Field(min_length=1, max_length=PROVIDER_CHARS_MAX)] | None = None


class RelationshipBody(StrictBody):
    """What the person is to another one; without that one, to the caller."""

    relationship: Annotated[str, Field(min_length=1, max_length=RELATIONSHIP_CHARS_MAX)]
    to_person_id: Id | None = None


class PersonBody(StrictBody):
    """Somebody to be known."""

    name: Name
    aliases: Annotated[list[AliasBody], Field(max_length=ALIASES_MAX)] | None = None
    relationships: Annotated[list[RelationshipBody], Field(max_length=RELATIONSHIPS_MAX)] | None = (
        None
    )
    metadata: dict[str, Any] | None = None


class PersonPatch(StrictBody):
    """What changes of a person; null clears the time zone."""

    nullable: ClassVar[frozenset[str]] = frozenset({"time_zone"})
    name: Name | None = None
    time_zone: Name | None = None
    metadata: dict[str, Any] | None = None


class NameBody(StrictBody):
    """A name to look up, and where it was said."""

    name: Name
    chat_id: Id | None = None


class MergeBody(StrictBody):
    """Two people who shall be one, under the primary's id."""

    primary_id: Id
    secondary_id: Id
    dry_run: OffByDefault = False
    link_users: OffByDefault = False


class UnmergeBody(StrictBody):
    """Who shall be a person of their own again."""

    secondary_id: Id


_ALIAS = resource(
    {
        "value": TEXT,
        "kind": {"type": "string", "enum": [str(kind) for kind in AliasKind]},
        "provider": optional(TEXT),
        "added_by": OWNER,
        "created_at": INSTANT,
    }
)
_RELATIONSHIP = resource(
    {
        "id": ID,
        "relationship": TEXT,
        "to_person_id": optional(ID),
        "stated_by": OWNER,
        "created_at": INSTANT,
    }
)
_PEOPLE: Schema = {"type": "array", "items": ref("Person")}
RESOURCES: dict[str, Schema] = {
    "Alias": _ALIAS,
    "Relationship": _RELATIONSHIP,
    "Person": resource(
        {
            "id": ID,
            "name": TEXT,
            "aliases": {"type": "array", "items": ref("Alias")},
            "relationships": {"type": "array", "items": ref("Relationship")},
            "user_id": optional(TEXT),
            "time_zone": optional(TEXT),
            "created_by": optional(OWNER),
            "created_at": INSTANT,
            "updated_at": INSTANT,
            "merged_into": optional(ID),
            "metadata": optional(OBJECT),
        }
    ),
    "ResolvedName": resource(
        {
            "person": optional(ref("Person")),
            "ambiguous": {"type": "boolean"},
            "candidates": _PEOPLE,
        }
    ),
    "MergedPeople": resource(
        {
            "person": ref("Person"),
            "moved": {"type": "object", "additionalProperties": WHOLE},
        }
    ),
    "Duplicates": resource(
        {
            "people": _PEOPLE | {"minItems": 2, "maxItems": 2},
            "reason": {"type": "string", "enum": ["name", "handle", "alias"]},
        }
    ),
}

# Filters that this list sets itself: the subject is the person, and the spaces are fixed.
_SETTLED = {"subjects", "agent_id", "spaces", "visibility", "scope", "run_id", "user_id"}
MEMORY_PARAMS = tuple(param for param in FILTER_PARAMS if param.name not in _SETTLED)
_ALL = "/v1/people"
_ONE = f"{_ALL}/{{person_id}}"

OPERATIONS: tuple[Operation, ...] = (
    row(
        "createPerson",
        f"POST {_ALL}",
        201,
        "Make somebody known in the caller's orgs, with what the caller claims of them. The id of "
        "another user is no handle, unless an admin says so.",
        response="Person",
        body=PersonBody,
        refusals=(404, 409),
    ),
    row(
        "listPeople",
        f"GET {_ALL}",
        200,
        "List the people whose names the caller may see: the newest first, or with `query` those "
        "with it in their name or in an alias that the caller may see, the closest first.",
        response="Person",
        query=(query("A name or a part of one."),),
        paging=LIST,
    ),
    row(
        "listDuplicatePeople",
        f"GET {_ALL}/duplicates",
        200,
        "List pairs of people who may be one, among those whom the caller may change.",
        response="Duplicates",
        paging=LIST,
    ),
    row(
        "resolvePerson",
        f"POST {_ALL}/resolve",
        200,
        "Whom a name means when the caller says it, in a chat or outside. Creates nobody.",
        response="ResolvedName",
        body=NameBody,
        refusals=(404,),
        only_reads=True,
    ),
    row(
        "mergePeople",
        f"POST {_ALL}/merge",
        200,
        "Make one person of two. Needs the right to change both. Two users' people stay two, "
        "unless an admin sends `link_users`; a user and somebody to whom others refer, unless an "
        "admin asks. A dry run counts what would move, of what the caller may see.",
        response="MergedPeople",
        body=MergeBody,
        refusals=(404, 409),
    ),
    row(
        "getPerson",
        f"GET {_ONE}",
        200,
        "Get a person; an id that was merged away answers with the person it leads to.",
        response="Person",
    ),
    row(
        "updatePerson",
        f"PATCH {_ONE}",
        200,
        "Change a person. Needs who created them, or their own user, who alone sets the time zone.",
        response="Person",
        body=PersonPatch,
    ),
    row(
        "deletePerson",
        f"DELETE {_ONE}",
        204,
        "Remove a person who is no user and whom no memory of others refers to.",
        refusals=(409,),
    ),
    row(
        "listPersonMemories",
        f"GET {_ONE}/memories",
        200,
        "List what spaces of users and chats hold about a person, as far as it may be told to the "
        "caller here, the newest first.",
        response="Memory",
        query=(
            id_param("exclude_owner_user_id", "Leave out the space of this user."),
            *MEMORY_PARAMS,
        ),
        paging=LIST,
    ),
    row(
        "unmergePeople",
        f"POST {_ONE}/unmerge",
        200,
        "Undo a merge: what it moved goes back, as far as it is still there.",
        response="MergedPeople",
        body=UnmergeBody,
        refusals=(409,),
    ),
    row(
        "addAlias",
        f"POST {_ONE}/aliases",
        201,
        "Say what a person is also called. Needs the right to change them; a handle of a user's "
        "person needs that user or an admin, and so does one that is another user's id.",
        response="Alias",
        body=AliasBody,
        refusals=(409,),
    ),
    row(
        "deleteAlias",
        f"DELETE {_ONE}/aliases/{{value}}",
        204,
        "Take back the caller's own alias.",
    ),
    row(
        "addRelationship",
        f"POST {_ONE}/relationships",
        201,
        "Say what a person is to the caller, or to somebody else.",
        response="Relationship",
        body=RelationshipBody,
    ),
    row(
        "deleteRelationship",
        f"DELETE {_ONE}/relationships/{{claim_id}}",
        204,
        "Take back the caller's own claim.",
    ),
)
