"""Import of agents, people, merges, chats, participants and runs.

Rows that exist are skipped; only an admin with mode `replace` overwrites agents, people and chats.
Anybody else may import what they could create by a call, and is recorded as its creator.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recollect.db.transaction import Tx
from recollect.identity.confirmation import may_confirm_others
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import ChatId, PersonId, UserId
from recollect.kernel.owner import Owner, parse_agent_id
from recollect.memories.write_access import not_owner_error
from recollect.people.chat import ChatKind, ParticipantKind, check_chat
from recollect.people.chats_service import check_unclaimed
from recollect.people.claims_service import require_free_handle
from recollect.people.model import AliasKind, normal_form, normal_provider
from recollect.portability.fields import LineValues
from recollect.portability.import_model import (
    ImportLine,
    ImportMode,
    ImportOrder,
    ImportOutcome,
)
from recollect.portability.import_targets import ImportTargets
from recollect.portability.lines import LineType
from recollect.portability.store.bundle import PortabilityStores

_CLAIMS = ("aliases", "relationships")
_REPLACEABLE = frozenset({LineType.AGENT, LineType.PERSON, LineType.CHAT})


class OtherImporter:
    """Imports lines that are not memories, one at a time."""

    def __init__(self, stores: PortabilityStores, places: ImportTargets, *, local: bool) -> None:
        """`local`: the server trusts the names that callers give themselves."""
        self._local = local
        self._stores = stores
        self._places = places

    def import_line(self, tx: Tx, order: ImportOrder, line: ImportLine) -> ImportOutcome:
        """Import one line. A dry run writes nothing and remembers the row in `order.foreseen`.

        Whether the row exists is asked before whether the importer may create it: an owner's own
        export names agents and people that others made, and those lines are skipped, not refused.
        The root of a run is computed before the rights are checked, because it raises NotFound for
        a parent that the importer can't see. All checks come before the first write.
        """
        type_, key = line.type, _row_key(line)
        values = self._name_trees(tx, _fill_defaults(line.values, type_))
        if order.foreseen.has_row(type_, key) or self._exists(tx, type_, values):
            return self._import_existing(tx, order, type_, values)
        if type_ is LineType.RUN:
            values = values | {"root_run_id": self._places.find_root_run(tx, order, values)}
        if not order.requester.is_admin:
            values = self._restrict(tx, order, type_, values)
        _check_ids(type_, values)
        if order.dry_run:
            order.foreseen.add_row(type_, values, key)
        else:
            self._drop_blank_people(tx, type_, values)
            self._stores.portable.put(tx, type_, values)
        return ImportOutcome.CREATED

    def _name_trees(self, tx: Tx, values: LineValues) -> LineValues:
        """The values with the chat of the tree wherever a chat is named by one of its
        conversations."""
        claims = {
            name: [self._name_tree(tx, one) for one in values[name]]
            for name in _CLAIMS
            if name in values
        }
        return self._name_tree(tx, values) | claims

    def _name_tree(self, tx: Tx, values: LineValues) -> LineValues:
        sent = values.get("chat_id")
        if sent is None:
            return values
        return values | {"chat_id": self._stores.chats.canonical_id(tx, sent)}

    def _exists(self, tx: Tx, type_: LineType, values: LineValues) -> bool:
        return self._is_tree(tx, type_, values) or self._stores.portable.has(tx, type_, values)

    def _is_tree(self, tx: Tx, type_: LineType, values: LineValues) -> bool:
        """Whether the chat's id is that of a conversation. Each conversation means the chat of its
        tree, without a row in the table of chats, and an import must not create a second one."""
        if type_ is not LineType.CHAT:
            return False
        return self._stores.chats.find_tree(tx, ChatId(values["id"])) is not None

    def _import_existing(
        self, tx: Tx, order: ImportOrder, type_: LineType, values: LineValues
    ) -> ImportOutcome:
        replaces = order.mode is ImportMode.REPLACE and order.requester.is_admin
        if not replaces or type_ not in _REPLACEABLE or self._is_tree(tx, type_, values):
            return ImportOutcome.SKIPPED
        # Delete and insert, as no row of theirs is worth keeping: the line has all fields. Rows
        # that refer to the id (memories, runs, participants) are not touched.
        _check_ids(type_, values)
        if not order.dry_run:
            self._stores.portable.delete(tx, type_, values["id"])
            self._drop_blank_people(tx, type_, values)
            self._stores.portable.put(tx, type_, values)
        return ImportOutcome.UPDATED

    def _drop_blank_people(self, tx: Tx, type_: LineType, values: LineValues) -> None:
        """Delete people that stand in the way of the imported person's links to users.

        A user who was only seen here has a person without claims or memories. If an import brings
        the user's real person, that placeholder is deleted and the user is linked to the imported
        one. If anything is known of the existing person the user stays linked to it: the insert
        skips users who have a person.
        """
        if type_ is not LineType.PERSON or not values["users"]:
            return
        users = [UserId(one["id"]) for one in values["users"]]
        for person_id in set(self._stores.people.people_by_user(tx, users).values()):
            if person_id != values["id"] and self._is_blank(tx, person_id):
                self._stores.portable.delete(tx, LineType.PERSON, person_id)

    def _is_blank(self, tx: Tx, person_id: PersonId) -> bool:
        claims = self._stores.claims
        known_claims = claims.aliases(tx, [person_id]) or claims.relationships(tx, [person_id])
        return not known_claims and not self._stores.people.is_in_memories(
            tx, person_id, outside=()
        )

    def _restrict(
        self, tx: Tx, order: ImportOrder, type_: LineType, values: LineValues
    ) -> LineValues:
        """The values as somebody who is no admin may import them; Forbidden if they may not."""
        return _RESTRICTIONS[type_](self, tx, order, values)

    def _restrict_agent(self, _tx: Tx, order: ImportOrder, values: LineValues) -> LineValues:
        who = order.requester.identity
        if values["owner_id"] != who or values["org_id"] not in order.requester.orgs:
            raise not_owner_error()
        return values | {"created_by": who}

    def _restrict_person(self, tx: Tx, order: ImportOrder, values: LineValues) -> LineValues:
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
                _restrict_claim(one, order)
                for one in values[name]
                if one["added_by"] == requester.identity
            ]
            for name in _CLAIMS
        }
        for one in claims["aliases"]:
            if one["kind"] is AliasKind.HANDLE:
                require_free_handle(tx, self._stores, requester, one["value"], field="aliases")
        orgs = sorted(requester.orgs)
        return values | claims | {"users": [], "orgs": orgs, "created_by": requester.identity}

    def _restrict_chat(self, tx: Tx, order: ImportOrder, values: LineValues) -> LineValues:
        check_unclaimed(tx, self._stores, order.requester, ChatId(values["id"]))
        return values | {"created_by": order.requester.identity}

    def _restrict_participation(self, tx: Tx, order: ImportOrder, values: LineValues) -> LineValues:
        """Only the creator of a chat may import who took part in it. Of a private chat they may
        import agents and themself alone. Others are only invited, unless the importer may confirm
        them."""
        who, chat_id = order.requester.identity, values["chat_id"]
        chat = order.foreseen.chats.get(chat_id) or self._fetch_chat(tx, chat_id)
        if chat is None:
            raise NotFound("chat", chat_id)
        alone = chat["kind"] is ChatKind.PRIVATE and values["kind"] is not ParticipantKind.AGENT
        if chat["created_by"] != who or (alone and Owner.user(values["member_id"]) != who):
            raise not_owner_error()
        oneself = (values["kind"], values["member_id"]) == (who.kind, who.id)
        if oneself or may_confirm_others(order.requester.principal, local=self._local):
            return values
        return values | {"confirmed_at": None}

    def _fetch_chat(self, tx: Tx, chat_id: str) -> LineValues | None:
        chat = self._stores.chats.fetch(tx, ChatId(chat_id))
        if chat is None or chat.tree:
            return None
        return {"kind": chat.kind, "created_by": chat.created_by}

    def _restrict_run(self, tx: Tx, order: ImportOrder, values: LineValues) -> LineValues:
        if not self._places.may_write_run(tx, order, values["id"], values["agent_id"]):
            raise not_owner_error()
        return values

    def _refuse_merge(self, _tx: Tx, _order: ImportOrder, _values: LineValues) -> LineValues:
        raise Forbidden("merges are imported by an admin")


_RESTRICTIONS: Mapping[
    LineType, Callable[[OtherImporter, Tx, ImportOrder, LineValues], LineValues]
] = {
    LineType.AGENT: OtherImporter._restrict_agent,
    LineType.PERSON: OtherImporter._restrict_person,
    LineType.MERGE: OtherImporter._refuse_merge,
    LineType.CHAT: OtherImporter._restrict_chat,
    LineType.PARTICIPANT: OtherImporter._restrict_participation,
    LineType.RUN: OtherImporter._restrict_run,
}


def _restrict_claim(claim: LineValues, order: ImportOrder) -> LineValues:
    own = {"stated_by": order.requester.person_id, "chat_id": None}
    return claim | own | ({"verified": False} if "verified" in claim else {})


def _row_key(line: ImportLine) -> Any:
    # A participation has no id. One that ended and began again is another row.
    values = line.values
    if line.type is LineType.PARTICIPANT:
        return tuple(values[name] for name in ("chat_id", "kind", "member_id", "joined_at"))
    return values["id"]


def _fill_defaults(values: LineValues, type_: LineType) -> LineValues:
    """The values with defaults for the fields that a line may omit."""
    if type_ is LineType.PERSON:
        lists = {name: values[name] or [] for name in ("users", "orgs", "aliases", "relationships")}
        lists["aliases"] = [one | {"verified": bool(one["verified"])} for one in lists["aliases"]]
        blank = Owner.user(values["users"][0]["id"]) if values["users"] else None
        awaited = {
            "awaited_handle": normal_form(values["awaited_handle"] or "") or None,
            "awaited_provider": normal_provider(values["awaited_provider"]),
        }
        return values | lists | awaited | {"created_by": values["created_by"] or blank}
    if type_ is LineType.RUN:
        return values | {"metadata": values["metadata"] or {}}
    return values


def _check_ids(type_: LineType, values: LineValues) -> None:
    if type_ is LineType.AGENT:
        parse_agent_id(values["id"])
    if type_ is LineType.CHAT:
        check_chat(values["id"], title=values["title"], provider=values["provider"])
