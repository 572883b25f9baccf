"""The worker: claims, leases, back-off, and what is kept of a failure."""
