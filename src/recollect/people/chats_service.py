"""Named chats, whose ids come from an outside system. Lists also have conversation trees."""

from dataclasses import replace
from datetime import datetime

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import RetryTransaction, Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound, ValidationFailed
from recollect.kernel.ids import ChatId
from recollect.kernel.owner import Owner
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.kernel.space import Space, SpaceKind
from recollect.people.chat import (
    Chat,
    Participant,
    ParticipantKeys,
    ParticipantKind,
    check_chat,
    check_kind,
)
from recollect.people.chat_policy import (
    ChatAccess,
    may_add_participant,
    may_see_chat,
)
from recollect.people.commands import PutChat
from recollect.people.model import normal_provider
from recollect.people.store.bundle import PeopleStores
from recollect.screening.secret_check import refuse_secret_ids, refuse_secrets

_LIST = "chats"


class ChatService:
    """Create, change, get and list chats."""

    def __init__(self, context: ServiceContext[PeopleStores], audit: MemoryAudit) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit

    async def put(
        self, requester: Requester, chat_id: ChatId, command: PutChat
    ) -> tuple[Chat, bool]:
        """The chat, and whether it is new. Its creator becomes a participant.

        A field that was not sent stays as it is. NotFound for an existing chat to which the caller
        may not add anybody.
        """
        check_chat(chat_id, title=command.title, provider=command.provider)
        async with self._audit.audit_refusals(requester, "putChat"):
            return await self._database.write(lambda tx: self._put(tx, requester, chat_id, command))

    async def get(self, requester: Requester, chat_id: ChatId) -> Chat:
        """NotFound if the caller does not take part."""
        return await self._database.read(
            lambda tx: visible_chat(tx, self._stores, requester, chat_id)
        )

    async def list(self, requester: Requester, *, after: str | None, limit: int) -> Page[Chat]:
        """Chats where the caller takes part now, conversation trees included, the newest first."""
        last = decode_key(_LIST, after) if after else None
        keys = ParticipantKeys.for_requester(requester)
        found = await self._database.read(
            lambda tx: self._stores.chats.page(tx, keys, after=last, limit=limit + 1)
        )
        page = found[:limit]
        more = len(found) > limit
        cursor = encode_key(_LIST, page[-1].created_at, page[-1].id) if more else None
        return Page(page, cursor)

    def _put(
        self, tx: Tx, requester: Requester, chat_id: ChatId, command: PutChat
    ) -> tuple[Chat, bool]:
        self._stores.chats.lock(tx, chat_id)
        chat = self._stores.chats.fetch(tx, chat_id)
        if chat is not None:
            return self._update_chat(tx, requester, chat, command, asked_as=chat_id), False
        # The ids of a deleted tree stay taken: `fetch` does not find the tree, and a named chat of
        # that id would inherit its participants and memories.
        if self._stores.chats.find_tree(tx, chat_id) is not None:
            raise NotFound("chat", chat_id)
        check_unclaimed(tx, self._stores, requester, chat_id)
        refuse_secret_ids(id=chat_id)
        refuse_secrets(title=command.title, provider=command.provider)
        return self._create_chat(tx, requester, chat_id, command), True

    def _update_chat(
        self, tx: Tx, requester: Requester, chat: Chat, command: PutChat, *, asked_as: ChatId
    ) -> Chat:
        access = load_chat_access(tx, self._stores, requester, chat)
        if not may_add_participant(requester.space_caller, access).allowed:
            raise NotFound("chat", asked_as)
        if chat.tree:
            message = "is a conversation: its title is changed there, its kind by its members"
            raise ValidationFailed.for_field("id", message)
        _check_provider(requester, chat, command)
        refuse_secrets(title=command.title, provider=command.provider)
        check_kind(command.kind, self._stores.chats.current_people(tx, chat.id))
        changed = replace(chat, **command.sent_fields)
        if changed == chat:
            return chat
        self._stores.chats.update(tx, changed)
        self._record(tx, requester, "chat.update", changed)
        return changed

    def _create_chat(self, tx: Tx, requester: Requester, chat_id: ChatId, command: PutChat) -> Chat:
        now = self._runtime.clock.now()
        chat = Chat(
            id=chat_id,
            kind=command.kind,
            title=command.title,
            provider=command.provider,
            created_by=requester.identity,
            created_at=now,
        )
        # There was no row to lock, so another request may have created the chat meanwhile. Start
        # again: the second attempt finds the chat and changes it.
        if not self._stores.chats.insert(tx, chat):
            raise RetryTransaction
        self._stores.chats.join(tx, chat.id, creator_participant(requester, now))
        self._record(tx, requester, "chat.create", chat)
        return chat

    def _record(self, tx: Tx, requester: Requester, event: str, chat: Chat) -> None:
        space = Space(SpaceKind.CHAT, chat.id)
        self._audit.record(tx, requester, event, space=space, payload={"kind": chat.kind})


def _check_provider(requester: Requester, chat: Chat, command: PutChat) -> None:
    """Forbidden for a participant who would change the provider: from then on `@bob`, said by
    anybody in the chat, means somebody else."""
    if "provider" not in command.sent_fields:
        return
    same = normal_provider(command.provider) == normal_provider(chat.provider)
    answers_for_users = requester.is_admin or requester.principal.trusted
    if not (same or answers_for_users or requester.identity == chat.created_by):
        message = "only the chat's creator, an admin or a trusted client may change `provider`"
        raise Forbidden(message)


def creator_participant(requester: Requester, at: datetime) -> Participant:
    """The caller as a participant."""
    kind = ParticipantKind.USER if requester.agent_id is None else ParticipantKind.AGENT
    return Participant(kind, requester.identity.id, at, confirmed_at=at)


def check_unclaimed(tx: Tx, stores: PeopleStores, requester: Requester, chat_id: ChatId) -> None:
    """NotFound for a new chat whose memories were imported without it. Who makes a chat takes part
    in it, and would read them. An admin and a trusted client may."""
    answers_for_users = requester.is_admin or requester.principal.trusted
    if not answers_for_users and stores.chats.has_memories(tx, chat_id):
        raise NotFound("chat", chat_id)


def load_chat_access(tx: Tx, stores: PeopleStores, requester: Requester, chat: Chat) -> ChatAccess:
    """The facts that the rules of chats need; the participants are reduced to the caller."""
    takes_part = stores.chats.is_participant(tx, chat.id, ParticipantKeys.for_requester(requester))
    present: frozenset[Owner] = frozenset({requester.identity}) if takes_part else frozenset()
    return ChatAccess(chat.created_by, present)


def visible_chat(tx: Tx, stores: PeopleStores, requester: Requester, chat_id: ChatId) -> Chat:
    """The chat if the caller takes part in it, else NotFound."""
    chat = stores.chats.fetch(tx, chat_id)
    if chat is None:
        raise NotFound("chat", chat_id)
    if not may_see_chat(
        requester.space_caller, load_chat_access(tx, stores, requester, chat)
    ).allowed:
        raise NotFound("chat", chat_id)
    return chat
