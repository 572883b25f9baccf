"""Whom a handle means for the server, in a generated world, beside what the plain facts say."""

from dataclasses import replace
from random import Random

from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.ids import ChatId
from recollect.people.handle_bearers import HandleBearers
from recollect.people.name_resolution import resolve_name
from tests.support.storage import Storage
from tests.visibility.worlds.generate import handles_of
from tests.visibility.worlds.naming import bearers
from tests.visibility.worlds.questions import requesters
from tests.visibility.worlds.world import GeneratedWorld

ASKED = 3


def check_handles(tx: Tx, storage: Storage, world: GeneratedWorld) -> int:
    """Compare, and count who was found: what others claim shadows nobody."""
    some, bearing = Random(world.seed), HandleBearers(storage.stores)
    speakers = [one for one in requesters(world) if one.agent_id is None]
    found = 0
    for _ in range(ASKED):
        speaker, handle = some.choice(speakers), some.choice(handles_of(world))
        chat_id = some.choice([None, *world.chats])
        told = whom(tx, bearing, speaker, handle, chat_id)
        meant = bearers(world, speaker, handle, chat_id)
        assert told == meant, f"world {world.seed}: {speaker} {handle} {chat_id}\n{world}"
        mine = [h for h in world.handles if not h.shadow or h.by in speaker.user_ids]
        alone = replace(world, handles=mine)
        assert told == bearers(alone, speaker, handle, chat_id), f"{world.seed}: a shadow"
        found += bool(told)
    return found


def whom(
    tx: Tx, bearing: HandleBearers, speaker: Requester, handle: str, chat_id: str | None
) -> set[str]:
    said, chat = f"@{handle}", ChatId(chat_id) if chat_id is not None else None
    found = resolve_name(said, bearing.gather_stages(tx, speaker, said, chat))
    return {found.person_id} if found.person_id is not None else set(found.candidates)
