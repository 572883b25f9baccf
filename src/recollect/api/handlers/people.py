"""Handlers of people, shared by REST and gRPC."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import memory_to_json
from recollect.api.handlers.paths import path_id
from recollect.api.handlers.shapes import instant_text
from recollect.api.memory.filters import FILTER_PARAMS, filters_from_query
from recollect.api.memory.people import (
    MEMORY_PARAMS,
    AliasBody,
    MergeBody,
    NameBody,
    PersonBody,
    PersonPatch,
    RelationshipBody,
    UnmergeBody,
)
from recollect.domain.disclosure import PersonId
from recollect.domain.jsontext import dump
from recollect.domain.people import Alias, ClaimId, Relationship
from recollect.domain.spaces import to_chat_id
from recollect.services.merging import DuplicatePeople, MergeRequest, MergeResult
from recollect.services.people import NewPerson
from recollect.services.person_cards import PersonCard
from recollect.services.person_claims import AliasDraft, RelationshipDraft

# Defaults of those filters that `listPersonMemories` does not accept.
_FILTER_DEFAULTS: dict[str, Any] = {
    param.name: param.default for param in FILTER_PARAMS if param not in MEMORY_PARAMS
}


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
    return person_to_json(await call.services.people.create(call.required_requester, new))


async def list_people(call: Call) -> bytes:
    page = await call.services.people.list(
        call.required_requester,
        query=call.query["query"],
        after=call.page.after,
        limit=call.page.size,
    )
    return call.render_page(map(person_to_json, page.items), page.next_cursor)


async def get_person(call: Call) -> str:
    return person_to_json(await call.services.people.get(call.required_requester, _person_id(call)))


async def update_person(call: Call) -> str:
    body: PersonPatch = call.body
    members = {name: getattr(body, name) for name in body.model_fields_set}
    return person_to_json(
        await call.services.people.update(call.required_requester, _person_id(call), members)
    )


async def delete_person(call: Call) -> None:
    await call.services.people.remove(call.required_requester, _person_id(call))


async def resolve_person(call: Call) -> str:
    body: NameBody = call.body
    chat_id = to_chat_id(body.chat_id) if body.chat_id is not None else None
    found = await call.services.people.resolve(call.required_requester, body.name, chat_id)
    return dump(
        {
            "person": person_fields(found.card) if found.card is not None else None,
            "ambiguous": found.ambiguous,
            "candidates": [person_fields(one) for one in found.candidates],
        }
    )


async def list_person_memories(call: Call) -> bytes:
    found = await call.services.person_memories.list(
        call.required_requester,
        _person_id(call),
        filters_from_query({**_FILTER_DEFAULTS, **call.query}),
        outside_user=call.query["exclude_owner_user_id"],
        after=call.page.after,
        limit=call.page.size,
    )
    items = (dump(memory_to_json(stored, found.now)) for stored in found.page.items)
    return call.render_page(items, found.page.next_cursor)


async def merge_people(call: Call) -> str:
    body: MergeBody = call.body
    wish = MergeRequest(
        PersonId(body.primary_id),
        PersonId(body.secondary_id),
        dry_run=body.dry_run,
        link_users=body.link_users,
    )
    return _merge_to_json(await call.services.merging.merge(call.required_requester, wish))


async def unmerge_people(call: Call) -> str:
    body: UnmergeBody = call.body
    secondary_id = PersonId(body.secondary_id)
    return _merge_to_json(
        await call.services.merging.unmerge(call.required_requester, _person_id(call), secondary_id)
    )


async def list_duplicate_people(call: Call) -> bytes:
    page = await call.services.merging.duplicates(
        call.required_requester, after=call.page.after, limit=call.page.size
    )
    return call.render_page(map(_duplicates_to_json, page.items), page.next_cursor)


async def add_alias(call: Call) -> str:
    draft = _alias_draft(call.body)
    return dump(
        _alias_fields(
            await call.services.claims.add_alias(call.required_requester, _person_id(call), draft)
        )
    )


async def delete_alias(call: Call) -> None:
    value = path_id(call, "value", "claim")
    await call.services.claims.withdraw_alias(call.required_requester, _person_id(call), value)


async def add_relationship(call: Call) -> str:
    draft = _relationship_draft(call.body)
    claim = await call.services.claims.add_relationship(
        call.required_requester, _person_id(call), draft
    )
    return dump(_relationship_fields(claim))


async def delete_relationship(call: Call) -> None:
    claim_id = ClaimId(path_id(call, "claim_id", "claim"))
    await call.services.claims.withdraw_relationship(
        call.required_requester, _person_id(call), claim_id
    )


def _alias_draft(body: AliasBody) -> AliasDraft:
    return AliasDraft(body.value, body.kind, body.provider)


def _relationship_draft(body: RelationshipBody) -> RelationshipDraft:
    to_id = body.to_person_id
    return RelationshipDraft(body.relationship, PersonId(to_id) if to_id is not None else None)


def _person_id(call: Call) -> PersonId:
    return PersonId(path_id(call, "person_id", "person"))


HANDLERS: dict[str, Handler] = {
    "createPerson": create_person,
    "listPeople": list_people,
    "getPerson": get_person,
    "updatePerson": update_person,
    "deletePerson": delete_person,
    "resolvePerson": resolve_person,
    "listPersonMemories": list_person_memories,
    "mergePeople": merge_people,
    "unmergePeople": unmerge_people,
    "listDuplicatePeople": list_duplicate_people,
    "addAlias": add_alias,
    "deleteAlias": delete_alias,
    "addRelationship": add_relationship,
    "deleteRelationship": delete_relationship,
}
