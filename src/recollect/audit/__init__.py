"""The audit log: events that are written with what they record, who may read them, alerts."""
