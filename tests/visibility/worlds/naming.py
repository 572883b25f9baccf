"""Whom a handle means in a world, as its plain facts have it."""

from recollect.identity.requester import Requester
from tests.visibility.worlds.world import GeneratedWorld, HandleFact


def bearers(
    world: GeneratedWorld, speaker: Requester, handle: str, chat_id: str | None
) -> set[str]:
    """The people whom the speaker means by `@handle`: those of the first step that has any."""
    here = chat_id is not None and takes_part(world, speaker, chat_id)
    provider = world.chats[chat_id].provider if chat_id is not None and here else None
    users = set() if provider else {u for u, orgs in world.user_orgs.items() if orgs & speaker.orgs}
    if chat_id is not None and here:
        users |= users_in(world, chat_id, confirmed=provider is not None)
    alike = {user for user in users if user.casefold() == handle.casefold()}
    named = {world.people[user] for user in alike & {handle} or alike}
    named = {person for person in named if is_known(world, speaker, person)}
    stated = [one for one in world.handles if one.value.casefold() == handle.casefold()]
    visible = [one for one in stated if is_visible(world, speaker, one)]
    there = [one for one in visible if one.provider == provider]
    of_themselves = {one.person for one in there if world.people[one.by] == one.person}
    of_speaker = [one for one in visible if world.people[one.by] == speaker.person_id]
    return (
        named
        or {one.person for one in there if one.verified}
        or (of_themselves if len(of_themselves) == 1 else set())
        or {one.person for one in of_speaker if one.provider in (None, provider)}
    )


def takes_part(world: GeneratedWorld, speaker: Requester, chat_id: str) -> bool:
    return chat_id in world.chats_of(speaker.person_id, None)


def users_in(world: GeneratedWorld, chat_id: str, *, confirmed: bool) -> set[str]:
    """Users who take part now, perhaps only those who do so by their own doing."""
    stays = (s for s in world.chats[chat_id].participations if s.kind == "user")
    return {s.id for s in stays if s.left_at is None and (s.confirmed or not confirmed)}


def is_visible(world: GeneratedWorld, speaker: Requester, handle: HandleFact) -> bool:
    """May the speaker see the name of the person whom the handle is of?"""
    if not handle.shadow:
        return is_known(world, speaker, handle.person)
    return bool(world.user_orgs[handle.by] & speaker.orgs) or handle.by == speaker.identity.id


def is_known(world: GeneratedWorld, speaker: Requester, person: str) -> bool:
    """May the speaker see the name of the person?"""
    if world.orgs_of(person) & speaker.orgs or person == speaker.person_id:
        return True
    # Somebody else may have put them into a chat: that opens no name.
    chats = world.chats_of(speaker.person_id, None)
    return any(person in world.confirmed_in(chat_id) for chat_id in chats)
