"""Alerts for too many deletions and for too many reads of sensitive personal data. There is at most
one a window, written in the transaction of the event that crosses the threshold."""

from datetime import datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from recollect.audit.model import Event, EventKind
from recollect.audit.ports import AuditStores
from recollect.db.transaction import Tx
from recollect.kernel.retention_rules import AuditAlert, AuditRules

_COUNTED_MAX = 100_000


class Alerts:
    """Checks the thresholds after each event of a memory."""

    def __init__(self, stores: AuditStores, rules: AuditRules) -> None:
        self._stores = stores
        self._rules = rules

    def check_thresholds(self, tx: Tx, event: Event) -> None:
        """Write an alert if this event, which is stored already, crosses a threshold."""
        if event.event_type == "memory.delete":
            self._check_threshold(tx, event, "mass_deletion", self._rules.mass_deletion)
        elif event.event_type == "memory.read":
            alert = self._rules.pii_access_spike
            if alert.tags.intersection(event.params.get("pii_tags", ())):
                self._check_threshold(tx, event, "pii_access_spike", alert)

    def _check_threshold(self, tx: Tx, event: Event, action: str, alert: AuditAlert) -> None:
        # Every event counts the ones before it, so the usual case must be cheap: counting stops at
        # the threshold, and an alert that was written within the window ends the check. Only then
        # is the real number counted, for the alert's payload, up to a bound.
        #
        # Two transactions may cross the threshold at once, each without seeing the other's alert.
        # Both then compute the same id and `insert_once` keeps one.
        window = timedelta(minutes=alert.window_minutes)
        since = event.at - window
        if self._count_events(tx, event, alert, since, most=alert.count) < alert.count:
            return
        alerted = self._stores.event_reads.count(
            tx, kind=EventKind.ALERT, action=action, since=since, limit=1
        )
        if alerted:
            return
        count = self._count_events(tx, event, alert, since, most=_COUNTED_MAX)
        self._stores.events.insert_once(
            tx,
            Event(
                id=_alert_id(action, event.at, window),
                at=event.at,
                kind=EventKind.ALERT,
                action=action,
                params={"count": count, "window_minutes": alert.window_minutes},
            ),
        )

    def _count_events(
        self, tx: Tx, event: Event, alert: AuditAlert, since: datetime, *, most: int
    ) -> int:
        return self._stores.event_reads.count(
            tx,
            kind=event.kind,
            action=event.action,
            since=since,
            limit=most,
            tags=sorted(alert.tags),
        )


def _alert_id(action: str, at: datetime, window: timedelta) -> str:
    """The id of the alert for the fixed time slot that `at` falls into. Transactions that cross the
    threshold in the same slot get the same id."""
    return str(uuid5(NAMESPACE_OID, f"{action} {int(at.timestamp() // window.total_seconds())}"))
