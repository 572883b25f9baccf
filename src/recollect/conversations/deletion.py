"""Soft deletion and restoration of whole trees, by the owner or an administrator."""

from collections.abc import Callable
from datetime import datetime

from recollect.audit.event_recorder import AuditName, EventRecorder
from recollect.audit.model import EventKind
from recollect.conversations.model import Branch
from recollect.conversations.ports import ConversationStores
from recollect.conversations.sharing.membership import Membership
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.kernel.access_level import Level
from recollect.kernel.ids import TreeId

OnTreeDeleted = Callable[[TreeId], None]


def delete_tree(
    tx: Tx,
    stores: ConversationStores,
    auditor: EventRecorder,
    principal: Principal,
    branch: Branch,
    *,
    at: datetime,
) -> None:
    """Mark the tree as deleted, and remove its memberships and its pending transfer.

    Each removal writes its own audit event. Entries stay until eviction. The caller holds the
    tree's lock and writes the event of the deletion itself.
    """
    tree_id = branch.tree_id
    stores.conversations.update_deleted(tx, tree_id, at)
    transfer = stores.transfers.fetch_for_tree(tx, tree_id)
    if transfer is not None:
        stores.transfers.delete(tx, transfer.id)
        auditor.record(
            tx,
            principal,
            AuditName(EventKind.TRANSFER, "cancel"),
            conversation_id=tree_id,
            target_user_id=transfer.to_user_id,
            transfer_id=transfer.id,
        )
    for membership in stores.memberships.page(tx, tree_id, after=None, limit=None):
        stores.memberships.delete(tx, tree_id, membership.user_id, at=at)
        auditor.record_membership(
            tx,
            principal,
            "remove",
            target_user_id=membership.user_id,
            before=membership.level,
            after=None,
            conversation_id=tree_id,
        )


def restore_tree(
    tx: Tx,
    stores: ConversationStores,
    auditor: EventRecorder,
    principal: Principal,
    branch: Branch,
    *,
    at: datetime,
) -> None:
    """Unmark the tree and restore its owner's membership. Other members are not restored: the
    owner has to share the conversation again."""
    stores.conversations.update_deleted(tx, branch.tree_id, None)
    owner = Membership(branch.tree_id, branch.owner_user_id, Level.OWNER, at)
    stores.memberships.insert(tx, owner, confirmed=True)
    auditor.record_membership(
        tx,
        principal,
        "add",
        target_user_id=owner.user_id,
        before=None,
        after=Level.OWNER,
        conversation_id=branch.tree_id,
    )
