"""Import of agents, people, merges, chats, participants and runs.

Rows that exist are skipped; only an admin with mode `replace` overwrites agents, people and chats.
Anybody else may import what they could create by a call, and is recorded as its creator.
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
    """Imports lines that are not memories, one at a time."""

    def __init__(self, stores: Stores, places: ImportPlaces) -> None:
        self._stores = stores
        self._places = places

    def put(self, tx: Tx, order: ImportOrder, line: Line) -> Outcome:
        """Import one line. A dry run writes nothing and remembers the row in `order.foreseen`.

        Whether the row exists is asked before whether the importer may create it: an owner's own
        export names agents and people that others made, and those lines are skipped, not refused.
        The root of a run is computed before the rights are checked, because it raises NotFound for
        a parent that the importer can't see. All checks come before the first write.
        """
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
        """Whether the chat's id is that of a conversation. Each conversation is a chat under its
        own id, without a row in the table of chats, and an import must not create a second one."""
        return type_ is LineType.CHAT and self._stores.chats.is_tree(tx, ChatId(values["id"]))

    def _again(self, tx: Tx, order: ImportOrder, type_: LineType, values: Values) -> Outcome:
        replaces = order.mode is ImportMode.REPLACE and order.requester.admin
        if not replaces or type_ not in _REPLACED or self._is_tree(tx, type_, values):
            return Outcome.SKIPPED
        # Delete and insert, as no row of theirs is worth keeping: the line has all fields. Rows
        # that refer to the id (memories, runs, participants) are not touched.
        _check(type_, values)
        if not order.dry_run:
            self._stores.portable.drop(tx, type_, values["id"])
            self._free_users(tx, type_, values)
            self._stores.portable.put(tx, type_, values)
        return Outcome.UPDATED

    def _free_users(self, tx: Tx, type_: LineType, values: Values) -> None:
        """Delete people that stand in the way of the imported person's links to users.

        A user who was only seen here has a person without claims or memories. If an import brings
        the user's real person, that placeholder is deleted and the user is linked to the imported
        one. If anything is known of the existing person the user stays linked to it: the insert
        skips users who have a person.
        """
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
        """The values as somebody who is no admin may import them; Forbidden if they may not."""
        return _RULES[type_](self, tx, order, values)

    def _own_agent(self, _tx: Tx, order: ImportOrder, values: Values) -> Values:
        who = order.requester.who
        if values["owner_id"] != who or values["org_id"] not in order.requester.orgs:
            raise not_owner()
        return values | {"created_by": who}

    def _own_person(self, tx: Tx, order: ImportOrder, values: Values) -> Values:
        """The person with the importer's own claims alone, visible in the importer's orgs.

        Links to users are dropped: otherwise an import could decide which person a user is. Aliases
        and relationships that others added are dropped as well, and a handle must be free, as in a
        call.
        """
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
        """Only the creator of a chat may import who took part in it. Of a private chat they may
        import agents and themself alone."""
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
    # A participation has no id. One that ended and began again is another row.
    values = line.values
    if line.type is LineType.PARTICIPANT:
        return tuple(values[name] for name in ("chat_id", "kind", "member_id", "joined_at"))
    return values["id"]


def _whole(values: Values, type_: LineType) -> Values:
    """The values with defaults for the fields that a line may omit."""
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
