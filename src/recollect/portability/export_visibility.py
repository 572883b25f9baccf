"""Restrictions on an owner's export: agents, runs, people and versions as the owner sees them."""

from collections.abc import Sequence

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import PersonId, RunId
from recollect.kernel.owner import Owner
from recollect.kernel.space import Space, SpaceKind
from recollect.people.cards import PersonCard, load_cards
from recollect.people.name_candidates import person_view
from recollect.people.policy import may_see_name
from recollect.portability.fields import LineValues
from recollect.portability.lines import LineType
from recollect.portability.store.bundle import PortabilityStores


def restrict_rows(
    tx: Tx,
    stores: PortabilityStores,
    requester: Requester,
    *,
    type_: LineType,
    found: Sequence[LineValues],
) -> list[LineValues]:
    """The rows that the requester may see: own agents, visible runs, people as their cards show
    them. Chats and participants pass: the query has chosen them by the requester's own chats."""
    if type_ is LineType.AGENT:
        return [one for one in found if _is_own_agent(requester, one)]
    if type_ is LineType.RUN:
        who = requester.identity
        return [
            one for one in found if stores.runs.fetch_visible(tx, who, RunId(one["id"])) is not None
        ]
    if type_ is LineType.PERSON:
        return _restrict_people(tx, stores, requester, found)
    return list(found)


def restrict_parts(
    requester: Requester, space: Space, found: Sequence[LineValues]
) -> list[LineValues]:
    """Versions, relations and approvals without the approvals that others requested. Versions of a
    chat's memories lose their snapshots: an earlier text may have been more private than the
    present one, which alone was checked for visibility."""
    own = [
        one for one in found if one.get("requested_by", requester.identity) == requester.identity
    ]
    if space.kind is not SpaceKind.CHAT:
        return own
    return [one | {"snapshot": None} if "snapshot" in one else one for one in own]


def _is_own_agent(requester: Requester, agent: LineValues) -> bool:
    acting = requester.principal.acts_for_owner and requester.identity == Owner.agent(agent["id"])
    return acting or agent["owner_id"] == requester.identity


def _restrict_people(
    tx: Tx, stores: PortabilityStores, requester: Requester, people: Sequence[LineValues]
) -> list[LineValues]:
    """The people whose names the requester may see, each with what their card shows."""
    found = stores.people.fetch_many(tx, [PersonId(one["id"]) for one in people])
    sharing_chat = stores.people.filter_sharing_chat(tx, requester, list(found))
    named = [
        person
        for person in found.values()
        if may_see_name(requester.space_caller, person_view(person, sharing_chat)).allowed
    ]
    by_id = {card.person.id: card for card in load_cards(tx, stores, requester, named)}
    return [
        _restrict_person(one, by_id[PersonId(one["id"])]) for one in people if one["id"] in by_id
    ]


def _restrict_person(values: LineValues, card: PersonCard) -> LineValues:
    claims = {one.id for one in card.aliases} | {one.id for one in card.relationships}
    users = [one for one in values["users"] if one["id"] == card.user_id]
    return values | {
        "users": [{"id": one["id"], "orgs": []} for one in users],
        "orgs": [],
        "time_zone": card.time_zone,
        "created_by": card.created_by,
        "metadata": card.metadata,
        "aliases": [one for one in values["aliases"] if one["id"] in claims],
        "relationships": [one for one in values["relationships"] if one["id"] in claims],
    }
