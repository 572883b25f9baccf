"""Lists, adds and removes participants of named chats. Those of a conversation tree are its
members and change by sharing."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from recollect.agents.requesters import UserRegistrar
from recollect.agents.service import require_agent
from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.confirmation import check_may_confirm
from recollect.identity.requester import Requester
from recollect.kernel.clock import to_text
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import ChatId, OrgId, PersonId, UserId
from recollect.kernel.owner import OwnerKind, parse_agent_id, parse_owner
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.space import Space, SpaceKind
from recollect.kernel.validation import check_name
from recollect.people.cards import load_card
from recollect.people.chat import (
    Chat,
    Participant,
    ParticipantKeys,
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
from recollect.people.commands import PutParticipant
from recollect.people.name_candidates import visible_person
from recollect.people.participant_identity import (
    ParticipantIdentity,
    participant_ref,
    possible_identities,
    resolve_identities,
)
from recollect.people.participations import Participation, visible_participations
from recollect.people.store.bundle import PeopleStores
from recollect.screening.secret_check import refuse_secret_ids

_LIST = "participants"


class ParticipantService:
    def __init__(
        self,
        context: ServiceContext[PeopleStores],
        audit: MemoryAudit,
        *,
        registrar: UserRegistrar,
        orgs_of: Callable[[UserId], frozenset[OrgId]],
        local: bool,
    ) -> None:
        """`orgs_of` returns the orgs of a user who has not presented a token. `local`: the server
        trusts the names that callers give themselves."""
        self._local = local
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._registrar = registrar
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
        last = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> Page[Participation]:
            chat = visible_chat(tx, self._stores, requester, chat_id)
            rows = self._stores.chats.participants(tx, chat.id, include_left=include_left)
            rows.sort(key=_sort_key)
            rest = [one for one in rows if last is None or _sort_key(one) > last]
            cursor = encode_key(_LIST, *_sort_key(rest[limit - 1])) if len(rest) > limit else None
            return Page(
                visible_participations(tx, self._stores, requester, chat, rest[:limit]), cursor
            )

        return await self._database.read(work)

    async def add(
        self, requester: Requester, chat_id: ChatId, member_id: str, command: PutParticipant
    ) -> Participation:
        """Add a participant. One who takes part already is returned, confirmed if this call
        confirms it and else unchanged.

        Who adds themself is confirmed, anybody else only invited. Forbidden to confirm others,
        except as `check_may_confirm` says.

        A participant may see memories that were learned while they took part. So only the chat's
        creator or a trusted client may set a `joined_at` in the past. Other agents may not: anybody
        can register one and bring it in.
        """
        _check_id_of_kind(member_id, command.kind)
        joined_at = command.joined_at
        if joined_at is not None and joined_at > self._runtime.clock.now():
            raise ValidationFailed.for_field("joined_at", "must not lie in the future")
        async with self._audit.audit_refusals(requester, "putParticipant"):
            if command.confirmed:
                check_may_confirm(requester.principal, local=self._local)
            return await self._database.write(
                lambda tx: self._add(tx, requester, chat_id, member_id, command)
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
        self,
        tx: Tx,
        requester: Requester,
        chat_id: ChatId,
        member_id: str,
        command: PutParticipant,
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
        refuse_secret_ids(id=member_id)
        joined_at = self._resolve_joined_at(requester, chat, command.joined_at)
        kind, stored_id = self._resolve_member(tx, requester, command.kind, member_id)
        participant = Participant(kind, stored_id, joined_at)
        present = self._stores.chats.participants(tx, chat_id)
        # Compare identities, not ids: a user and the user's person are one human, who must not be
        # in the chat twice. The lock on the chat keeps two requests from adding them at once.
        identities = resolve_identities(
            tx, self._stores, [participant_ref(one) for one in (*present, participant)]
        )
        identity = identities[participant_ref(participant)]
        confirmed = command.confirmed or identity.is_caller(requester)
        confirmed_at = self._runtime.clock.now() if confirmed else None
        for one in present:
            if identities[participant_ref(one)] == identity:
                present_one = self._confirm(tx, chat_id, one, confirmed_at)
                return visible_participations(tx, self._stores, requester, chat, [present_one])[0]
        participant = replace(participant, confirmed_at=confirmed_at)
        check_can_join(chat, self._stores.chats.current_people(tx, chat_id), identity.person_id)
        self._stores.chats.join(tx, chat_id, participant)
        self._record(tx, requester, "chat.join", chat_id, participant)
        return visible_participations(tx, self._stores, requester, chat, [participant])[0]

    def _confirm(
        self, tx: Tx, chat_id: ChatId, participant: Participant, at: datetime | None
    ) -> Participant:
        """Confirm a participation, unless it is so already or `at` is None."""
        if at is None or participant.confirmed_at is not None:
            return participant
        self._stores.chats.confirm(tx, chat_id, ParticipantKeys.for_participant(participant), at=at)
        return replace(participant, confirmed_at=at)

    def _resolve_joined_at(
        self, requester: Requester, chat: Chat, joined_at: datetime | None
    ) -> datetime:
        now = self._runtime.clock.now()
        if joined_at is None or joined_at == now:
            return now
        if not (requester.principal.trusted or requester.identity == chat.created_by):
            message = "only the chat's creator or a trusted client may set `joined_at`"
            raise Forbidden(message, code="forbidden")
        if joined_at < chat.created_at:
            raise ValidationFailed.for_field("joined_at", "must not lie before the chat's creation")
        return joined_at

    def _resolve_member(
        self, tx: Tx, requester: Requester, kind: ParticipantKind, member_id: str
    ) -> tuple[ParticipantKind, str]:
        """Kind and id to store. A person who is linked to a user is added as that user, if the
        caller may know who the user is: all participants see the ids of users."""
        if kind is ParticipantKind.AGENT:
            return kind, require_agent(tx, self._stores, parse_agent_id(member_id)).id
        if kind is ParticipantKind.PERSON:
            person = visible_person(tx, self._stores, requester, PersonId(member_id))
            user_id = load_card(tx, self._stores, requester, person).user_id
            return (kind, person.id) if user_id is None else (ParticipantKind.USER, user_id)
        user_id = UserId(member_id)
        if self._stores.users.fetch(tx, user_id) is None:
            # A user who never called. Visibility in a private chat depends on the person and the
            # orgs of the partner, so both are stored, with the orgs that are known without a token.
            orgs = self._orgs_of(user_id)
            self._registrar.register(tx, user_id, orgs)
        return kind, member_id

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
        identity, rows = self._find_participations(tx, chat_id, member_id, kind)
        if not may_remove_participant(
            requester.space_caller, access, oneself=identity.is_caller(requester)
        ).allowed:
            raise Forbidden(
                "only the participant, the chat's creator or an admin may end a participation"
            )
        now = self._runtime.clock.now()
        for row in rows:
            self._stores.chats.leave(tx, chat_id, row.kind, member_id=row.id, at=now)
            self._record(tx, requester, "chat.leave", chat_id, row)

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
        identities = resolve_identities(tx, self._stores, [participant_ref(one) for one in present])
        rows = tuple(one for one in present if identities[participant_ref(one)] in meant)
        found = {identities[participant_ref(one)] for one in rows}
        if not found:
            raise NotFound("participant", member_id)
        if len(found) > 1:
            kinds = sorted({str(one.kind) for one in rows})
            raise ValidationFailed.for_field(
                "kind", "must say which participant is meant", allowed=kinds
            )
        return found.pop(), rows


def _check_id_of_kind(member_id: str, kind: ParticipantKind) -> None:
    if kind is ParticipantKind.AGENT:
        parse_agent_id(member_id)
    elif kind is ParticipantKind.PERSON:
        check_name(member_id, "id")
    elif parse_owner(member_id, "id").kind is not OwnerKind.USER:
        raise ValidationFailed.for_field(
            "kind", "must be `agent` for an agent, whose id has no `agent:`"
        )


def _sort_key(row: Participant) -> tuple[datetime, str]:
    """The position in the list, also the cursor. It includes the end, since somebody who left and
    rejoined at the same instant has two participations with equal start."""
    left = to_text(row.left_at) if row.left_at is not None else "~"
    return row.joined_at, f"{row.kind} {row.id} {left}"
