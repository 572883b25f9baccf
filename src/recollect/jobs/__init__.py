"""Background jobs: rows written in the transaction that caused them, claimed under a lease."""
