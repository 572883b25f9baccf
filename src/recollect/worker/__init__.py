"""The worker that runs background jobs."""
