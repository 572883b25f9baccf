"""The steps that every operation on a tree shares: it exists, and the caller may."""

from recollect.domain.conversations import Branch, SeenConversation
from recollect.domain.ids import ConversationId
from recollect.errors import Forbidden, NotFound
from recollect.policy.actions import Action
from recollect.policy.decide import decide
from recollect.policy.principals import Principal
from recollect.policy.views import TreeView
from recollect.ports.database import Tx
from recollect.ports.stores import Stores


def enter(
    tx: Tx,
    stores: Stores,
    principal: Principal,
    action: Action,
    conversation_id: ConversationId,
    *,
    lock: bool = False,
) -> Branch:
    """The branch, if it is live (else NotFound) and the caller may do this there (else Forbidden).

    With `lock` the tree is held first, so that what is read here stays true until the commit.
    """
    if lock:
        stores.conversations.lock(tx, conversation_id)
    branch = stores.conversations.locate(tx, conversation_id, principal.user_id)
    return admitted(branch, principal, action, conversation_id)


def admitted(
    branch: Branch | None, principal: Principal, action: Action, conversation_id: ConversationId
) -> Branch:
    """The same on a branch that was looked up already."""
    if branch is None or branch.deleted:
        raise NotFound("conversation", conversation_id)
    decision = decide(principal, action, TreeView(deleted=False, level=branch.level))
    if not decision.allowed:
        raise Forbidden(f"not allowed here: {decision.rule}")
    return branch


def seen(tx: Tx, stores: Stores, branch: Branch) -> SeenConversation:
    """The whole conversation of a branch that the caller was let into."""
    conversation = stores.conversations.fetch(tx, branch.id)
    if conversation is None or branch.level is None:
        raise NotFound("conversation", branch.id)
    return SeenConversation(conversation, branch.level)
