"""Two people become one, and two again. Never by a name alone, unless the setting says so."""

from dataclasses import dataclass

from recollect.domain.disclosure import PersonId
from recollect.domain.pages import Page, decode_key, encode_key
from recollect.domain.people import MergePlan, Person, is_merged_unasked, normal_form, plan_merge
from recollect.errors import Conflict, Forbidden
from recollect.policy.decide import Decision
from recollect.policy.people import may_be_same, may_change, may_merge
from recollect.policy.requesters import Requester
from recollect.ports.database import Database, Tx
from recollect.ports.people import Merge
from recollect.ports.runtime import Runtime
from recollect.ports.stores import Stores
from recollect.services.memory_audit import MemoryAudit
from recollect.services.merge_counts import MergeCounts
from recollect.services.naming import person_view, visible_person
from recollect.services.person_cards import PersonCard, card, cards
from recollect.services.sights import Sights

_PAIRS = "people.duplicates"


@dataclass(frozen=True, slots=True)
class MergeWish:
    """Two people who shall be one. `link_users` says that their users are one human."""

    primary_id: PersonId
    secondary_id: PersonId
    dry_run: bool = False
    link_users: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The person that is left, and how many things of each kind moved, of those that the caller may
    see."""

    card: PersonCard
    moved: dict[str, int]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people who may be one, and by what they are alike: `name`, `handle` or `alias`."""

    people: tuple[PersonCard, PersonCard]
    reason: str


class _Rehearsed(Exception):
    """Ends a dry run: everything was done, and is taken back."""

    def __init__(self, outcome: Merged) -> None:
        super().__init__()
        self.outcome = outcome


class MergeService:
    """Merge and unmerge."""

    def __init__(
        self,
        database: Database,
        stores: Stores,
        runtime: Runtime,
        audit: MemoryAudit,
        *,
        sights: Sights,
    ) -> None:
        self._database = database
        self._stores = stores
        self._runtime = runtime
        self._audit = audit
        self._counts = MergeCounts(stores, sights)

    async def merge(self, requester: Requester, wish: MergeWish) -> Merged:
        """One transaction. A dry run is the same one, taken back at its end."""
        async with self._audit.watching(requester, "mergePeople"):
            try:
                return await self._database.write(lambda tx: self._merge(tx, requester, wish))
            except _Rehearsed as rehearsal:
                return rehearsal.outcome

    async def unmerge(
        self, requester: Requester, person_id: PersonId, secondary_id: PersonId
    ) -> Merged:
        """Give back what the merge of these two moved, as far as it is still there."""
        async with self._audit.watching(requester, "unmergePeople"):
            return await self._database.write(
                lambda tx: self._unmerge(tx, requester, person_id, secondary_id)
            )

    async def duplicates(
        self, requester: Requester, *, after: str | None, limit: int
    ) -> Page[Pair]:
        """Pairs of people whom the caller may change, alike by name, handle or alias."""
        return await self._database.scan(
            lambda tx: self._pairs(tx, requester, after=after, limit=limit)
        )

    def merge_unasked(self, tx: Tx, requester: Requester, person: Person) -> Person:
        """For `people.auto_merge`: the oldest person whom the rule takes for this one, with this
        one in it; else this one."""
        named = self._stores.people.namesakes(tx, requester, normal_form(person.name))
        found = self._stores.people.fetch_many(tx, [one for one, _ in named])
        alike = [one for one in found.values() if is_merged_unasked(one, person)]
        if not alike:
            return person
        oldest = min(alike, key=lambda one: (one.created_at, one.id))
        self._put_together(tx, requester, plan_merge(oldest, person))
        return oldest

    def _put_together(self, tx: Tx, requester: Requester, plan: MergePlan) -> dict[str, int]:
        """Carry out a permitted merge; what it moved."""
        merge_id, now = self._runtime.ids.new(), self._runtime.clock.now()
        merge = self._stores.merges.merge(tx, plan, merge_id=merge_id, by=requester.who, at=now)
        counts = self._counts.of(tx, requester, merge)
        self._record(tx, requester, "person.merge", merge, counts)
        return counts

    def _merge(self, tx: Tx, requester: Requester, wish: MergeWish) -> Merged:
        primary, secondary = self._held(tx, requester, wish)
        self._require_merge(tx, requester, wish, primary, secondary)
        plan = plan_merge(primary, secondary, link_users=wish.link_users, admin=requester.admin)
        self._require_same(tx, requester, primary, secondary)
        counts = self._put_together(tx, requester, plan)
        merged = self._outcome(tx, requester, primary.id, counts)
        if wish.dry_run:
            raise _Rehearsed(merged)
        return merged

    def _held(self, tx: Tx, requester: Requester, wish: MergeWish) -> tuple[Person, Person]:
        """Both, canonical and locked; a merge that came first is seen."""
        stores, asked = self._stores, (wish.primary_id, wish.secondary_id)
        found = [visible_person(tx, stores, requester, id_) for id_ in asked]
        stores.people.lock(tx, [one.id for one in found])
        primary, secondary = (visible_person(tx, stores, requester, id_) for id_ in asked)
        return primary, secondary

    def _require_merge(
        self, tx: Tx, requester: Requester, wish: MergeWish, primary: Person, secondary: Person
    ) -> None:
        """Nobody may change the people of two users, so who may change one of them, or is admin,
        is told that instead of being refused."""
        met = self._stores.people.meet(tx, requester, [primary.id, secondary.id])
        views = person_view(primary, met), person_view(secondary, met)
        told = requester.admin or any(may_change(requester.caller, v).allowed for v in views)
        if all(view.linked for view in views) and told:
            return
        _require(may_merge(requester.caller, *views, link_users=wish.link_users))

    def _require_same(
        self, tx: Tx, requester: Requester, primary: Person, secondary: Person
    ) -> None:
        """Not by one who made a person, waited for others to speak of them, and says: it is I."""
        views = person_view(primary, frozenset()), person_view(secondary, frozenset())
        unlinked = [one.id for one in (primary, secondary) if not one.user_ids]
        refer = len(unlinked) == 1 and self._stores.people.others_refer(tx, requester, *unlinked)
        if not may_be_same(requester.caller, *views, others_refer=refer).allowed:
            message = (
                "only an admin may say that a user is somebody of whom others spoke: "
                "send `link_users: true`"
            )
            raise Conflict(message, details={"reason": "has_memories"})

    def _unmerge(
        self, tx: Tx, requester: Requester, person_id: PersonId, secondary_id: PersonId
    ) -> Merged:
        primary = visible_person(tx, self._stores, requester, person_id)
        self._stores.people.lock(tx, [primary.id, secondary_id])
        secondary = visible_person(tx, self._stores, requester, secondary_id)
        met = self._stores.people.meet(tx, requester, [primary.id])
        _require(may_change(requester.caller, person_view(primary, met)))
        merge = self._stores.merges.standing(tx, secondary_id)
        if merge is None or secondary.id != primary.id:
            message = "secondary_id: was not merged into this person"
            raise Conflict(message, details={"reason": "wrong_state"})
        counts = self._counts.of(tx, requester, merge)
        self._stores.merges.undo(tx, merge, at=self._runtime.clock.now())
        self._record(tx, requester, "person.unmerge", merge, counts)
        return self._outcome(tx, requester, primary.id, counts)

    def _pairs(self, tx: Tx, requester: Requester, *, after: str | None, limit: int) -> Page[Pair]:
        place = None
        if after:
            one, _, other = decode_key(_PAIRS, after)[1].partition(" ")
            place = (one, other)
        found = self._stores.merges.likenesses(tx, requester, after=place, limit=limit + 1)
        shown = found[:limit]
        people = self._stores.people.fetch_many(
            tx, {id_ for pair in shown for id_ in (pair.one, pair.other)}
        )
        known = {
            each.person.id: each
            for each in cards(tx, self._stores, requester, list(people.values()))
        }
        pairs = [Pair((known[one.one], known[one.other]), one.reason) for one in shown]
        more = len(found) > limit
        return Page(pairs, _after(pairs[-1]) if more else None)

    def _outcome(
        self, tx: Tx, requester: Requester, person_id: PersonId, moved: dict[str, int]
    ) -> Merged:
        person = visible_person(tx, self._stores, requester, person_id)
        return Merged(card(tx, self._stores, requester, person), moved)

    def _record(
        self, tx: Tx, requester: Requester, event: str, merge: Merge, moved: dict[str, int]
    ) -> None:
        payload = {
            "person_id": merge.primary_id,
            "secondary_id": merge.secondary_id,
            "moved": moved,
        }
        self._audit.record(tx, requester, event, payload=payload)


def _after(pair: Pair) -> str:
    one, other = (each.person for each in pair.people)
    return encode_key(_PAIRS, one.created_at, f"{one.id} {other.id}")


def _require(decision: Decision) -> None:
    if not decision.allowed:
        raise Forbidden(f"not allowed: {decision.rule}", code="not_owner")
