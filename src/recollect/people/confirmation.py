"""Confirms that somebody takes part in a chat because of what they did there."""

from datetime import datetime

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import TreeId, UserId
from recollect.kernel.owner import Owner
from recollect.people.chat import Chat, ParticipantKeys
from recollect.people.store.bundle import PeopleStores


def confirm_writer(
    tx: Tx, stores: PeopleStores, requester: Requester, chat: Chat, *, at: datetime
) -> None:
    """Who writes to a chat takes part by their own will. Nothing changes if they are confirmed
    already, or take no part."""
    keys = ParticipantKeys.for_requester(requester)
    if not chat.tree:
        stores.chats.confirm(tx, chat.id, keys, at=at)
        return
    users = set(keys.users)
    if keys.agent is not None:
        users.add(UserId(Owner.agent(keys.agent).spelling))
    for user_id in sorted(users):
        stores.memberships.confirm(tx, TreeId(chat.id), user_id, at=at)
