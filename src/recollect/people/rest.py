"""Operations, request bodies and resources of people."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from recollect.http.bodies import OffByDefault, StrictBody, exact_word
from recollect.http.call import Call, Handler
from recollect.http.operation import (
    ID,
    LIST,
    OWNER,
    Id,
    Operation,
    memory_operation,
    nullable_field,
    resource,
)
from recollect.http.params import Schema, query_param
from recollect.http.paths import path_id
from recollect.http.render import instant_text
from recollect.http.schemas import INSTANT, INTEGER, OBJECT, TEXT, schema_ref
from recollect.kernel.ids import PersonId
from recollect.kernel.space import to_chat_id
from recollect.kernel.strict_json import dump
from recollect.kernel.validation import NAME_CHARS_MAX
from recollect.people.cards import PersonCard
from recollect.people.claims_service import AliasDraft, ClaimService, RelationshipDraft
from recollect.people.merge_service import (
    DuplicatePeople,
    MergeRequest,
    MergeResult,
    MergeService,
)
from recollect.people.model import (
    ALIASES_MAX,
    PROVIDER_CHARS_MAX,
    RELATIONSHIP_CHARS_MAX,
    Alias,
    AliasKind,
    ClaimId,
    Relationship,
)
from recollect.people.service import NewPerson, PeopleService

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


def person_fields(card: PersonCard) -> dict[str, Any]:
    person = card.person
    return {
        "id": person.id,
        "name": person.name,
        "aliases": [_alias_fields(one) for one in card.aliases],
        "relationships": [_relationship_fields(one) for one in card.relationships],
        "user_id": card.user_id,
        "time_zone": card.time_zone,
        "created_by": card.created_by.spelling if card.created_by is not None else None,
        "created_at": instant_text(person.created_at),
        "updated_at": instant_text(person.updated_at),
        "merged_into": person.merged_into,
        "metadata": card.metadata,
    }


def person_to_json(card: PersonCard) -> str:
    return dump(person_fields(card))


def _alias_fields(alias: Alias) -> dict[str, Any]:
    return {
        "value": alias.value,
        "kind": alias.kind,
        "provider": alias.provider,
        "added_by": alias.added_by.spelling,
        "created_at": instant_text(alias.created_at),
    }


def _relationship_fields(claim: Relationship) -> dict[str, Any]:
    return {
        "id": claim.id,
        "relationship": claim.relationship,
        "to_person_id": claim.to_person_id,
        "stated_by": claim.stated_by.spelling,
        "created_at": instant_text(claim.created_at),
    }


def _merge_to_json(merged: MergeResult) -> str:
    return dump({"person": person_fields(merged.card), "moved": merged.moved})


def _duplicates_to_json(pair: DuplicatePeople) -> str:
    return dump({"people": [person_fields(one) for one in pair.people], "reason": pair.reason})


async def create_person(call: Call) -> str:
    body: PersonBody = call.body
    new = NewPerson(
        name=body.name,
        aliases=tuple(map(_alias_draft, body.aliases or ())),
        relationships=tuple(map(_relationship_draft, body.relationships or ())),
        metadata=body.metadata or {},
    )
    return person_to_json(await call.services[PeopleService].create(call.required_requester, new))


async def list_people(call: Call) -> bytes:
    page = await call.services[PeopleService].list(
        call.required_requester,
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(person_to_json, page.items), page.next_cursor)


async def get_person(call: Call) -> str:
    return person_to_json(
        await call.services[PeopleService].get(call.required_requester, path_person_id(call))
    )


async def update_person(call: Call) -> str:
    body: PersonPatch = call.body
    members = {name: getattr(body, name) for name in body.model_fields_set}
    return person_to_json(
        await call.services[PeopleService].update(
            call.required_requester, path_person_id(call), members
        )
    )


async def delete_person(call: Call) -> None:
    await call.services[PeopleService].remove(call.required_requester, path_person_id(call))


async def resolve_person(call: Call) -> str:
    body: NameBody = call.body
    chat_id = to_chat_id(body.chat_id) if body.chat_id is not None else None
    found = await call.services[PeopleService].resolve(call.required_requester, body.name, chat_id)
    return dump(
        {
            "person": person_fields(found.card) if found.card is not None else None,
            "ambiguous": found.ambiguous,
            "candidates": [person_fields(one) for one in found.candidates],
        }
    )


async def merge_people(call: Call) -> str:
    body: MergeBody = call.body
    wish = MergeRequest(
        PersonId(body.primary_id),
        PersonId(body.secondary_id),
        dry_run=body.dry_run,
        link_users=body.link_users,
    )
    return _merge_to_json(await call.services[MergeService].merge(call.required_requester, wish))


async def unmerge_people(call: Call) -> str:
    body: UnmergeBody = call.body
    secondary_id = PersonId(body.secondary_id)
    return _merge_to_json(
        await call.services[MergeService].unmerge(
            call.required_requester, path_person_id(call), secondary_id
        )
    )


async def list_duplicate_people(call: Call) -> bytes:
    page = await call.services[MergeService].duplicates(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(_duplicates_to_json, page.items), page.next_cursor)


async def add_alias(call: Call) -> str:
    draft = _alias_draft(call.body)
    return dump(
        _alias_fields(
            await call.services[ClaimService].add_alias(
                call.required_requester, path_person_id(call), draft
            )
        )
    )


async def delete_alias(call: Call) -> None:
    value = path_id(call, "value", "claim")
    await call.services[ClaimService].withdraw_alias(
        call.required_requester, path_person_id(call), value
    )


async def add_relationship(call: Call) -> str:
    draft = _relationship_draft(call.body)
    claim = await call.services[ClaimService].add_relationship(
        call.required_requester, path_person_id(call), draft
    )
    return dump(_relationship_fields(claim))


async def delete_relationship(call: Call) -> None:
    claim_id = ClaimId(path_id(call, "claim_id", "claim"))
    await call.services[ClaimService].withdraw_relationship(
        call.required_requester, path_person_id(call), claim_id
    )


def _alias_draft(body: AliasBody) -> AliasDraft:
    return AliasDraft(body.value, body.kind, body.provider)


def _relationship_draft(body: RelationshipBody) -> RelationshipDraft:
    to_id = body.to_person_id
    return RelationshipDraft(body.relationship, PersonId(to_id) if to_id is not None else None)


def path_person_id(call: Call) -> PersonId:
    return PersonId(path_id(call, "person_id", "person"))


HANDLERS: dict[str, Handler] = {
    "createPerson": create_person,
    "listPeople": list_people,
    "getPerson": get_person,
    "updatePerson": update_person,
    "deletePerson": delete_person,
    "resolvePerson": resolve_person,
    "mergePeople": merge_people,
    "unmergePeople": unmerge_people,
    "listDuplicatePeople": list_duplicate_people,
    "addAlias": add_alias,
    "deleteAlias": delete_alias,
    "addRelationship": add_relationship,
    "deleteRelationship": delete_relationship,
}
