"""What every operation on a conversation does first: load it, and check the caller's access."""

from recollect.conversations.model import Branch, ConversationWithLevel
from recollect.conversations.ports import ConversationStores
from recollect.db.transaction import Tx
from recollect.identity.actions import Action
from recollect.identity.decide import decide
from recollect.identity.model import Principal
from recollect.identity.tree_view import TreeAccess
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import ConversationId


def authorize_branch(
    tx: Tx,
    stores: ConversationStores,
    principal: Principal,
    action: Action,
    conversation_id: ConversationId,
    *,
    lock: bool = False,
) -> Branch:
    """Load the branch and check that the caller may do this there.

    Raises NotFound if there is none or its tree is deleted, Forbidden if the caller may not. With
    `lock` the tree is locked before it is read, so the values stay true until the commit.
    """
    if lock:
        stores.conversations.lock(tx, conversation_id)
    branch = stores.conversations.locate(tx, conversation_id, principal.user_id)
    return check_access(branch, principal, action, conversation_id)


def check_access(
    branch: Branch | None, principal: Principal, action: Action, conversation_id: ConversationId
) -> Branch:
    """The same check on a branch that is loaded already; None is NotFound."""
    if branch is None or branch.deleted:
        raise NotFound("conversation", conversation_id)
    # A deleted tree looks like none, to members too. A live tree is Forbidden to non-members.
    decision = decide(principal, action, TreeAccess(deleted=False, level=branch.level))
    if not decision.allowed:
        raise Forbidden(f"not allowed here: {decision.rule}")
    return branch


def load_conversation(tx: Tx, stores: ConversationStores, branch: Branch) -> ConversationWithLevel:
    """The whole conversation of a branch that passed the access check."""
    conversation = stores.conversations.fetch(tx, branch.id)
    if conversation is None or branch.level is None:
        raise NotFound("conversation", branch.id)
    return ConversationWithLevel(conversation, branch.level)
