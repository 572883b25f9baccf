"""Operations and resources of people."""

from typing import Annotated, Literal

from pydantic import Field

from recollect.http.call import Call, Handler
from recollect.http.examples import CLAIM_ID, PERSON_ID, USER_ID, USER_PERSON_ID
from recollect.http.operation import LIST, Operation, memory_operation
from recollect.http.params import instant_param, query_param
from recollect.http.paths import path_id
from recollect.http.resource import (
    InstantText,
    JsonObject,
    OwnerText,
    Resource,
    attribute,
    resource_schemas,
)
from recollect.kernel.ids import PersonId
from recollect.people.claims_service import ClaimService
from recollect.people.commands import (
    AddAlias,
    AddRelationship,
    CreatePerson,
    MergePeople,
    ResolvePerson,
    UnmergePeople,
    UpdatePerson,
)
from recollect.people.merge_service import MergeService
from recollect.people.model import AliasKind, ClaimId
from recollect.people.service import PeopleService


class AliasResource(Resource):
    """Another name of a person, or a handle."""

    value: str = Field(description="The name or the handle.", examples=["Caro"])
    kind: AliasKind = Field(description="Another name, or a handle.", examples=["alias"])
    provider: str | None = Field(description="Where a handle is one, such as `slack`.")
    added_by: OwnerText = Field(description="Who said so.", examples=[USER_ID])
    created_at: InstantText = Field(description="When it was said.")


class RelationshipResource(Resource):
    """What a person is to another one, as somebody claims."""

    id: str = Field(description="The id of the claim.", examples=[CLAIM_ID])
    relationship: str = Field(
        description="What the person is to the other one.", examples=["sister"]
    )
    to_person_id: str | None = Field(
        description="The other person, if the caller may know.", examples=[USER_PERSON_ID]
    )
    stated_by: OwnerText = Field(description="Who said so.", examples=[USER_ID])
    created_at: InstantText = Field(description="When it was said.")


class PersonResource(Resource):
    """A person, from the card of what the caller may see."""

    id: str = attribute("person.id", description="The id of the person.", examples=[PERSON_ID])
    name: str = attribute("person.name", description="Their name.", examples=["Carol"])
    aliases: list[AliasResource] = Field(
        description="Their other names and handles, as far as the caller may see them.",
        examples=[[]],
    )
    relationships: list[RelationshipResource] = Field(
        description="What they are to others, as far as the caller may see it.", examples=[[]]
    )
    user_id: str | None = Field(description="The user that they are, if the caller may know.")
    time_zone: str | None = Field(description="Their time zone, as the IANA database has it.")
    created_by: OwnerText | None = Field(
        description="Who made them known, if the caller may know.", examples=[USER_ID]
    )
    created_at: InstantText = attribute("person.created_at", description="When they became known.")
    updated_at: InstantText = attribute(
        "person.updated_at", description="When something about them last changed."
    )
    merged_into: str | None = attribute(
        "person.merged_into", description="The person that they were merged into."
    )
    metadata: JsonObject | None = Field(
        description="The creator's own data, if the caller may see it.", examples=[{}]
    )


class ResolvedNameResource(Resource):
    """Whom a name means."""

    person: PersonResource | None = attribute(
        "card", description="Whom the name means; null for nobody and for several."
    )
    ambiguous: bool = Field(description="Whether several people fit as well.", examples=[False])
    candidates: list[PersonResource] = Field(
        description="The people who fit, if there are several.", examples=[[]]
    )


class MergedPeopleResource(Resource):
    """The person that is left, and what moved."""

    person: PersonResource = attribute("card", description="The person that is left.")
    moved: dict[str, int] = Field(
        description="How much moved, by kind.", examples=[{"claims": 1, "subjects": 2}]
    )


class DuplicatesResource(Resource):
    """Two people who may be one, and why."""

    people: Annotated[list[PersonResource], Field(min_length=2, max_length=2)] = Field(
        description="The two."
    )
    reason: Literal["name", "handle", "alias"] = Field(
        description="What they have in common.", examples=["name"]
    )


RESOURCES = resource_schemas(
    AliasResource,
    RelationshipResource,
    PersonResource,
    ResolvedNameResource,
    MergedPeopleResource,
    DuplicatesResource,
)

_PEOPLE_PATH = "/v1/people"
_AS_OF_PARAM = instant_param(
    "as_of", "Who was known at this instant, with the names and claims of then."
)
_PERSON_PATH = f"{_PEOPLE_PATH}/{{person_id}}"

OPERATIONS: tuple[Operation, ...] = (
    memory_operation(
        "createPerson",
        f"POST {_PEOPLE_PATH}",
        201,
        "Make somebody known in the caller's orgs, with what the caller claims of them. The id of "
        "another user is no handle, unless an admin says so.",
        response="Person",
        body=CreatePerson,
        refusals=(404, 409),
    ),
    memory_operation(
        "listPeople",
        f"GET {_PEOPLE_PATH}",
        200,
        "List the people whose names the caller may see: the newest first, or with `query` those "
        "with it in their name or in an alias that the caller may see, the closest first.",
        response="Person",
        query=(query_param("A name or a part of one."), _AS_OF_PARAM),
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
        body=ResolvePerson,
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
        body=MergePeople,
        refusals=(404, 409),
    ),
    memory_operation(
        "getPerson",
        f"GET {_PERSON_PATH}",
        200,
        "Get a person; an id that was merged away answers with the person it leads to.",
        response="Person",
        query=(_AS_OF_PARAM,),
    ),
    memory_operation(
        "updatePerson",
        f"PATCH {_PERSON_PATH}",
        200,
        "Change a person. Needs who created them, or their own user, who alone sets the time zone.",
        response="Person",
        body=UpdatePerson,
        answered={"name": "Carol Baker"},
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
        body=UnmergePeople,
        refusals=(409,),
    ),
    memory_operation(
        "addAlias",
        f"POST {_PERSON_PATH}/aliases",
        201,
        "Say what a person is also called. Needs the right to change them; a handle of a user's "
        "person needs that user or an admin, and so does one that is another user's id.",
        response="Alias",
        body=AddAlias,
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
        body=AddRelationship,
    ),
    memory_operation(
        "deleteRelationship",
        f"DELETE {_PERSON_PATH}/relationships/{{claim_id}}",
        204,
        "Take back the caller's own claim.",
    ),
)


async def create_person(call: Call) -> str:
    return PersonResource.render(
        await call.services[PeopleService].create(call.required_requester, call.body)
    )


async def list_people(call: Call) -> bytes:
    page = await call.services[PeopleService].list(
        call.required_requester,
        query=call.query["query"],
        as_of=call.query["as_of"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(PersonResource.render, page.items), page.next_cursor)


async def get_person(call: Call) -> str:
    return PersonResource.render(
        await call.services[PeopleService].get(
            call.required_requester, path_person_id(call), as_of=call.query["as_of"]
        )
    )


async def update_person(call: Call) -> str:
    return PersonResource.render(
        await call.services[PeopleService].update(
            call.required_requester, path_person_id(call), call.body
        )
    )


async def delete_person(call: Call) -> None:
    await call.services[PeopleService].remove(call.required_requester, path_person_id(call))


async def resolve_person(call: Call) -> str:
    return ResolvedNameResource.render(
        await call.services[PeopleService].resolve(call.required_requester, call.body)
    )


async def merge_people(call: Call) -> str:
    return MergedPeopleResource.render(
        await call.services[MergeService].merge(call.required_requester, call.body)
    )


async def unmerge_people(call: Call) -> str:
    return MergedPeopleResource.render(
        await call.services[MergeService].unmerge(
            call.required_requester, path_person_id(call), call.body
        )
    )


async def list_duplicate_people(call: Call) -> bytes:
    page = await call.services[MergeService].duplicates(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(DuplicatesResource.render, page.items), page.next_cursor)


async def add_alias(call: Call) -> str:
    return AliasResource.render(
        await call.services[ClaimService].add_alias(
            call.required_requester, path_person_id(call), call.body
        )
    )


async def delete_alias(call: Call) -> None:
    value = path_id(call, "value", "claim")
    await call.services[ClaimService].withdraw_alias(
        call.required_requester, path_person_id(call), value
    )


async def add_relationship(call: Call) -> str:
    return RelationshipResource.render(
        await call.services[ClaimService].add_relationship(
            call.required_requester, path_person_id(call), call.body
        )
    )


async def delete_relationship(call: Call) -> None:
    claim_id = ClaimId(path_id(call, "claim_id", "claim"))
    await call.services[ClaimService].withdraw_relationship(
        call.required_requester, path_person_id(call), claim_id
    )


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
