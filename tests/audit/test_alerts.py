"""Alerts: once in a window, at the bound, whoever crosses it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from recollect.audit.memory_recorder import MemoryAudit
from recollect.audit.model import EventFilter, EventKind
from recollect.db.transaction import Tx
from recollect.kernel.retention_rules import (
    AuditAlert,
    AuditRules,
    RetentionRules,
)
from tests.support.clock import TestClock
from tests.support.engines import TestDatabase
from tests.support.storage import WAIT_SECONDS, Storage, a_storage

RULES = AuditRules(
    mass_deletion=AuditAlert(5, window_minutes=60),
    pii_access_spike=AuditAlert(3, window_minutes=60, tags=frozenset({"ssn", "biometric"})),
)


class Desk:
    """Somebody who deletes and reads under a clock that stands still."""

    def __init__(self, storage: Storage, clock: TestClock) -> None:
        self.storage = storage
        self.clock = clock
        self.audit = MemoryAudit(replace(storage.context, rules=RetentionRules(audit=RULES)))

    def record(self, event_type: str, **payload: Any) -> Callable[[Tx], object]:
        return lambda tx: self.audit.record(tx, None, event_type, payload=payload)

    def deletes(self, count: int) -> None:
        for _ in range(count):
            self.storage.write(self.record("memory.delete"))

    def reads(self, *tags: str) -> None:
        self.storage.write(self.record("memory.read", pii_tags=list(tags)))

    def alerts(self, action: str) -> list[dict[str, Any]]:
        chosen = EventFilter(kind=EventKind.ALERT, action=action)
        found = self.storage.ask(self.storage.stores.events.page, chosen, after=None, limit=100)
        return [event.params for event in reversed(found)]


@pytest.fixture
def desk(new_database: Callable[[], TestDatabase]) -> Iterator[Desk]:
    clock = TestClock()
    with a_storage(new_database(), clock=clock) as storage, clock.hold():
        yield Desk(storage, clock)


def test_the_deletion_that_reaches_the_bound_raises_one_alert_in_a_window(desk: Desk) -> None:
    desk.deletes(4)
    assert desk.alerts("mass_deletion") == []
    desk.deletes(6)
    assert desk.alerts("mass_deletion") == [{"count": 5, "window_minutes": 60}]
    desk.clock.advance(minutes=61)
    desk.deletes(4)
    assert len(desk.alerts("mass_deletion")) == 1
    desk.deletes(1)
    assert len(desk.alerts("mass_deletion")) == 2


def test_deletions_further_apart_than_the_window_raise_none(desk: Desk) -> None:
    for _ in range(4):
        desk.deletes(2)
        desk.clock.advance(minutes=40)
    assert desk.alerts("mass_deletion") == []


def test_of_many_who_cross_the_bound_at_once_one_alert_is_written(desk: Desk) -> None:
    desk.deletes(4)
    writes = [
        desk.storage.begin(desk.storage.engine.write(desk.record("memory.delete")))
        for _ in range(40)
    ]
    for write in writes:
        write.result(WAIT_SECONDS)
    assert len(desk.alerts("mass_deletion")) == 1


def test_only_looks_at_the_named_kinds_of_data_count_as_a_spike(desk: Desk) -> None:
    for _ in range(5):
        desk.reads("email", "phone")
        desk.reads()
    desk.reads("ssn")
    desk.reads("biometric", "email")
    assert desk.alerts("pii_access_spike") == []
    desk.reads("email", "ssn")
    assert desk.alerts("pii_access_spike") == [{"count": 3, "window_minutes": 60}]
    desk.reads("ssn")
    assert len(desk.alerts("pii_access_spike")) == 1


def test_the_bounds_that_ship_are_those_of_the_contract() -> None:
    rules = AuditRules()
    assert (rules.mass_deletion.count, rules.mass_deletion.window_minutes) == (100, 60)
    spike = rules.pii_access_spike
    assert (spike.count, timedelta(minutes=spike.window_minutes)) == (10, timedelta(hours=1))
    assert spike.tags == {"ssn", "credit_card", "biometric"}
