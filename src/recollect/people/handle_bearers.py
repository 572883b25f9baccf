"""Finds who bears a handle: whom `@bob` means.

A handle belongs to a provider, that of the chat in which it is said. Without a provider it is the
id of a user of this server. What somebody merely claims never counts against what is known better.
"""

from collections.abc import Collection

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId, PersonId, UserId
from recollect.people.chat import ParticipantKeys, ParticipantKind
from recollect.people.model import (
    Alias,
    AliasKind,
    Person,
    is_handle_of,
    normal_form,
    normal_provider,
)
from recollect.people.name_candidates import is_stater, visible_people
from recollect.people.name_resolution import ResolutionStages
from recollect.people.store.bundle import PeopleStores


class HandleBearers:
    """Looks up the bearers of a handle as a caller may know them."""

    def __init__(self, stores: PeopleStores) -> None:
        self._stores = stores

    def provider_of(self, tx: Tx, requester: Requester, chat_id: ChatId | None) -> str | None:
        """The provider whose handles are meant in this chat; None for ids of users. A chat where
        the caller does not take part counts for nothing."""
        if chat_id is None or not self._takes_part(tx, requester, chat_id):
            return None
        chat = self._stores.chats.fetch(tx, chat_id)
        return None if chat is None else normal_provider(chat.provider)

    def gather_stages(
        self, tx: Tx, requester: Requester, address: str, chat_id: ChatId | None
    ) -> ResolutionStages:
        """The bearers in groups, of which the first that is not empty decides:

        1. users with that id whose names the caller may see: those of the caller's orgs if no
           provider is named, and those who take part in the chat. If it has a provider, only by
           their own doing: whoever brings a user in must not put them in the place of the
           provider's user of that name;
        2. people to whom an admin or a trusted client gave the handle;
        3. the user who states it of themself, if no other user does;
        4. people to whom the caller gave it;
        5. the person who stands for the bearer, since an earlier caller said the same.
        """
        form, provider = normal_form(address), self.provider_of(tx, requester, chat_id)
        users = self._users(tx, requester, address, provider, chat_id)
        handles = self._stores.claims.find_aliases(tx, requester, form)
        handles = [one for one in handles if one.kind is AliasKind.HANDLE]
        people = visible_people(tx, self._stores, requester, {one.person_id for one in handles})
        at_provider = [one for one in handles if normal_provider(one.provider) == provider]
        own = [one for one in handles if is_stater(requester, one)]
        claimed = [one for one in own if normal_provider(one.provider) in (None, provider)]
        awaited = self._stores.people.find_awaited(tx, form, provider, orgs=requester.orgs)
        return ResolutionStages(
            bearers=(
                users,
                _people_of([one for one in at_provider if one.verified], people),
                _sole_self_stater(at_provider, people),
                _people_of(claimed, people),
                frozenset(awaited[:1]),
            )
        )

    def _users(
        self,
        tx: Tx,
        requester: Requester,
        address: str,
        provider: str | None,
        chat_id: ChatId | None,
    ) -> frozenset[PersonId]:
        form = normal_form(address)
        users: set[UserId] = set()
        if provider is None:
            users |= self._stores.users.find_by_handle(tx, address, requester.orgs)
        if chat_id is not None and self._takes_part(tx, requester, chat_id):
            present = self._stores.chats.participants(tx, chat_id)
            users |= {
                UserId(one.id)
                for one in present
                if one.kind is ParticipantKind.USER
                and is_handle_of(one.id, form)
                and (provider is None or one.confirmed_at is not None)
            }
        exact = {one for one in users if address.strip().removeprefix("@") == one}
        people = self._stores.people.people_by_user(tx, exact or users).values()
        # Whoever brings in a user of another org, who does not know of it, learns nothing of them.
        visible = visible_people(tx, self._stores, requester, set(people))
        return frozenset(person.id for person in visible.values())

    def _takes_part(self, tx: Tx, requester: Requester, chat_id: ChatId) -> bool:
        keys = ParticipantKeys.for_requester(requester)
        return self._stores.chats.is_participant(tx, chat_id, keys)


_People = dict[PersonId, Person]


def _people_of(handles: Collection[Alias], people: _People) -> frozenset[PersonId]:
    return frozenset(people[one.person_id].id for one in handles if one.person_id in people)


def _sole_self_stater(handles: Collection[Alias], people: _People) -> frozenset[PersonId]:
    """The user who states the handle of themself; nobody if several users do."""
    found = _people_of([one for one in handles if _is_of_oneself(one, people)], people)
    return found if len(found) == 1 else frozenset()


def _is_of_oneself(handle: Alias, people: _People) -> bool:
    person = people.get(handle.person_id)
    if person is None or not person.user_ids:
        return False
    return handle.stated_by == person.id or handle.added_by.id in person.user_ids
