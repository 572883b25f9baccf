"""Who may record, follow and cancel."""

from collections.abc import Sequence

from recollect.domain.clock import Clock
from recollect.domain.ids import ConversationId, TreeId
from recollect.errors import Unauthenticated
from recollect.policy.actions import Action
from recollect.policy.decide import visible
from recollect.policy.principals import Principal
from recollect.ports.database import Database
from recollect.ports.stores import Stores
from recollect.services.access import enter


class RecordingAccess:
    """Asks the database."""

    def __init__(self, database: Database, stores: Stores, clock: Clock) -> None:
        self._database = database
        self._stores = stores
        self._clock = clock

    async def enter(
        self, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> TreeId:
        """The tree, if it is live (else NotFound) and the caller may (else Forbidden). Asked again
        while a stream goes on: a token may be over by then (Unauthenticated)."""
        if principal.is_expired(self._clock.now()):
            raise Unauthenticated("the token has expired")
        branch = await self._database.read(
            lambda tx: enter(tx, self._stores, principal, action, conversation_id)
        )
        return branch.tree_id

    async def readable(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Those of some conversations that the caller may read, each once, order kept."""
        scope = visible(principal, Action.READ)
        found = await self._database.read(
            lambda tx: self._stores.conversations.among(tx, scope, conversation_ids)
        )
        return [id_ for id_ in dict.fromkeys(conversation_ids) if id_ in found]
