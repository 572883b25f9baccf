"""Finds the conversation that an append goes to: one that exists, a new root, or a new fork.

An append to an unknown id creates the conversation. The row is built first and inserted later,
once it is certain that something will be stored in it.
"""

from dataclasses import dataclass, replace

from recollect.conversations.access import (
    authorize_branch,
    check_access,
    load_conversation,
)
from recollect.conversations.forks.rules import (
    UNLIMITED,
    Ancestor,
    Segment,
    visible_path,
)
from recollect.conversations.forks.service import build_fork, find_fork_point
from recollect.conversations.forks.visible_path import load_path
from recollect.conversations.model import Branch, Conversation
from recollect.conversations.ports import ConversationStores
from recollect.conversations.service import insert_root, named_chat_error
from recollect.db.transaction import RetryTransaction, Tx
from recollect.identity.actions import NEEDS_CLIENT, Action
from recollect.identity.model import Principal
from recollect.kernel.access_level import Level
from recollect.kernel.errors import Forbidden, InvalidInput
from recollect.kernel.ids import ConversationId, EntryId, TreeId
from recollect.kernel.runtime import Runtime


@dataclass(frozen=True, slots=True)
class AppendTarget:
    """The conversation that an entry goes to. `new` is its row if that is still to be inserted;
    `branch` then holds the values that the row will have."""

    branch: Branch
    new: Conversation | None = None


class AppendTargets:
    """Finds targets, and inserts those that are new. The caller holds one transaction for both."""

    def __init__(self, stores: ConversationStores, runtime: Runtime) -> None:
        self._stores = stores
        self._runtime = runtime

    def find(
        self,
        tx: Tx,
        principal: Principal,
        action: Action,
        conversation_id: ConversationId,
        *,
        parent_id: ConversationId | None,
        entry_id: EntryId | None,
        title: str | None,
    ) -> AppendTarget:
        """Lock the tree and return the target.

        A known id is an append to that conversation: `parent_id` and `entry_id` are ignored, so a
        client may repeat the append that created a fork. An unknown id is a fork of `parent_id`,
        or a new root without one. Raises NotFound or Forbidden as `authorize_branch` does.
        """
        # Lock before reading: the values of the branch (position, title, deleted or not) stay
        # true until the commit only if they were read under the lock. For an unknown id the lock
        # statement selects no row and locks nothing. Two requests may then create the same id at
        # once. Both come to `insert_new`, one insert wins, and the other request runs again from
        # the start; it now finds the conversation here.
        self._stores.conversations.lock(tx, conversation_id)
        branch = self._stores.conversations.locate(tx, conversation_id, principal.user_id)
        if branch is not None:
            return AppendTarget(check_access(branch, principal, action, conversation_id))
        # A new tree has no members to check, so of the rules in `decide` only this one is left.
        # A new fork is checked against its parent below.
        if action in NEEDS_CLIENT and principal.client_id is None:
            raise Forbidden("not allowed here: needs an API key")
        if parent_id is not None:
            return self._new_fork(tx, principal, conversation_id, parent_id, entry_id, title)
        if entry_id is not None:
            message = "needs forkedAtConversationId beside it"
            raise InvalidInput(message, field="forkedAtEntryId")
        return self._new_root(principal, conversation_id)

    def target_path(self, tx: Tx, target: AppendTarget) -> list[Segment]:
        """The visible path of the target, also if its row is not inserted yet."""
        new = target.new
        if new is None:
            return load_path(tx, self._stores, target.branch.id)
        if new.forked_at_conversation_id is None:
            return [Segment(new.id, UNLIMITED)]
        # The row is not in the database yet, so its part of the chain is added by hand.
        chain = self._stores.conversations.fetch_chain(tx, new.forked_at_conversation_id)
        return visible_path([Ancestor(new.id, new.forked_at_seq), *chain])

    def insert_new(self, tx: Tx, target: AppendTarget) -> None:
        """Insert the target's row, if it is new. Raises RetryTransaction if another transaction
        took the id in the meantime."""
        if target.new is None:
            return
        if target.new.forked_at_conversation_id is None:
            insert_root(tx, self._stores, target.new)
            return
        # The id of a fork means the chat of its tree, so it can't be that of a named chat.
        if self._stores.conversations.is_other_chat(tx, target.new.id):
            raise named_chat_error()
        if not self._stores.conversations.insert(tx, target.new):
            # The parent's tree is locked, but the same id may have been taken in another tree.
            raise RetryTransaction

    def _new_root(self, principal: Principal, id_: ConversationId) -> AppendTarget:
        at = self._runtime.clock.now()
        new = Conversation(
            id=id_,
            tree_id=TreeId(id_),
            owner_user_id=principal.user_id,
            title=None,
            metadata={},
            created_at=at,
            updated_at=at,
            title_pending=True,
        )
        branch = Branch(
            id=id_,
            tree_id=new.tree_id,
            owner_user_id=new.owner_user_id,
            deleted=False,
            level=Level.OWNER,
            last_seq=0,
            last_at=at,
            updated_at=at,
            last_text_seq=None,
            title_pending=True,
            confirmed=True,
        )
        return AppendTarget(branch, new)

    def _new_fork(
        self,
        tx: Tx,
        principal: Principal,
        id_: ConversationId,
        parent_id: ConversationId,
        entry_id: EntryId | None,
        title: str | None,
    ) -> AppendTarget:
        """Build a fork with the same checks and values as a call that forks the parent.

        Without an entry the fork is blank: it shows nothing of its parent. The parent's tree is
        locked here, and the fork belongs to the same tree, so its first position is safe.
        """
        parent = authorize_branch(tx, self._stores, principal, Action.FORK, parent_id, lock=True)
        point = entry_id and find_fork_point(tx, self._stores, principal, parent, entry_id)
        new = build_fork(
            tx,
            self._stores,
            load_conversation(tx, self._stores, parent).conversation,
            point or None,
            fork_id=id_,
            title=title,
            at=self._runtime.clock.now(),
        )
        # The title comes from this entry's text, or else from the parent. If both have none, the
        # next text sets it, as in a new root.
        pending = new.title is None
        branch = Branch(
            id=id_,
            tree_id=parent.tree_id,
            owner_user_id=parent.owner_user_id,
            deleted=False,
            level=parent.level,
            last_seq=parent.last_seq,
            last_at=parent.last_at,
            updated_at=new.updated_at,
            last_text_seq=new.last_text_seq,
            title_pending=pending,
            confirmed=parent.confirmed,
        )
        return AppendTarget(branch, replace(new, title_pending=pending))
