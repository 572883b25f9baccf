"""Merges two people into one, undoes merges, and lists probable duplicates. People are merged on
request only, except with `people.auto_merge`."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.context import ServiceContext
from recollect.db.transaction import Tx
from recollect.identity.model import Principal
from recollect.identity.requester import Requester
from recollect.kernel.errors import Conflict
from recollect.kernel.ids import OrgId, PersonId, UserId
from recollect.kernel.pages import Page, decode_key, encode_key
from recollect.people.cards import PersonCard, load_card, load_cards
from recollect.people.commands import MergePeople, UnmergePeople
from recollect.people.merge import PersonMerge
from recollect.people.model import (
    MergePlan,
    Person,
    is_auto_mergeable,
    is_handle_of,
    normal_form,
    plan_merge,
)
from recollect.people.name_candidates import person_view, visible_person
from recollect.people.policy import may_change, may_link_user, may_merge
from recollect.people.store.bundle import PeopleStores

_PAIRS = "people.duplicates"
# How many rows of each kind a merge moved, as far as the requester may see them.
CountVisible = Callable[[Tx, Requester, PersonMerge], dict[str, int]]


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The remaining person, and how many rows of each kind moved, counting only what the caller may
    see."""

    card: PersonCard
    moved: dict[str, int]


@dataclass(frozen=True, slots=True)
class DuplicatePeople:
    """Two people who may be the same, and why: equal `name`, `handle` or `alias`."""

    people: tuple[PersonCard, PersonCard]
    reason: str


class _DryRunRollback(Exception):
    """Raised at the end of a dry run, so that the transaction is rolled back."""

    def __init__(self, outcome: MergeResult) -> None:
        super().__init__()
        self.outcome = outcome


class MergeService:
    """Merges and unmerges people, each in one transaction."""

    def __init__(
        self,
        context: ServiceContext[PeopleStores],
        audit: MemoryAudit,
        *,
        count_visible: CountVisible,
    ) -> None:
        self._database = context.database
        self._stores = context.stores
        self._runtime = context.runtime
        self._audit = audit
        self._count_visible = count_visible

    async def merge(self, requester: Requester, command: MergePeople) -> MergeResult:
        """Merge in one transaction. A dry run does the same work and rolls back, so its counts and
        its errors are exactly those of the real merge."""
        async with self._audit.audit_refusals(requester, "mergePeople"):
            try:
                return await self._database.write(lambda tx: self._merge(tx, requester, command))
            except _DryRunRollback as rehearsal:
                return rehearsal.outcome

    async def unmerge(
        self, requester: Requester, person_id: PersonId, command: UnmergePeople
    ) -> MergeResult:
        """Undo the merge of these two: rows that are still where it put them move back. Conflict if
        there is no such merge."""
        async with self._audit.audit_refusals(requester, "unmergePeople"):
            return await self._database.write(
                lambda tx: self._unmerge(tx, requester, person_id, command.secondary_id)
            )

    async def duplicates(
        self, requester: Requester, *, after: str | None, limit: int
    ) -> Page[DuplicatePeople]:
        """Pairs of people whom the caller may change and who share a name, handle or alias."""
        return await self._database.scan(
            lambda tx: self._duplicate_page(tx, requester, after=after, limit=limit)
        )

    def auto_merge(self, tx: Tx, requester: Requester, person: Person) -> Person:
        """For `people.auto_merge`: merge this person into the oldest one that the rule takes for
        the same, and return that one; without such a person return this one."""
        named = self._stores.people.find_namesakes(tx, requester, normal_form(person.name))
        found = self._stores.people.fetch_many(tx, [one for one, _ in named])
        alike = [one for one in found.values() if is_auto_mergeable(one, person)]
        if not alike:
            return person
        oldest = min(alike, key=lambda one: (one.created_at, one.id))
        self._execute_merge(tx, requester, plan_merge(oldest, person))
        return oldest

    def take_over(self, tx: Tx, user_id: UserId, orgs: frozenset[OrgId]) -> None:
        """Merge those into the user's person who stand for this user, since somebody of these orgs
        said `@` and the user's id before."""
        stores, handle = self._stores, normal_form(user_id)
        if not is_handle_of(user_id, handle):
            return
        # Who says the handle at this moment locks it too, and finds the user after that.
        stores.people.lock_handle(tx, handle)
        awaited = stores.people.find_awaited(tx, handle, None, orgs=orgs)
        person_id = stores.people.people_by_user(tx, [user_id])[user_id]
        people = stores.people.fetch_many(tx, [person_id, *awaited])
        principal = Principal(user_id, orgs=orgs)
        requester = Requester(principal, orgs, person_id, frozenset({user_id}))
        for id_ in awaited:
            self._execute_merge(tx, requester, plan_merge(people[person_id], people[id_]))

    def _execute_merge(self, tx: Tx, requester: Requester, plan: MergePlan) -> dict[str, int]:
        """Carry out a permitted merge and record it; returns the counts of what moved."""
        merge_id, now = self._runtime.ids.new(), self._runtime.clock.now()
        merge = self._stores.merges.merge(
            tx, plan, merge_id=merge_id, by=requester.identity, at=now
        )
        counts = self._count_visible(tx, requester, merge)
        self._record(tx, requester, "person.merge", merge, counts)
        return counts

    def _merge(self, tx: Tx, requester: Requester, command: MergePeople) -> MergeResult:
        # The order decides which error a caller gets. Visibility first (NotFound, nothing is
        # revealed), then the right to merge (Forbidden), then whether the two can be merged at all
        # (Conflict), and last whether a user may take over an unlinked person: that check reads
        # references of others, which only somebody with the right to merge may learn about.
        primary, secondary = self._lock_people(tx, requester, command)
        self._require_merge_right(tx, requester, command, primary, secondary)
        plan = plan_merge(
            primary, secondary, link_users=command.link_users, admin=requester.is_admin
        )
        self._require_link_right(tx, requester, primary, secondary)
        counts = self._execute_merge(tx, requester, plan)
        merged = self._merge_result(tx, requester, primary.id, counts)
        if command.dry_run:
            raise _DryRunRollback(merged)
        return merged

    def _lock_people(
        self, tx: Tx, requester: Requester, command: MergePeople
    ) -> tuple[Person, Person]:
        """Both people, canonical and locked."""
        # Two looks: the first finds out which rows to lock, the second reads them again under the
        # lock. A concurrent merge that was committed in between has then redirected the ids, and
        # the plan is made for the people they lead to now. The store locks in the order of ids, so
        # two merges of the same people can't deadlock.
        stores, ids = self._stores, (command.primary_id, command.secondary_id)
        found = [visible_person(tx, stores, requester, id_) for id_ in ids]
        stores.people.lock(tx, [one.id for one in found])
        primary, secondary = (visible_person(tx, stores, requester, id_) for id_ in ids)
        return primary, secondary

    def _require_merge_right(
        self, tx: Tx, requester: Requester, command: MergePeople, primary: Person, secondary: Person
    ) -> None:
        """Forbidden unless the requester may merge the two.

        The people of two users are an exception: nobody may change both. A requester who may change
        one of them, or is an admin, passes here and gets the Conflict of `plan_merge`, which tells
        the actual reason.
        """
        sharing_chat = self._stores.people.filter_sharing_chat(
            tx, requester, [primary.id, secondary.id]
        )
        views = person_view(primary, sharing_chat), person_view(secondary, sharing_chat)
        may_know = requester.is_admin or any(
            may_change(requester.space_caller, v).allowed for v in views
        )
        if all(view.is_linked for view in views) and may_know:
            return
        may_merge(requester.space_caller, *views, link_users=command.link_users).require_allowed()

    def _require_link_right(
        self, tx: Tx, requester: Requester, primary: Person, secondary: Person
    ) -> None:
        """Conflict if the merge would give a user what others said about an unlinked person; see
        `may_link_user` for the attack that this prevents."""
        views = person_view(primary, frozenset()), person_view(secondary, frozenset())
        unlinked = [one.id for one in (primary, secondary) if not one.user_ids]
        refer = len(unlinked) == 1 and self._stores.people.has_other_references(
            tx, requester, *unlinked
        )
        if not may_link_user(requester.space_caller, *views, others_refer=refer).allowed:
            message = (
                "only an admin may merge a user with a person to whom others refer: "
                "send `link_users: true`"
            )
            raise Conflict(message, details={"reason": "has_memories"})

    def _unmerge(
        self, tx: Tx, requester: Requester, person_id: PersonId, secondary_id: PersonId
    ) -> MergeResult:
        # The secondary is a redirect, so its id resolves to the canonical person. Both rows are
        # locked, and the secondary is resolved after that: only then is it certain that it still
        # leads to this person.
        primary = visible_person(tx, self._stores, requester, person_id)
        self._stores.people.lock(tx, [primary.id, secondary_id])
        secondary = visible_person(tx, self._stores, requester, secondary_id)
        sharing_chat = self._stores.people.filter_sharing_chat(tx, requester, [primary.id])
        may_change(requester.space_caller, person_view(primary, sharing_chat)).require_allowed()
        merge = self._stores.merges.fetch_active(tx, secondary_id)
        if merge is None or secondary.id != primary.id:
            message = "secondary_id: was not merged into this person"
            raise Conflict(message, details={"reason": "wrong_state"})
        # Counted before the undo, while the rows are still where the merge put them.
        counts = self._count_visible(tx, requester, merge)
        self._stores.merges.undo(tx, merge, at=self._runtime.clock.now())
        self._record(tx, requester, "person.unmerge", merge, counts)
        return self._merge_result(tx, requester, primary.id, counts)

    def _duplicate_page(
        self, tx: Tx, requester: Requester, *, after: str | None, limit: int
    ) -> Page[DuplicatePeople]:
        last_pair = None
        if after:
            one_id, _, other_id = decode_key(_PAIRS, after)[1].partition(" ")
            last_pair = (one_id, other_id)
        found = self._stores.merges.find_duplicates(tx, requester, after=last_pair, limit=limit + 1)
        page = found[:limit]
        people = self._stores.people.fetch_many(
            tx, {id_ for pair in page for id_ in (pair.one, pair.other)}
        )
        cards = {
            card.person.id: card
            for card in load_cards(tx, self._stores, requester, list(people.values()))
        }
        pairs = [
            DuplicatePeople((cards[pair.one], cards[pair.other]), pair.reason) for pair in page
        ]
        cursor = None
        if len(found) > limit:
            one, other = (card.person for card in pairs[-1].people)
            cursor = encode_key(_PAIRS, one.created_at, f"{one.id} {other.id}")
        return Page(pairs, cursor)

    def _merge_result(
        self, tx: Tx, requester: Requester, person_id: PersonId, moved: dict[str, int]
    ) -> MergeResult:
        person = visible_person(tx, self._stores, requester, person_id)
        return MergeResult(load_card(tx, self._stores, requester, person), moved)

    def _record(
        self, tx: Tx, requester: Requester, event: str, merge: PersonMerge, moved: dict[str, int]
    ) -> None:
        payload = {
            "person_id": merge.primary_id,
            "secondary_id": merge.secondary_id,
            "moved": moved,
        }
        self._audit.record(tx, requester, event, payload=payload)
