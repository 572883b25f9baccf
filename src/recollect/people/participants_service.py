"""Lists, adds and removes participants of named chats. Those of a conversation tree are its
members and change by sharing."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from recollect.agents.requesters import ensure_person
from recollect.agents.service import require_agent
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.clock import to_text
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import OwnerKind, parse_agent_id, parse_owner
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.space import Space, SpaceKind
from recollect.kernel.validation import check_name
from recollect.people.chat import (
    Chat,
    Participant,
    ParticipantKind,
    check_can_join,
    check_participants_changeable,
)
from recollect.people.chat_policy import (
    may_add_participant,
    may_remove_participant,
    may_see_chat,
)
from recollect.people.chats_service import load_chat_access, visible_chat
from recollect.people.name_candidates import visible_person
from recollect.people.participant_identity import (
    ParticipantIdentity,
    participant_ref,
    possible_identities,
    resolve_identities,
)
from recollect.people.participations import Participation, visible_participations
from recollect.people.store.bundle import PeopleStores

_LIST = "participants"


@dataclass(frozen=True, slots=True)
class NewParticipant:
    """A participant to add. `joined_at` None means now."""

    kind: ParticipantKind
    id: str
    joined_at: datetime | None = None


class ParticipantService:
    def __init__(
        self,
        context: ServiceContext[PeopleStores],
        audit: MemoryAudit,
        *,
        orgs_of: Callable[[UserId], frozenset[OrgId]],
    ) -> None:
        """`orgs_of` returns the orgs of a user who has not presented a token."""
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._orgs_of = orgs_of

    async def list(
        self,
        requester: Requester,
        chat_id: ChatId,
        *,
        include_left: bool,
        after: str | None,
        limit: int,
    ) -> Page[Participation]:
        """Current participants in the order in which they joined; with `include_left` also ended
        participations."""
        place = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> Page[Participation]:
            chat = visible_chat(tx, self._stores, requester, chat_id)
            stays = self._stores.chats.participants(tx, chat_id, include_left=include_left)
            stays.sort(key=_sort_key)
            rest = [one for one in stays if place is None or _sort_key(one) > place]
            cursor = encode_key(_LIST, *_sort_key(rest[limit - 1])) if len(rest) > limit else None
            return Page(
                visible_participations(tx, self._stores, requester, chat, rest[:limit]), cursor
            )

        return await self._database.read(work)

    async def add(
        self, requester: Requester, chat_id: ChatId, newcomer: NewParticipant
    ) -> Participation:
        """Add a participant. One who takes part already is returned unchanged.

        A participant may see memories that were learned while they took part. So only the chat's
        creator, an agent or a trusted client may set a `joined_at` in the past.
        """
        _check_new_participant(newcomer)
        self._check_not_future(newcomer.joined_at)
        async with self._audit.audit_refusals(requester, "putParticipant"):
            return await self._database.write(
                lambda tx: self._add(tx, requester, chat_id, newcomer)
            )

    async def remove(
        self,
        requester: Requester,
        chat_id: ChatId,
        member_id: str,
        *,
        kind: ParticipantKind | None = None,
    ) -> None:
        """End the participation of a user, person or agent. `kind` is needed if the id is
        ambiguous.
        """
        async with self._audit.audit_refusals(requester, "deleteParticipant"):
            await self._database.write(
                lambda tx: self._remove(tx, requester, chat_id, member_id=member_id, kind=kind)
            )

    def _add(
        self, tx: Tx, requester: Requester, chat_id: ChatId, newcomer: NewParticipant
    ) -> Participation:
        self._stores.chats.lock(tx, chat_id)
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is None:
            raise NotFound("chat", chat_id)
        if not may_add_participant(
            requester.space_caller, load_chat_access(tx, self._stores, requester, chat)
        ).allowed:
            raise NotFound("chat", chat_id)
        check_participants_changeable(chat)
        joined_at = self._resolve_joined_at(requester, chat, newcomer.joined_at)
        member = self._to_participant(tx, requester, newcomer, joined_at)
        present = self._stores.chats.participants(tx, chat_id)
        # Compare identities, not ids: a user and the user's person are one human, who must not be
        # in the chat twice. The lock on the chat keeps two requests from adding them at once.
        who = resolve_identities(
            tx, self._stores, [participant_ref(one) for one in (*present, member)]
        )
        newcomer_is = who[participant_ref(member)]
        for one in present:
            if who[participant_ref(one)] == newcomer_is:
                return visible_participations(tx, self._stores, requester, chat, [one])[0]
        check_can_join(chat, self._stores.chats.current_people(tx, chat_id), newcomer_is.person_id)
        self._stores.chats.join(tx, chat_id, member)
        self._record(tx, requester, "chat.join", chat_id, member)
        return visible_participations(tx, self._stores, requester, chat, [member])[0]

    def _resolve_joined_at(
        self, requester: Requester, chat: Chat, asked: datetime | None
    ) -> datetime:
        now = self._runtime.clock.now()
        if asked is None or asked == now:
            return now
        trusted = requester.agent_id is not None or requester.principal.trusted
        if not trusted and requester.identity != chat.created_by:
            message = "only the chat's creator, an agent or a trusted client may set `joined_at`"
            raise Forbidden(message, code="forbidden")
        if asked < chat.created_at:
            raise ValidationFailed.for_field("joined_at", "must not lie before the chat's creation")
        return asked

    def _check_not_future(self, joined_at: datetime | None) -> None:
        if joined_at is not None and joined_at > self._runtime.clock.now():
            raise ValidationFailed.for_field("joined_at", "must not lie in the future")

    def _to_participant(
        self, tx: Tx, requester: Requester, newcomer: NewParticipant, joined_at: datetime
    ) -> Participant:
        """The row to store. A person who is linked to a user is added as that user."""
        kind, member_id = newcomer.kind, newcomer.id
        if kind is ParticipantKind.AGENT:
            member_id = require_agent(tx, self._stores, parse_agent_id(member_id)).id
        elif kind is ParticipantKind.USER:
            self._ensure_user_known(tx, UserId(member_id))
        else:
            person = visible_person(tx, self._stores, requester, PersonId(member_id))
            kind = ParticipantKind.USER if person.user_ids else kind
            member_id = min(person.user_ids, default=person.id)
        return Participant(kind, member_id, joined_at)

    def _ensure_user_known(self, tx: Tx, user_id: UserId) -> None:
        """Create the person of a user who never called, with the orgs that are known without a
        token. Visibility in a private chat depends on the person and orgs of the partner."""
        if self._stores.users.fetch(tx, user_id) is None:
            ensure_person(tx, self._stores, self._runtime, user_id)
            self._stores.users.update_orgs(tx, user_id, self._orgs_of(user_id))

    def _remove(
        self,
        tx: Tx,
        requester: Requester,
        chat_id: ChatId,
        *,
        member_id: str,
        kind: ParticipantKind | None,
    ) -> None:
        self._stores.chats.lock(tx, chat_id)
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is None:
            raise NotFound("chat", chat_id)
        # Who neither sees the chat nor may remove others gets NotFound before anything else is
        # checked; only then can a missing participant or a missing right be told apart.
        access = load_chat_access(tx, self._stores, requester, chat)
        may = may_remove_participant(requester.space_caller, access, oneself=False).allowed
        if not (may or may_see_chat(requester.space_caller, access).allowed):
            raise NotFound("chat", chat_id)
        check_participants_changeable(chat)
        being, stays = self._find_participations(tx, chat_id, member_id, kind)
        if not may_remove_participant(
            requester.space_caller, access, oneself=being.is_caller(requester)
        ).allowed:
            raise Forbidden(
                "only the participant, the chat's creator or an admin may end a participation"
            )
        now = self._runtime.clock.now()
        for stay in stays:
            self._stores.chats.leave(tx, chat_id, stay.kind, member_id=stay.id, at=now)
            self._record(tx, requester, "chat.leave", chat_id, stay)

    def _record(
        self, tx: Tx, requester: Requester, event: str, chat_id: ChatId, who: Participant
    ) -> None:
        payload = {"kind": who.kind, "member_id": who.id}
        space = Space(SpaceKind.CHAT, chat_id)
        self._audit.record(tx, requester, event, space=space, payload=payload)

    def _find_participations(
        self, tx: Tx, chat_id: ChatId, member_id: str, kind: ParticipantKind | None
    ) -> tuple[ParticipantIdentity, tuple[Participant, ...]]:
        """The participant that the id means, with all of their open participations. NotFound if
        there is none, ValidationFailed if several participants have the id."""
        meant = possible_identities(tx, self._stores, member_id, kind)
        present = self._stores.chats.participants(tx, chat_id)
        who = resolve_identities(tx, self._stores, [participant_ref(one) for one in present])
        stays = tuple(one for one in present if who[participant_ref(one)] in meant)
        found = {who[participant_ref(one)] for one in stays}
        if not found:
            raise NotFound("participant", member_id)
        if len(found) > 1:
            kinds = sorted({str(one.kind) for one in stays})
            raise ValidationFailed.for_field(
                "kind", "must say which participant is meant", allowed=kinds
            )
        return found.pop(), stays


def _check_new_participant(newcomer: NewParticipant) -> None:
    if newcomer.kind is ParticipantKind.AGENT:
        parse_agent_id(newcomer.id)
    elif newcomer.kind is ParticipantKind.PERSON:
        check_name(newcomer.id, "id")
    elif parse_owner(newcomer.id, "id").kind is not OwnerKind.USER:
        raise ValidationFailed.for_field(
            "kind", "must be `agent` for an agent, whose id has no `agent:`"
        )


def _sort_key(stay: Participant) -> tuple[datetime, str]:
    """The position in the list, also the cursor. It includes the end, since somebody who left and
    rejoined at the same instant has two participations with equal start."""
    left = to_text(stay.left_at) if stay.left_at is not None else "~"
    return stay.joined_at, f"{stay.kind} {stay.id} {left}"
