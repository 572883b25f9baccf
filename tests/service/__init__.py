"""Use cases below the surfaces: what the background jobs do to stored rows."""
