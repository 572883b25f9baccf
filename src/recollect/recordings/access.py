"""Checks who may record, replay and cancel."""

from collections.abc import Sequence

from recollect.conversations.access import authorize_branch
from recollect.conversations.model import Branch
from recollect.db.context import ServiceContext
from recollect.identity.actions import Action
from recollect.identity.decide import scope_for
from recollect.identity.model import Principal
from recollect.kernel.errors import Unauthenticated
from recollect.kernel.ids import ConversationId
from recollect.recordings.ports import RecordingStores


class RecordingAccess:
    """Checks access in the database. Streams call it again and again while they run."""

    def __init__(self, context: ServiceContext[RecordingStores]) -> None:
        self._database = context.database
        self._stores = context.stores
        self._clock = context.runtime.clock

    async def authorize(
        self, principal: Principal, action: Action, conversation_id: ConversationId
    ) -> Branch:
        """Return the conversation's branch if the caller may do this there.

        Raises NotFound if it is not live, Forbidden if the caller may not, and Unauthenticated if
        the caller's token has expired or their API key was revoked since the stream began.
        """
        if await principal.has_ended(self._clock.now()):
            raise Unauthenticated("the token or the API key is no longer valid")
        return await self._database.read(
            lambda tx: authorize_branch(tx, self._stores, principal, action, conversation_id)
        )

    async def confirm_writer(self, principal: Principal, branch: Branch) -> None:
        """Who records takes part by their own will."""
        if not branch.confirmed:
            confirm, now = self._stores.memberships.confirm, self._clock.now()
            await self._database.write(
                lambda tx: confirm(tx, branch.tree_id, principal.user_id, at=now)
            )

    async def filter_readable(
        self, principal: Principal, conversation_ids: Sequence[ConversationId]
    ) -> list[ConversationId]:
        """Those of the conversations that the caller may read, in order and without duplicates."""
        scope = scope_for(principal, Action.READ)
        found = await self._database.read(
            lambda tx: self._stores.conversations.filter_ids(tx, scope, conversation_ids)
        )
        return [id_ for id_ in dict.fromkeys(conversation_ids) if id_ in found]
