"""PeopleStores: the stores that code of this package gets."""

from dataclasses import dataclass

from recollect.agents.store_bundle import AgentStores
from recollect.people.store.chats import ChatStore
from recollect.people.store.claims import ClaimStore
from recollect.people.store.merges import MergeStore
from recollect.people.store.people import PersonStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleStores(AgentStores):
    """The stores of this package and of those below."""

    people: PersonStore
    claims: ClaimStore
    merges: MergeStore
    chats: ChatStore
