"""Ownership transfers: the owner offers the tree to a member, who accepts or rejects."""

from datetime import datetime, timedelta

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.conversations.access import authorize_branch
from recollect.conversations.commands import OfferOwnership
from recollect.conversations.ports import ConversationStores
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.transfer import Transfer, TransferRole
from recollect.db.context import ServiceContext
from recollect.db.transaction import RetryTransaction, Tx
from recollect.identity.actions import Action
from recollect.identity.model import Principal
from recollect.kernel.access_level import Level
from recollect.kernel.errors import (
    Forbidden,
    InvalidInput,
    NotFound,
    TransferPending,
)
from recollect.kernel.ids import ConversationId, TransferId, UserId
from recollect.kernel.pages import Page, decode_key, encode_key

_CURSOR_KIND = "transfers"


class TransferService:
    """Each change holds the tree's lock. So of accept and cancel at once one wins, and the other
    one finds no transfer. A transfer that nobody took lapses after `lifetime`: from then on it
    counts as gone."""

    def __init__(self, context: ServiceContext[ConversationStores], *, lifetime: timedelta) -> None:
        self._lifetime = lifetime
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def list(
        self, principal: Principal, *, role: TransferRole, after: str | None, limit: int | None
    ) -> Page[Transfer]:
        """A page of the caller's pending transfers, newest first."""

        def work(tx: Tx) -> Page[Transfer]:
            key: tuple[datetime, str] | None = decode_key(_CURSOR_KIND, after) if after else None
            found = self._stores.transfers.page(
                tx,
                principal.user_id,
                role,
                made_after=self._runtime.clock.now() - self._lifetime,
                after=key,
                limit=None if limit is None else limit + 1,
            )
            page = found[:limit]
            more = len(found) > len(page)
            return Page(
                page,
                encode_key(_CURSOR_KIND, page[-1].created_at, page[-1].id) if more else None,
            )

        return await self._database.read(work)

    async def create(
        self, principal: Principal, command: OfferOwnership, *, reserved_id: str | None = None
    ) -> Transfer:
        """Offer the tree to a member. TransferPending if the tree has a pending transfer, unless
        an earlier attempt of the request made it under `reserved_id`."""
        return await self._database.write(
            lambda tx: self._create(tx, principal, command, reserved_id)
        )

    async def get(self, principal: Principal, transfer_id: TransferId) -> Transfer:
        """NotFound unless the caller is its sender or its recipient."""

        def work(tx: Tx) -> Transfer:
            transfer = self._fetch_pending(tx, transfer_id)
            if transfer is None or not _is_party(principal, transfer):
                raise NotFound("transfer", transfer_id)
            return transfer

        return await self._database.read(work)

    async def accept(
        self, principal: Principal, transfer_id: TransferId, *, reserved_id: str | None = None
    ) -> None:
        """Make the recipient the owner of the whole tree, and the former owner a manager. If an
        earlier attempt of the request did it, its event has the `reserved_id`."""

        def work(tx: Tx) -> None:
            if self._auditor.is_recorded(tx, reserved_id):
                return
            transfer = self._fetch_locked(tx, transfer_id)
            if transfer.to_user_id != principal.user_id:
                raise Forbidden("only the recipient accepts a transfer")
            self._accept(tx, principal, transfer, reserved_id)

        await self._database.write(work)

    async def delete(self, principal: Principal, transfer_id: TransferId) -> None:
        """Cancel the transfer, as its sender, or reject it, as its recipient."""

        def work(tx: Tx) -> None:
            transfer = self._fetch_locked(tx, transfer_id)
            if not _is_party(principal, transfer):
                raise Forbidden("you are not a party to this transfer")
            self._stores.transfers.delete(tx, transfer.id)
            sender = principal.user_id == transfer.from_user_id
            self._record_event(tx, principal, "cancel" if sender else "reject", transfer)

        await self._database.write(work)

    def _create(
        self, tx: Tx, principal: Principal, command: OfferOwnership, reserved_id: str | None
    ) -> Transfer:
        to = command.new_owner_user_id
        branch = authorize_branch(
            tx, self._stores, principal, Action.TRANSFER, command.conversation_id, lock=True
        )
        if to == principal.user_id:
            raise InvalidInput(
                "the new owner already owns the conversation", field="newOwnerUserId"
            )
        if self._stores.memberships.fetch(tx, branch.tree_id, to) is None:
            raise InvalidInput("the new owner must be a member", field="newOwnerUserId")
        pending = self._stores.transfers.fetch_for_tree(tx, branch.tree_id)
        if pending is not None and pending.id == reserved_id:
            return pending
        if pending is not None:
            if self._is_pending(pending):
                raise TransferPending(pending.id)
            self._stores.transfers.delete(tx, pending.id)
        transfer = Transfer(
            id=TransferId(reserved_id or self._runtime.ids.new()),
            tree_id=branch.tree_id,
            conversation_title=self._root_title(tx, branch.tree_id),
            from_user_id=principal.user_id,
            to_user_id=to,
            created_at=self._runtime.clock.now(),
        )
        # Under the tree's lock this can't happen; the unique key is the second line of defence.
        if not self._stores.transfers.insert(tx, transfer):
            raise RetryTransaction
        self._record_event(tx, principal, "create", transfer)
        return transfer

    def _root_title(self, tx: Tx, tree_id: str) -> str | None:
        root = self._stores.conversations.fetch(tx, ConversationId(tree_id))
        return root.title if root else None

    def _fetch_locked(self, tx: Tx, transfer_id: TransferId) -> Transfer:
        """Lock the transfer's tree, and fetch the transfer.

        The tree is known only from the transfer, so it is fetched twice. The second time counts:
        a cancel or an accept may have removed it while we waited for the lock.
        """
        transfer = self._fetch_pending(tx, transfer_id)
        if transfer is not None:
            self._stores.conversations.lock(tx, ConversationId(transfer.tree_id))
            transfer = self._fetch_pending(tx, transfer_id)
        if transfer is None:
            raise NotFound("transfer", transfer_id)
        return transfer

    def _fetch_pending(self, tx: Tx, transfer_id: TransferId) -> Transfer | None:
        transfer = self._stores.transfers.fetch(tx, transfer_id)
        return transfer if transfer is not None and self._is_pending(transfer) else None

    def _is_pending(self, transfer: Transfer) -> bool:
        return transfer.is_pending(self._runtime.clock.now(), self._lifetime)

    def _accept(
        self, tx: Tx, principal: Principal, transfer: Transfer, event_id: str | None
    ) -> None:
        stores = self._stores
        stores.transfers.delete(tx, transfer.id)
        # The former owner is changed first: a unique index allows a tree only one owner.
        self._set_level(tx, principal, transfer, transfer.from_user_id, Level.MANAGER)
        self._set_level(tx, principal, transfer, transfer.to_user_id, Level.OWNER)
        stores.conversations.update_owner(tx, transfer.tree_id, transfer.to_user_id)
        now = self._runtime.clock.now()
        stores.memberships.confirm(tx, transfer.tree_id, transfer.to_user_id, at=now)
        self._record_event(tx, principal, "accept", transfer, event_id)

    def _set_level(
        self, tx: Tx, principal: Principal, transfer: Transfer, user_id: UserId, level: Level
    ) -> None:
        # A removed member's pending transfer is deleted with the membership, so both are members.
        present = self._stores.memberships.fetch(tx, transfer.tree_id, user_id)
        if present is None:
            raise NotFound("transfer", transfer.id)
        changed = Membership(present.tree_id, user_id, level, present.created_at)
        self._stores.memberships.update_level(tx, changed)
        self._auditor.record_membership(
            tx,
            principal,
            "update",
            target_user_id=user_id,
            before=present.level,
            after=level,
            conversation_id=transfer.tree_id,
        )

    def _record_event(
        self,
        tx: Tx,
        principal: Principal,
        action: str,
        transfer: Transfer,
        event_id: str | None = None,
    ) -> None:
        self._auditor.record(
            tx,
            principal,
            AuditName(EventKind.TRANSFER, action),
            conversation_id=transfer.tree_id,
            target_user_id=transfer.to_user_id,
            transfer_id=transfer.id,
            event_id=event_id,
        )


def _is_party(principal: Principal, transfer: Transfer) -> bool:
    return principal.user_id in (transfer.from_user_id, transfer.to_user_id)
