"""Explains why a memory is visible to somebody or not: the rule that decided, and its facts."""

from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.errors import Forbidden, NotFound
from recollect.kernel.ids import MemoryId, UserId
from recollect.memories.model import StoredMemory
from recollect.memories.read.audit import context_word
from recollect.memories.store.bundle import MemoryStores
from recollect.visibility.disclosure import AskerRelation, asker_relations
from recollect.visibility.explanation import VisibilityExplanation
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer


class VisibilityExplainer:
    """Explains a row to its caller, or tells an auditor what another user would see."""

    def __init__(self, stores: MemoryStores, views: VisibilityFacts) -> None:
        self._stores = stores
        self._views = views

    def explain(self, tx: Tx, viewer: Viewer, stored: StoredMemory) -> VisibilityExplanation:
        """Decide for this viewer, with all relations that hold, in the order of the rule."""
        decision = self._views.can_view(tx, viewer, stored)
        view = self._views.memory_view(tx, stored, viewer)
        relations = asker_relations(view, viewer.asker, viewer.chat)
        return VisibilityExplanation(
            memory=stored.memory,
            allowed=decision.allowed,
            rule=decision.rule,
            context=context_word(viewer),
            relations=tuple(relation for relation in AskerRelation if relation in relations),
        )

    def resolve_as_user(self, tx: Tx, requester: Requester, as_user: str | None) -> Requester:
        """The requester whose view is explained: the caller, or the user that an auditor names.

        Forbidden for `as_user` of a caller who is no auditor, NotFound for an unknown user.
        """
        if as_user is None:
            return requester
        if not requester.is_auditor:
            raise Forbidden("`as_user` is for auditors")
        known = self._stores.users.fetch(tx, UserId(as_user))
        if known is None:
            raise NotFound("user", as_user)
        principal = Principal(UserId(as_user), orgs=known.orgs)
        return Requester(principal, known.orgs, known.person_id, known.user_ids)

    def fetch_row(self, tx: Tx, memory_id: MemoryId) -> StoredMemory:
        """The row without a visibility check, for auditors. NotFound once it is being erased."""
        stored = self._stores.memories.fetch(tx, memory_id)
        if stored is None or stored.erasure_id is not None:
            raise NotFound("memory", memory_id)
        return stored
