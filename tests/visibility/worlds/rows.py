"""Worlds of memories as rows, written in bulk past the stores."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Table, insert

from recollect.db.statements import Query, param
from recollect.db.tables.conversations import conversations, participations, trees
from recollect.db.tables.memories import (
    memories,
    memory_subjects,
    memory_tags,
    memory_versions,
)
from recollect.db.tables.people import (
    agents,
    chat_participations,
    named_chats,
    people,
    person_aliases,
    person_orgs,
    person_users,
    run_ancestors,
    runs,
    user_orgs,
)
from recollect.db.transaction import Tx
from recollect.kernel.owner import Owner
from recollect.people.model import normal_form
from tests.visibility.worlds.world import (
    NOW,
    ChatFact,
    Fact,
    GeneratedWorld,
    Participation,
    spelled,
)

_Rows = Iterator[tuple[Table, dict[str, Any]]]
_statements: dict[tuple[str, tuple[str, ...]], Query] = {}


def store(tx: Tx, worlds: Iterable[GeneratedWorld]) -> None:
    """Write the worlds."""
    for world in worlds:
        for table, values in _rows(world):
            tx.run(_statement(table, tuple(values)), values)


def _statement(table: Table, names: tuple[str, ...]) -> Query:
    known = _statements.get((table.name, names))
    if known is None:
        values = {name: param(name, table.c[name]) for name in names}
        known = _statements[table.name, names] = Query(insert(table).values(values))
    return known


def _rows(world: GeneratedWorld) -> _Rows:
    yield from _people(world)
    yield from _handles(world)
    for chat in world.chats.values():
        yield from _tree(chat) if chat.tree else _named(chat)
    yield from _runs(world)
    for fact in world.facts:
        yield from _memory(fact)


def _people(world: GeneratedWorld) -> _Rows:
    for user, orgs in world.user_orgs.items():
        for org in sorted(orgs):
            yield user_orgs, {"user_id": user, "org_id": org}
    for person in world.all_people:
        yield from _person(person, person, by="somebody", orgs=world.orgs_of(person))
    for user, person in world.people.items():
        yield person_users, {"user_id": user, "person_id": person}
    for agent_id, (owner, org) in world.agents.items():
        row = {"id": agent_id, "owner_kind": owner.kind, "owner_id": owner.id, "org_id": org}
        made = {"created_by_kind": owner.kind, "created_by_id": owner.id}
        yield agents, row | made | {"created_at": NOW, "updated_at": NOW}


def _person(person: str, name: str, *, by: str, orgs: frozenset[str]) -> _Rows:
    made = {"created_by_kind": "user", "created_by_id": by, "created_at": NOW, "updated_at": NOW}
    yield people, {"id": person, "name": name, "normal_name": normal_form(name)} | made
    for org in sorted(orgs):
        yield person_orgs, {"person_id": person, "org_id": org}


def _handles(world: GeneratedWorld) -> _Rows:
    for number, handle in enumerate(world.handles):
        if handle.shadow:
            orgs = world.user_orgs[handle.by]
            yield from _person(handle.person, handle.value, by=handle.by, orgs=orgs)
        stated = {"value": f"@{handle.value}", "normal_value": normal_form(handle.value)}
        by = {"added_by_id": handle.by, "stated_by": world.people[handle.by]}
        row = {"id": f"{world.seed}.handle-{number}", "person_id": handle.person, "kind": "handle"}
        of = {"added_by_kind": "user", "provider": handle.provider, "verified": handle.verified}
        yield person_aliases, row | stated | by | of | {"created_at": NOW}


def _named(chat: ChatFact) -> _Rows:
    creator = chat.creator
    made = {"created_by_kind": creator.kind, "created_by_id": creator.id, "created_at": NOW}
    yield named_chats, {"id": chat.id, "kind": chat.kind, "provider": chat.provider} | made
    for participation in chat.participations:
        times = _times(participation)
        member = {"chat_id": chat.id, "kind": participation.kind, "member_id": participation.id}
        yield chat_participations, member | times


def _tree(chat: ChatFact) -> _Rows:
    yield trees, {"id": chat.id, "created_at": NOW, "last_at": NOW}
    for conversation_id in (chat.id, *chat.forks):
        yield conversations, {"id": conversation_id} | _of_tree(chat)
    for participation in chat.participations:
        who = (
            Owner.agent(participation.id)
            if participation.kind == "agent"
            else Owner.user(participation.id)
        )
        times = _times(participation)
        yield participations, {"conversation_group_id": chat.id, "user_id": spelled(who)} | times


def _of_tree(chat: ChatFact) -> dict[str, Any]:
    return {
        "conversation_group_id": chat.id,
        "owner_user_id": spelled(chat.creator),
        "metadata": "{}",
        "created_at": NOW,
        "updated_at": NOW,
        "deleted_at": NOW if chat.deleted else None,
    }


def _times(participation: Participation) -> dict[str, Any]:
    joined_at = participation.joined_at
    return {
        "joined_at": joined_at,
        "left_at": participation.left_at,
        "confirmed_at": joined_at if participation.confirmed else None,
    }


def _runs(world: GeneratedWorld) -> _Rows:
    for run in world.runs.values():
        above = world.ancestors(run.id)
        row = {"id": run.id, "agent_id": run.agent_id, "parent_run_id": run.parent}
        began = {"root_run_id": (above or [run.id])[-1], "status": "running", "started_at": NOW}
        yield runs, row | began
        for depth, ancestor in enumerate(above, 1):
            yield run_ancestors, {"run_id": run.id, "ancestor_id": ancestor, "depth": depth}


def _memory(fact: Fact) -> _Rows:
    yield memories, _row(fact)
    for place, person in enumerate(fact.subjects):
        yield memory_subjects, {"memory_id": fact.id, "person_id": person, "place": place}
    for tag in fact.tags:
        yield memory_tags, {"memory_id": fact.id, "tag": tag}
    for number, version in enumerate(fact.versions, 1):
        yield (
            memory_versions,
            {
                "id": f"{fact.id}/{number}",
                "memory_id": fact.id,
                "version": number,
                "change": "updated",
                "at": version.at,
                "until": version.until,
                "by_kind": "user",
                "by_id": "somebody",
                "status": version.status,
                "valid_from": version.valid_from,
                "valid_until": version.valid_until,
            },
        )


def _row(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "kind": "record" if fact.key else "statement",
        "content": json.dumps("a fact"),
        "key": fact.key,
        "space_kind": fact.space_kind,
        "space_id": fact.space_id,
        "agent_id": fact.agent_id,
        "type": fact.type,
        "sensitivity": fact.sensitivity,
        "portable": fact.portable,
        "has_subjects": bool(fact.subjects) or fact.bare_names,
        "bare_names": json.dumps(["somebody"]) if fact.bare_names else None,
        "stated_by": fact.stated_by,
        "learned_in": fact.learned_in,
        "origin": fact.origin,
        "observed_at": fact.observed_at,
        "verified": True,
        "trust": "fact",
        "expires_at": fact.expires_at,
        "expiry_rule": "never",
        "valid_from": fact.valid_from,
        "valid_until": fact.valid_until,
        "created_at": fact.created_at,
        "updated_at": fact.created_at,
        "retracted_at": fact.retracted_at,
        "source": "api",
        "run_id": fact.run_id,
        "status": fact.status,
        "status_at": fact.created_at,
        "written_by_kind": "user",
        "written_by_id": "somebody",
        "fold": "",
        "compacted_at": NOW if fact.compacted else None,
        "erasure_id": "erasure" if fact.erased else None,
    }
