"""Explains why a memory is visible to somebody or not: the rule that decided, and its facts."""

from dataclasses import dataclass, replace

from recollect.domain.disclosure import AskerRelation, asker_relations
from recollect.domain.ids import UserId
from recollect.domain.memories import Memory, MemoryId
from recollect.domain.search import SearchType
from recollect.errors import Forbidden, NotFound
from recollect.policy.principals import Principal
from recollect.policy.requesters import Requester
from recollect.policy.sight import Viewer
from recollect.ports.database import Tx
from recollect.ports.memories import MemoryFilter, StoredMemory
from recollect.ports.stores import Stores
from recollect.services.memory_finding import MemoryFinder, MemoryQuery, MemorySearchScope
from recollect.services.read_audit import context_word
from recollect.services.views import VisibilityFacts


@dataclass(frozen=True, slots=True)
class VisibilityExplanation:
    """The decision about one memory. Of `memory` only expiry and sources may be shown, never the
    text. `score` is the memory's score for a query."""

    memory: Memory
    allowed: bool
    rule: str
    context: str
    relations: tuple[AskerRelation, ...]
    score: float | None = None


class VisibilityExplainer:
    """Explains a row to its caller, or tells an auditor what another user would see."""

    def __init__(self, stores: Stores, views: VisibilityFacts, finder: MemoryFinder) -> None:
        self._stores = stores
        self._views = views
        self._finder = finder

    async def add_score(
        self, told: VisibilityExplanation, query: str, sight: Viewer
    ) -> VisibilityExplanation:
        """The explanation with the score that a search in the memory's space gives the memory, None
        if the search does not find it."""
        space = told.memory.space
        among = MemorySearchScope(sight, MemoryFilter(spaces=((space.kind, space.id),)))
        asked = MemoryQuery(query, SearchType.AUTO, None)
        found = await self._finder.find(asked, lambda _: among, now=sight.now)
        ids = (found.table.rows[row].memory_id for row in found.ranked.rows)
        scores = dict(zip(ids, found.ranked.scores, strict=True))
        return replace(told, score=scores.get(told.memory.id))

    def explain(self, tx: Tx, sight: Viewer, stored: StoredMemory) -> VisibilityExplanation:
        """Decide for this viewer, with all relations that hold, in the order of the rule."""
        decision = self._views.can_view(tx, sight, stored)
        view = self._views.memory_view(tx, stored, sight)
        held = asker_relations(view, sight.asker, sight.chat)
        return VisibilityExplanation(
            memory=stored.memory,
            allowed=decision.allowed,
            rule=decision.rule,
            context=context_word(sight),
            relations=tuple(relation for relation in AskerRelation if relation in held),
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
