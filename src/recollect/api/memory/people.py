"""Operations, request bodies and resources of people."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.api.bodies import OffByDefault, StrictBody, exact_word
from recollect.api.memory.filters import FILTER_PARAMS
from recollect.api.memory.rows import (
    ID,
    LIST,
    OWNER,
    Id,
    id_param,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.api.operation import Operation
from recollect.api.params import Schema, query_param
from recollect.api.resources import INSTANT, INTEGER, OBJECT, TEXT, schema_ref
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
    kind: Annotated[AliasKind, exact_word(AliasKind)] = AliasKind.ALIAS
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
        "provider": nullable_field(TEXT),
        "added_by": OWNER,
        "created_at": INSTANT,
    }
)
_RELATIONSHIP = resource(
    {
        "id": ID,
        "relationship": TEXT,
        "to_person_id": nullable_field(ID),
        "stated_by": OWNER,
        "created_at": INSTANT,
    }
)
_PEOPLE: Schema = {"type": "array", "items": schema_ref("Person")}
RESOURCES: dict[str, Schema] = {
    "Alias": _ALIAS,
    "Relationship": _RELATIONSHIP,
    "Person": resource(
        {
            "id": ID,
            "name": TEXT,
            "aliases": {"type": "array", "items": schema_ref("Alias")},
            "relationships": {"type": "array", "items": schema_ref("Relationship")},
            "user_id": nullable_field(TEXT),
            "time_zone": nullable_field(TEXT),
            "created_by": nullable_field(OWNER),
            "created_at": INSTANT,
            "updated_at": INSTANT,
            "merged_into": nullable_field(ID),
            "metadata": nullable_field(OBJECT),
        }
    ),
    "ResolvedName": resource(
        {
            "person": nullable_field(schema_ref("Person")),
            "ambiguous": {"type": "boolean"},
            "candidates": _PEOPLE,
        }
    ),
    "MergedPeople": resource(
        {
            "person": schema_ref("Person"),
            "moved": {"type": "object", "additionalProperties": INTEGER},
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
_FIXED_FILTERS = {"subjects", "agent_id", "spaces", "visibility", "scope", "run_id", "user_id"}
MEMORY_PARAMS = tuple(param for param in FILTER_PARAMS if param.name not in _FIXED_FILTERS)
_PEOPLE_PATH = "/v1/people"
_PERSON_PATH = f"{_PEOPLE_PATH}/{{person_id}}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "createPerson",
        f"POST {_PEOPLE_PATH}",
        201,
        "Make somebody known in the caller's orgs, with what the caller claims of them. The id of "
        "another user is no handle, unless an admin says so.",
        response="Person",
        body=PersonBody,
        refusals=(404, 409),
    ),
    memory_operation(
        "listPeople",
        f"GET {_PEOPLE_PATH}",
        200,
        "List the people whose names the caller may see: the newest first, or with `query` those "
        "with it in their name or in an alias that the caller may see, the closest first.",
        response="Person",
        query=(query_param("A name or a part of one."),),
        paging=LIST,
    ),
    memory_operation(
        "listDuplicatePeople",
        f"GET {_PEOPLE_PATH}/duplicates",
        200,
        "List pairs of people who may be one, among those whom the caller may change.",
        response="Duplicates",
        paging=LIST,
    ),
    memory_operation(
        "resolvePerson",
        f"POST {_PEOPLE_PATH}/resolve",
        200,
        "Whom a name means when the caller says it, in a chat or outside. Creates nobody.",
        response="ResolvedName",
        body=NameBody,
        refusals=(404,),
        only_reads=True,
    ),
    memory_operation(
        "mergePeople",
        f"POST {_PEOPLE_PATH}/merge",
        200,
        "Make one person of two. Needs the right to change both. Two users' people stay two, "
        "unless an admin sends `link_users`; a user and somebody to whom others refer, unless an "
        "admin asks. A dry run counts what would move, of what the caller may see.",
        response="MergedPeople",
        body=MergeBody,
        refusals=(404, 409),
    ),
    memory_operation(
        "getPerson",
        f"GET {_PERSON_PATH}",
        200,
        "Get a person; an id that was merged away answers with the person it leads to.",
        response="Person",
    ),
    memory_operation(
        "updatePerson",
        f"PATCH {_PERSON_PATH}",
        200,
        "Change a person. Needs who created them, or their own user, who alone sets the time zone.",
        response="Person",
        body=PersonPatch,
    ),
    memory_operation(
        "deletePerson",
        f"DELETE {_PERSON_PATH}",
        204,
        "Remove a person who is no user and whom no memory of others refers to.",
        refusals=(409,),
    ),
    memory_operation(
        "listPersonMemories",
        f"GET {_PERSON_PATH}/memories",
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
    memory_operation(
        "unmergePeople",
        f"POST {_PERSON_PATH}/unmerge",
        200,
        "Undo a merge: what it moved goes back, as far as it is still there.",
        response="MergedPeople",
        body=UnmergeBody,
        refusals=(409,),
    ),
    memory_operation(
        "addAlias",
        f"POST {_PERSON_PATH}/aliases",
        201,
        "Say what a person is also called. Needs the right to change them; a handle of a user's "
        "person needs that user or an admin, and so does one that is another user's id.",
        response="Alias",
        body=AliasBody,
        refusals=(409,),
    ),
    memory_operation(
        "deleteAlias",
        f"DELETE {_PERSON_PATH}/aliases/{{value}}",
        204,
        "Take back the caller's own alias.",
    ),
    memory_operation(
        "addRelationship",
        f"POST {_PERSON_PATH}/relationships",
        201,
        "Say what a person is to the caller, or to somebody else.",
        response="Relationship",
        body=RelationshipBody,
    ),
    memory_operation(
        "deleteRelationship",
        f"DELETE {_PERSON_PATH}/relationships/{{claim_id}}",
        204,
        "Take back the caller's own claim.",
    ),
)
