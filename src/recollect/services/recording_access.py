"""Who may record, follow and cancel."""

from collections.abc import Sequence

from recollect.domain.ids import ConversationId, TreeId
from recollect.errors import Forbidden, NotFound
from recollect.policy.actions import Action
from recollect.policy.decide import visible
from recollect.policy.principals import Principal
from recollect.ports.database import Database
from recollect.ports.stores import Stores
from recollect.services.access import enter


class RecordingAccess:
    """Asks the database."""

    def __init__(self, database: Database, stores: Stores) -> None:
        self._database = database
        self._stores = stores

    async def enter(
        self, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> TreeId:
        """The tree, if it is live (else NotFound) and the caller may (else Forbidden)."""
        branch = await self._database.read(
            lambda tx: enter(tx, self._stores, principal, action, conversation_id)
        )
        return branch.tree_id

    async def may(
        self, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> bool:
        """The same as an answer."""
        try:
            await self.enter(principal, action, conversation_id)
        except (Forbidden, NotFound):
            return False
        return True

    async def readable(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Those of some conversations that the caller may read, each once, order kept."""
        scope = visible(principal, Action.READ)
        found = await self._database.read(
            lambda tx: self._stores.conversations.among(tx, scope, conversation_ids)
        )
        return [id_ for id_ in dict.fromkeys(conversation_ids) if id_ in found]
