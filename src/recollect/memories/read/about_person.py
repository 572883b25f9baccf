"""Lists the memories about a person."""

from dataclasses import replace

from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.requester import Requester
from recollect.kernel.errors import NotFound
from recollect.kernel.ids import PersonId
from recollect.kernel.pages import decode_key
from recollect.kernel.space import SpaceKind
from recollect.memories.filters import MemoryFilters
from recollect.memories.read.audit import ReadAudit
from recollect.memories.read.history import HISTORY_FILTER, VersionHistory
from recollect.memories.read.listing import MemoryLister, MemoryPage
from recollect.memories.read.resolve_filters import resolve_filter
from recollect.memories.store.bundle import MemoryStores
from recollect.people.model import Person
from recollect.people.name_candidates import visible_people
from recollect.visibility.facts import VisibilityFacts
from recollect.visibility.viewer import Viewer
from recollect.visibility.viewers import ViewerFactory

_LIST = "person.memories"
_SPACES = ((SpaceKind.USER, None), (SpaceKind.CHAT, None))


class PersonMemories:
    """Lists memories of users' and chats' spaces that have a given person as subject."""

    def __init__(
        self,
        context: ServiceContext[MemoryStores],
        *,
        viewers: ViewerFactory,
        views: VisibilityFacts,
        reads: ReadAudit,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._viewers = viewers
        self._reads = reads
        self._lists = MemoryLister(context.stores, VersionHistory(context.stores, views))

    async def list(
        self,
        requester: Requester,
        person_id: PersonId,
        filters: MemoryFilters,
        *,
        outside_user: str | None,
        after: str | None,
        limit: int,
    ) -> MemoryPage:
        """Memories about a person, the newest first, as far as they are visible in this context. A
        memory that is not portable is listed in its own chat only. NotFound for a person whose name
        the caller may not see, unless the caller may see a memory about them.
        """
        place = decode_key(_LIST, after) if after else None

        def work(tx: Tx) -> MemoryPage:
            # The chat before the person: with a hidden chat the answer must not depend on whether
            # the person exists.
            viewer = self._viewers.viewer_for(tx, requester, filters.context)
            person = self._fetch_person(tx, requester, person_id, viewer)
            memory_filter = replace(
                resolve_filter(tx, self._stores, filters, known_to=requester),
                spaces=_SPACES,
                subjects=(person.id,),
                outside_user=outside_user,
                told_in=viewer.chat.id if viewer.chat is not None else "",
            )
            return self._lists.page(tx, viewer, memory_filter, name=_LIST, after=place, limit=limit)

        found = await self._database.scan(work)
        listed = [stored.memory for stored in found.page.items]
        await self._reads.record_reads(requester, "listPersonMemories", listed, rule=found.context)
        return found

    def _fetch_person(
        self, tx: Tx, requester: Requester, person_id: PersonId, viewer: Viewer
    ) -> Person:
        """A person whose name the caller may see, or whom a memory that the caller may see is
        about: that one has told the id. NotFound for anybody else."""
        named = visible_people(tx, self._stores, requester, [person_id]).get(person_id)
        person = named or self._stores.people.fetch(tx, person_id)
        if person is None:
            raise NotFound("person", person_id)
        if named is not None or self._is_subject(tx, viewer, person.id):
            return person
        if viewer.chat is not None:
            outside = self._viewers.viewer_for(tx, requester)
            if self._is_subject(tx, outside, person.id):
                return person
        raise NotFound("person", person_id)

    def _is_subject(self, tx: Tx, viewer: Viewer, person_id: PersonId) -> bool:
        """Is the person a subject of a memory that the viewer may see, of today or of a history?"""
        about = replace(HISTORY_FILTER, subjects=(person_id,))
        return bool(self._stores.memories.page(tx, viewer, about, after=None, limit=1))
