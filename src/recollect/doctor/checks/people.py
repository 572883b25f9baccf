"""Checks of people: merged ids lead to a person in one step, no duplicates, no orphans."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.audit.memory_recorder import MemoryAudit
from recollect.db.transaction import Tx
from recollect.doctor.checks.ids import IdCheck
from recollect.doctor.checks.order import DoctorOrder
from recollect.doctor.model import DoctorCheck
from recollect.doctor.store.bundle import DoctorStores
from recollect.kernel.ids import PersonId
from recollect.kernel.runtime import Runtime
from recollect.people.model import Person, is_auto_mergeable, plan_merge


@dataclass(frozen=True, slots=True)
class PeopleChecks:
    """Builds these checks; the private methods are their repairs. Duplicates are merged only if
    `people.auto_merge` is set, else they are reported."""

    stores: DoctorStores
    runtime: Runtime
    audit: MemoryAudit
    auto_merge: bool

    def id_checks(self) -> list[IdCheck]:
        """Merge chains come first: the other checks look at canonical people only."""
        return [
            IdCheck(DoctorCheck.MERGE_CHAINS, self._redirect_people),
            IdCheck(DoctorCheck.DUPLICATE_PEOPLE, self._merge_people if self.auto_merge else None),
            IdCheck(DoctorCheck.ORPHAN_PEOPLE, self._delete_people),
        ]

    def _redirect_people(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        people = [PersonId(id_) for id_ in ids]
        self.stores.people.lock(tx, people)
        led = [self.stores.doctor.redirect_person(tx, one, at=order.context.now) for one in people]
        return led.count(True)

    def _delete_people(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        for id_ in ids:
            self.stores.people.delete(tx, PersonId(id_))
            payload = {"person_id": id_, "reason": str(DoctorCheck.ORPHAN_PEOPLE)}
            self.audit.record(tx, order.requester, "person.delete", payload=payload)
        return len(ids)

    def _merge_people(self, tx: Tx, order: DoctorOrder, ids: Sequence[str]) -> int:
        """Merge each with the first namesake that `is_auto_mergeable` allows: same creator, name
        and orgs, no users. Others of the check, such as shared handles, are left to people."""
        merged = [self._merge_person(tx, order, PersonId(id_)) for id_ in ids]
        return merged.count(True)

    def _merge_person(self, tx: Tx, order: DoctorOrder, person_id: PersonId) -> bool:
        # Earlier merges of the batch may have changed who is there, so people are locked and read
        # again for each. `fetch_many` follows merges; nobody is merged with themself.
        alike = [PersonId(id_) for id_ in self.stores.doctor.namesakes(tx, person_id)]
        self.stores.people.lock(tx, [person_id, *alike])
        found = self.stores.people.fetch_many(tx, [person_id, *alike])
        person = found.get(person_id)
        if person is None:
            return False
        others = [one for id_ in alike if (one := found.get(id_)) is not None]
        first = next((one for one in others if is_auto_mergeable(one, person)), None)
        if first is not None:
            self._apply_merge(tx, order, first, person)
        return first is not None

    def _apply_merge(self, tx: Tx, order: DoctorOrder, first: Person, person: Person) -> None:
        merge = self.stores.merges.merge(
            tx,
            plan_merge(first, person),
            merge_id=self.runtime.ids.new(),
            by=order.author,
            at=order.context.now,
        )
        payload = {
            "person_id": merge.primary_id,
            "secondary_id": merge.secondary_id,
            "moved": merge.counts,
        }
        self.audit.record(tx, order.requester, "person.merge", payload=payload)
