"""The audit log: events in the transaction of what they record, their readers, and alerts."""
