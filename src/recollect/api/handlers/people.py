"""Handlers of people, shared by REST and gRPC."""

from typing import Any

from recollect.api.calls import Call, Handler
from recollect.api.handlers.memory_shapes import to_memory
from recollect.api.handlers.paths import path_id
from recollect.api.handlers.shapes import instant
from recollect.api.memory.filters import FILTER_PARAMS, from_query
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
from recollect.domain.spaces import as_chat_id
from recollect.services.merging import Merged, MergeWish, Pair
from recollect.services.people import NewPerson
from recollect.services.person_cards import PersonCard
from recollect.services.person_claims import AliasDraft, RelationshipDraft

# Defaults of those filters that `listPersonMemories` does not accept.
_NOWHERE: dict[str, Any] = {
    param.name: param.default for param in FILTER_PARAMS if param not in MEMORY_PARAMS
}


def person_members(card: PersonCard) -> dict[str, Any]:
    person = card.person
    return {
        "id": person.id,
        "name": person.name,
        "aliases": [_alias(one) for one in card.aliases],
        "relationships": [_relationship(one) for one in card.relationships],
        "user_id": card.user_id,
        "time_zone": card.time_zone,
        "created_by": card.created_by.spelling if card.created_by is not None else None,
        "created_at": instant(person.created_at),
        "updated_at": instant(person.updated_at),
        "merged_into": person.merged_into,
        "metadata": card.metadata,
    }


def to_person(card: PersonCard) -> str:
    return dump(person_members(card))


def _alias(alias: Alias) -> dict[str, Any]:
    return {
        "value": alias.value,
        "kind": alias.kind,
        "provider": alias.provider,
        "added_by": alias.added_by.spelling,
        "created_at": instant(alias.created_at),
    }


def _relationship(claim: Relationship) -> dict[str, Any]:
    return {
        "id": claim.id,
        "relationship": claim.relationship,
        "to_person_id": claim.to_person_id,
        "stated_by": claim.stated_by.spelling,
        "created_at": instant(claim.created_at),
    }


def _to_merged(merged: Merged) -> str:
    return dump({"person": person_members(merged.card), "moved": merged.moved})


def _to_pair(pair: Pair) -> str:
    return dump({"people": [person_members(one) for one in pair.people], "reason": pair.reason})


async def create_person(call: Call) -> str:
    body: PersonBody = call.body
    new = NewPerson(
        name=body.name,
        aliases=tuple(map(_alias_draft, body.aliases or ())),
        relationships=tuple(map(_relationship_draft, body.relationships or ())),
        metadata=body.metadata or {},
    )
    return to_person(await call.services.people.create(call.asker, new))


async def list_people(call: Call) -> bytes:
    page = await call.services.people.list(
        call.asker, query=call.query["query"], after=call.page.after, limit=call.page.size
    )
    return call.to_page(map(to_person, page.items), page.next_cursor)


async def get_person(call: Call) -> str:
    return to_person(await call.services.people.get(call.asker, _person_of(call)))


async def update_person(call: Call) -> str:
    body: PersonPatch = call.body
    members = {name: getattr(body, name) for name in body.model_fields_set}
    return to_person(await call.services.people.update(call.asker, _person_of(call), members))


async def delete_person(call: Call) -> None:
    await call.services.people.remove(call.asker, _person_of(call))


async def resolve_person(call: Call) -> str:
    body: NameBody = call.body
    chat_id = as_chat_id(body.chat_id) if body.chat_id is not None else None
    found = await call.services.people.resolve(call.asker, body.name, chat_id)
    return dump(
        {
            "person": person_members(found.card) if found.card is not None else None,
            "ambiguous": found.ambiguous,
            "candidates": [person_members(one) for one in found.candidates],
        }
    )


async def list_person_memories(call: Call) -> bytes:
    found = await call.services.person_memories.list(
        call.asker,
        _person_of(call),
        from_query({**_NOWHERE, **call.query}),
        outside_user=call.query["exclude_owner_user_id"],
        after=call.page.after,
        limit=call.page.size,
    )
    items = (dump(to_memory(stored, found.now)) for stored in found.page.items)
    return call.to_page(items, found.page.next_cursor)


async def merge_people(call: Call) -> str:
    body: MergeBody = call.body
    wish = MergeWish(
        PersonId(body.primary_id),
        PersonId(body.secondary_id),
        dry_run=body.dry_run,
        link_users=body.link_users,
    )
    return _to_merged(await call.services.merging.merge(call.asker, wish))


async def unmerge_people(call: Call) -> str:
    body: UnmergeBody = call.body
    secondary_id = PersonId(body.secondary_id)
    return _to_merged(
        await call.services.merging.unmerge(call.asker, _person_of(call), secondary_id)
    )


async def list_duplicate_people(call: Call) -> bytes:
    page = await call.services.merging.duplicates(
        call.asker, after=call.page.after, limit=call.page.size
    )
    return call.to_page(map(_to_pair, page.items), page.next_cursor)


async def add_alias(call: Call) -> str:
    draft = _alias_draft(call.body)
    return dump(_alias(await call.services.claims.add_alias(call.asker, _person_of(call), draft)))


async def delete_alias(call: Call) -> None:
    value = path_id(call, "value", "claim")
    await call.services.claims.withdraw_alias(call.asker, _person_of(call), value)


async def add_relationship(call: Call) -> str:
    draft = _relationship_draft(call.body)
    claim = await call.services.claims.add_relationship(call.asker, _person_of(call), draft)
    return dump(_relationship(claim))


async def delete_relationship(call: Call) -> None:
    claim_id = ClaimId(path_id(call, "claim_id", "claim"))
    await call.services.claims.withdraw_relationship(call.asker, _person_of(call), claim_id)


def _alias_draft(body: AliasBody) -> AliasDraft:
    return AliasDraft(body.value, body.kind, body.provider)


def _relationship_draft(body: RelationshipBody) -> RelationshipDraft:
    to_id = body.to_person_id
    return RelationshipDraft(body.relationship, PersonId(to_id) if to_id is not None else None)


def _person_of(call: Call) -> PersonId:
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
