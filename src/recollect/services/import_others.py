"""Agents, people, merges, chats, participants and runs of an import.

What is there already stays; only an admin's `replace` puts agents, people and chats in its place.
Others than admins bring what is theirs to make, and under their own name.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recollect.domain.agents import Owner, parse_agent_id
from recollect.domain.chats import ParticipantKind, check_chat
from recollect.domain.disclosure import ChatKind, PersonId
from recollect.domain.ids import UserId
from recollect.domain.people import AliasKind
from recollect.domain.portable import LineType
from recollect.domain.portable_members import Values
from recollect.domain.spaces import ChatId
from recollect.errors import Forbidden, NotFound
from recollect.ports.database import Tx
from recollect.ports.stores import Stores
from recollect.services.import_orders import ImportMode, ImportOrder, Line, Outcome
from recollect.services.import_places import ImportPlaces
from recollect.services.memory_places import not_owner
from recollect.services.person_claims import require_free_handle

_REPLACED = frozenset({LineType.AGENT, LineType.PERSON, LineType.CHAT})


class OtherImports:
    """Puts single lines in."""

    def __init__(self, stores: Stores, places: ImportPlaces) -> None:
        self._stores = stores
        self._places = places

    def put(self, tx: Tx, order: ImportOrder, line: Line) -> Outcome:
        """What became of it. Nothing is written by a dry run."""
        type_, key = line.type, _key(line)
        values = _whole(line.values, type_)
        if order.foreseen.has(type_, key) or self._has(tx, type_, values):
            return self._again(tx, order, type_, values)
        if type_ is LineType.RUN:
            values = values | {"root_run_id": self._places.root_of(tx, order, values)}
        if not order.requester.admin:
            values = self._permitted(tx, order, type_, values)
        _check(type_, values)
        if order.dry_run:
            order.foreseen.add(type_, values, key)
        else:
            self._free_users(tx, type_, values)
            self._stores.portable.put(tx, type_, values)
        return Outcome.CREATED

    def _has(self, tx: Tx, type_: LineType, values: Values) -> bool:
        return self._is_tree(tx, type_, values) or self._stores.portable.has(tx, type_, values)

    def _is_tree(self, tx: Tx, type_: LineType, values: Values) -> bool:
        """A conversation is a chat of its own id, which no other can have."""
        return type_ is LineType.CHAT and self._stores.chats.is_tree(tx, ChatId(values["id"]))

    def _again(self, tx: Tx, order: ImportOrder, type_: LineType, values: Values) -> Outcome:
        replaces = order.mode is ImportMode.REPLACE and order.requester.admin
        if not replaces or type_ not in _REPLACED or self._is_tree(tx, type_, values):
            return Outcome.SKIPPED
        _check(type_, values)
        if not order.dry_run:
            self._stores.portable.drop(tx, type_, values["id"])
            self._free_users(tx, type_, values)
            self._stores.portable.put(tx, type_, values)
        return Outcome.UPDATED

    def _free_users(self, tx: Tx, type_: LineType, values: Values) -> None:
        """A user who was only seen here has a person of whom nothing is known: the one who comes
        takes the place. Where something is known, the link stays."""
        if type_ is not LineType.PERSON or not values["users"]:
            return
        users = [UserId(one["id"]) for one in values["users"]]
        for person_id in set(self._stores.people.people_of(tx, users).values()):
            if person_id != values["id"] and self._is_blank(tx, person_id):
                self._stores.portable.drop(tx, LineType.PERSON, person_id)

    def _is_blank(self, tx: Tx, person_id: PersonId) -> bool:
        claims = self._stores.claims
        said = claims.aliases(tx, [person_id]) or claims.relationships(tx, [person_id])
        return not said and not self._stores.people.is_in_memories(tx, person_id, outside=())

    def _permitted(self, tx: Tx, order: ImportOrder, type_: LineType, values: Values) -> Values:
        """The line as somebody who is no admin may bring it."""
        return _RULES[type_](self, tx, order, values)

    def _own_agent(self, _tx: Tx, order: ImportOrder, values: Values) -> Values:
        who = order.requester.who
        if values["owner_id"] != who or values["org_id"] not in order.requester.orgs:
            raise not_owner()
        return values | {"created_by": who}

    def _own_person(self, tx: Tx, order: ImportOrder, values: Values) -> Values:
        """Nobody becomes a user's person by import, and nobody states anything for others."""
        if values["merged_into"] is not None:
            raise Forbidden("people who were merged are imported by an admin")
        requester = order.requester
        claims = {
            name: [
                _own_claim(one, order) for one in values[name] if one["added_by"] == requester.who
            ]
            for name in ("aliases", "relationships")
        }
        for one in claims["aliases"]:
            if one["kind"] is AliasKind.HANDLE:
                require_free_handle(tx, self._stores, requester, one["value"], field="aliases")
        orgs = sorted(requester.orgs)
        return values | claims | {"users": [], "orgs": orgs, "created_by": requester.who}

    def _own_chat(self, _tx: Tx, order: ImportOrder, values: Values) -> Values:
        return values | {"created_by": order.requester.who}

    def _own_stay(self, tx: Tx, order: ImportOrder, values: Values) -> Values:
        """Who made a chat says who took part; of a private one, agents and themself."""
        who, chat_id = order.requester.who, values["chat_id"]
        chat = order.foreseen.chats.get(chat_id) or self._chat(tx, chat_id)
        if chat is None:
            raise NotFound("chat", chat_id)
        alone = chat["kind"] is ChatKind.PRIVATE and values["kind"] is not ParticipantKind.AGENT
        if chat["created_by"] != who or (alone and Owner.user(values["member_id"]) != who):
            raise not_owner()
        return values

    def _chat(self, tx: Tx, chat_id: str) -> Values | None:
        chat = self._stores.chats.fetch(tx, ChatId(chat_id))
        if chat is None or chat.tree:
            return None
        return {"kind": chat.kind, "created_by": chat.created_by}

    def _own_run(self, tx: Tx, order: ImportOrder, values: Values) -> Values:
        if not self._places.may_write_run(tx, order, values["id"], values["agent_id"]):
            raise not_owner()
        return values

    def _no_merge(self, _tx: Tx, _order: ImportOrder, _values: Values) -> Values:
        raise Forbidden("merges are imported by an admin")


_RULES: Mapping[LineType, Callable[[OtherImports, Tx, ImportOrder, Values], Values]] = {
    LineType.AGENT: OtherImports._own_agent,
    LineType.PERSON: OtherImports._own_person,
    LineType.MERGE: OtherImports._no_merge,
    LineType.CHAT: OtherImports._own_chat,
    LineType.PARTICIPANT: OtherImports._own_stay,
    LineType.RUN: OtherImports._own_run,
}


def _own_claim(claim: Values, order: ImportOrder) -> Values:
    return claim | {"stated_by": order.requester.person_id, "chat_id": None}


def _key(line: Line) -> Any:
    values = line.values
    if line.type is LineType.PARTICIPANT:
        return tuple(values[name] for name in ("chat_id", "kind", "member_id", "joined_at"))
    return values["id"]


def _whole(values: Values, type_: LineType) -> Values:
    """With what a line may leave out."""
    if type_ is LineType.PERSON:
        lists = {name: values[name] or [] for name in ("users", "orgs", "aliases", "relationships")}
        blank = Owner.user(values["users"][0]["id"]) if values["users"] else None
        return values | lists | {"created_by": values["created_by"] or blank}
    if type_ is LineType.RUN:
        return values | {"metadata": values["metadata"] or {}}
    return values


def _check(type_: LineType, values: Values) -> None:
    if type_ is LineType.AGENT:
        parse_agent_id(values["id"])
    if type_ is LineType.CHAT:
        check_chat(values["id"], title=values["title"], provider=values["provider"])
