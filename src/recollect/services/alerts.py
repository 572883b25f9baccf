"""Alerts: too many deletions, too many looks at the most personal data. One in a window, counted in
the transaction of what crosses the bound."""

from datetime import datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

from recollect.domain.events import Event, EventKind
from recollect.domain.retention import Alert, AuditRules
from recollect.ports.database import Tx
from recollect.ports.stores import Stores

_COUNTED_MAX = 100_000


class Alerts:
    """Looks at each event of a memory once it is written."""

    def __init__(self, stores: Stores, rules: AuditRules) -> None:
        self._stores = stores
        self._rules = rules

    def heed(self, tx: Tx, event: Event) -> None:
        """Write an alert if this event is the one too many."""
        if event.event_type == "memory.delete":
            self._heed(tx, event, "mass_deletion", self._rules.mass_deletion)
        elif event.event_type == "memory.read":
            alert = self._rules.pii_access_spike
            if alert.tags.intersection(event.params.get("pii_tags", ())):
                self._heed(tx, event, "pii_access_spike", alert)

    def _heed(self, tx: Tx, event: Event, action: str, alert: Alert) -> None:
        window = timedelta(minutes=alert.window_minutes)
        since = event.at - window
        if self._count(tx, event, alert, since, most=alert.count) < alert.count:
            return
        told = self._stores.event_reads.count(
            tx, kind=EventKind.ALERT, action=action, since=since, limit=1
        )
        if told:
            return
        count = self._count(tx, event, alert, since, most=_COUNTED_MAX)
        self._stores.events.insert_once(
            tx,
            Event(
                id=_id_of(action, event.at, window),
                at=event.at,
                kind=EventKind.ALERT,
                action=action,
                params={"count": count, "window_minutes": alert.window_minutes},
            ),
        )

    def _count(self, tx: Tx, event: Event, alert: Alert, since: datetime, *, most: int) -> int:
        return self._stores.event_reads.count(
            tx,
            kind=event.kind,
            action=event.action,
            since=since,
            limit=most,
            tags=sorted(alert.tags),
        )


def _id_of(action: str, at: datetime, window: timedelta) -> str:
    """Those who cross the bound at the same time write one and the same event."""
    return str(uuid5(NAMESPACE_OID, f"{action} {int(at.timestamp() // window.total_seconds())}"))
