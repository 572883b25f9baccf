"""Memberships: lists, adds, changes and removes the members of a tree."""

from datetime import datetime

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.conversations.access import authorize_branch
from recollect.conversations.commands import ChangeMembership, ShareConversation
from recollect.conversations.model import Branch
from recollect.conversations.ports import ConversationStores
from recollect.conversations.sharing.membership import Membership
from recollect.conversations.sharing.policy import (
    MembershipRuling,
    decide_membership_change,
)
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.confirmation import check_may_confirm
from recollect.identity.model import Principal
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Conflict, Forbidden, InvalidInput, NotFound
from recollect.kernel.ids import ConversationId, TreeId, UserId
from recollect.kernel.pages import Page, decode_key, encode_key


class SharingService:
    """Every operation applies to the whole tree, whichever of its conversations is named."""

    def __init__(self, context: ServiceContext[ConversationStores], *, local: bool) -> None:
        """`local`: the server trusts the names that callers give themselves."""
        self._local = local
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._auditor = EventRecorder(context.stores, context.runtime)

    async def list(
        self,
        principal: Principal,
        conversation_id: ConversationId,
        *,
        after: str | None,
        limit: int | None,
    ) -> Page[Membership]:
        """A page by `created_at` and user. The cursor holds the sort key, so it stays valid when
        its member is removed."""

        def work(tx: Tx) -> Page[Membership]:
            branch = authorize_branch(tx, self._stores, principal, Action.READ, conversation_id)
            return page_memberships(tx, self._stores, branch.tree_id, after=after, limit=limit)

        return await self._database.read(work)

    async def share(
        self, principal: Principal, command: ShareConversation, *, reserved_id: str | None = None
    ) -> Membership:
        """Add a member, or change a member's level; `created_at` stays. If an earlier attempt of
        the request did it, whose event has the `reserved_id`, return the member as it is.

        The member is invited and has to write before their presence counts. Forbidden to confirm
        it for them, except as `check_may_confirm` says.
        """
        user_id = command.user_id
        if command.confirmed:
            check_may_confirm(principal, local=self._local)

        def work(tx: Tx) -> Membership:
            branch = self._authorize(tx, principal, Action.SHARE, command.conversation_id)
            if self._auditor.is_recorded(tx, reserved_id):
                present = self._stores.memberships.fetch(tx, branch.tree_id, user_id)
                if present is None:
                    raise NotFound("membership", user_id)
                return present
            shared = self._set_level(tx, principal, branch, user_id, command.level, reserved_id)
            if command.confirmed:
                now = self._runtime.clock.now()
                self._stores.memberships.confirm(tx, branch.tree_id, user_id, at=now)
            return shared

        return await self._database.write(work)

    async def change(self, principal: Principal, command: ChangeMembership) -> Membership:
        """Change the level of an existing member. NotFound for others."""
        user_id = command.user_id

        def work(tx: Tx) -> Membership:
            branch = self._authorize(tx, principal, Action.SHARE, command.conversation_id)
            if self._stores.memberships.fetch(tx, branch.tree_id, user_id) is None:
                raise NotFound("membership", user_id)
            return self._set_level(tx, principal, branch, user_id, command.level)

        return await self._database.write(work)

    async def remove(
        self, principal: Principal, conversation_id: ConversationId, user_id: UserId
    ) -> None:
        """Remove a member, or leave. Succeeds also if there is no such member."""
        own = user_id == principal.user_id
        action = Action.LEAVE if own else Action.SHARE

        def work(tx: Tx) -> None:
            # Policy is asked even if there is nothing to remove: otherwise the answer would tell a
            # caller without the right who is a member.
            branch = self._authorize(tx, principal, action, conversation_id)
            present = self._stores.memberships.fetch(tx, branch.tree_id, user_id)
            level = present.level if present else None
            _check_ruling(
                decide_membership_change(branch.level, present=level, wanted=None, own=own)
            )
            if present is not None:
                self._remove(tx, principal, present)

        await self._database.write(work)

    def _authorize(
        self, tx: Tx, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> Branch:
        return authorize_branch(tx, self._stores, principal, action, conversation_id, lock=True)

    def _set_level(
        self,
        tx: Tx,
        principal: Principal,
        branch: Branch,
        user_id: UserId,
        level: Level,
        event_id: str | None = None,
    ) -> Membership:
        present = self._stores.memberships.fetch(tx, branch.tree_id, user_id)
        before = present.level if present else None
        own = user_id == principal.user_id
        _check_ruling(decide_membership_change(branch.level, present=before, wanted=level, own=own))
        at = present.created_at if present else self._runtime.clock.now()
        membership = Membership(branch.tree_id, user_id, level, at)
        if present is None:
            self._stores.memberships.insert(tx, membership, confirmed=False)
        else:
            self._stores.memberships.update_level(tx, membership)
        self._record_change(
            tx, principal, membership, before=before, after=level, event_id=event_id
        )
        return membership

    def _remove(self, tx: Tx, principal: Principal, membership: Membership) -> None:
        """Remove the membership, and a pending transfer to this user with it."""
        tree_id, user_id = membership.tree_id, membership.user_id
        self._stores.memberships.delete(tx, tree_id, user_id, at=self._runtime.clock.now())
        self._record_change(tx, principal, membership, before=membership.level, after=None)
        transfer = self._stores.transfers.fetch_for_tree(tx, tree_id)
        if transfer is not None and transfer.to_user_id == user_id:
            self._stores.transfers.delete(tx, transfer.id)
            # Leaving rejects the offer, being removed cancels it.
            own = user_id == principal.user_id
            name = AuditName(EventKind.TRANSFER, "reject" if own else "cancel")
            facts = {"conversation_id": tree_id, "target_user_id": user_id}
            self._auditor.record(tx, principal, name, transfer_id=transfer.id, **facts)

    def _record_change(
        self,
        tx: Tx,
        principal: Principal,
        membership: Membership,
        *,
        before: Level | None,
        after: Level | None,
        event_id: str | None = None,
    ) -> None:
        action = "add" if before is None else "remove" if after is None else "update"
        self._auditor.record_membership(
            tx,
            principal,
            action,
            target_user_id=membership.user_id,
            before=before,
            after=after,
            conversation_id=membership.tree_id,
            event_id=event_id,
        )


def page_memberships(
    tx: Tx, stores: ConversationStores, tree_id: TreeId, *, after: str | None, limit: int | None
) -> Page[Membership]:
    """A page of the members of one tree; without a limit all of them."""
    key: tuple[datetime, str] | None = decode_key(_CURSOR_KIND, after) if after else None
    rows_max = None if limit is None else limit + 1
    found = stores.memberships.page(tx, tree_id, after=key, limit=rows_max)
    page = found[:limit]
    more = len(found) > len(page)
    return Page(
        page, encode_key(_CURSOR_KIND, page[-1].created_at, page[-1].user_id) if more else None
    )


_CURSOR_KIND = "memberships"


def _check_ruling(ruling: MembershipRuling) -> None:
    if ruling is MembershipRuling.FORBIDDEN:
        raise Forbidden("your level does not allow this change")
    if ruling is MembershipRuling.OWNER_NOT_GRANTED:
        raise InvalidInput(ruling.value, field="accessLevel")
    if ruling is MembershipRuling.OWNER_STAYS:
        raise Conflict(ruling.value)
